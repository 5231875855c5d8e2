"""What may be a metric, and what becomes of one that is wrong or careless."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import f1_score, mean_absolute_error

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

BINARY = load_breast_cancer(return_X_y=True)
PLAIN = {"learner": "rff_newton", "n_estimators": 6, "early_stopping": False, "random_state": 0}


def test_a_loss_of_one_target_is_no_metric_of_several():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(40.0).reshape(20, 2) % 7.0
    model = RFFBoostRegressor(eval_metric="absolute_error", n_estimators=2, learner="tree", early_stopping=False)
    with pytest.raises(ValueError, match="eval_metric: loss 'absolute_error' is of one target, and y has 2"):
        model.fit(X, y, eval_set=[(X, y)])
    model.set_params(eval_metric="neg_mean_absolute_error").fit(X, y, eval_set=[(X, y)])
    ((_, curve),) = model.evals_result_["validation_0"].items()
    assert curve[-1] == pytest.approx(-mean_absolute_error(y, model.predict(X)))


def test_a_metric_that_becomes_nan_is_named():
    X, y = BINARY
    seen = []

    def odd(y, prediction):
        seen.append(0)
        return np.nan if len(seen) == 5 else 1.0

    with pytest.raises(ValueError, match=r"eval_metric must be a number on .* rows, got nan after round"):
        RFFBoostClassifier(learner="rff_newton", eval_metric=odd, n_folds=1, random_state=0).fit(X, y)


def test_a_part_of_a_score_is_a_score():
    X, y = BINARY
    ours = partial(partial(f1_or_nothing_score, threshold=0.5))
    model = RFFBoostClassifier(eval_metric=ours, **PLAIN).fit(X, y, eval_set=[(X, y)])
    assert list(model.evals_result_["validation_0"]) == ["f1_or_nothing_score"]
    stopped = RFFBoostClassifier(learner="rff_newton", eval_metric=ours, n_folds=1, random_state=0).fit(X, y)
    # Scores are watched with the sign by which less is better.
    assert stopped.validation_scores_.min() < stopped.validation_scores_[0] <= 0.0


def f1_or_nothing_score(y, prediction, threshold):
    return f1_score(y, prediction > threshold)


@pytest.mark.parametrize("learner", ["rff_newton", "mixture"])
def test_a_metric_may_work_in_place(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    y = np.sin(2.0 * X[:, 0]) + 0.2 * rng.standard_normal(120)

    def plain(y, prediction):
        return float(np.mean((prediction - y) ** 2))

    def in_place(y, prediction):
        prediction -= y
        y *= 0.0
        return float(np.mean(prediction**2))

    given = {"learner": learner, "random_state": 0, "early_stopping": True}
    fits = [
        RFFBoostRegressor(eval_metric=metric, **given).fit(X[:80], y[:80], eval_set=[(X[80:], y[80:])])
        for metric in (plain, in_place)
    ]
    np.testing.assert_array_equal(fits[0].predict(X), fits[1].predict(X))
    np.testing.assert_array_equal(*(fit.validation_scores_ for fit in fits))
