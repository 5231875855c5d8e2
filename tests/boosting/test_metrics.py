"""What may be a metric, and what becomes of one that is wrong or careless."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import f1_score, make_scorer, mean_absolute_error

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

BINARY = load_breast_cancer(return_X_y=True)
PLAIN = {"learner": "rff_newton", "n_estimators": 6, "early_stopping": False, "random_state": 0}


def test_a_loss_of_one_target_is_no_metric_of_several():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(40.0).reshape(20, 2) % 7.0
    model = RFFBoostRegressor(eval_metric="absolute_error", n_estimators=2, learner="tree", early_stopping=False)
    with pytest.raises(ValueError, match="eval_metric: y must have one column for loss"):
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


@pytest.mark.filterwarnings("ignore:Only one class is present")
def test_a_metric_that_lacks_a_class_is_told_of_it():
    X, y = BINARY
    rare = np.where(np.arange(len(y)) == 3, "yes", "no")
    for given in ({}, {"eval_set": [(X[9:], rare[9:])]}):
        model = RFFBoostClassifier(learner="tree", eval_metric="roc_auc", n_estimators=3, early_stopping=True)
        with pytest.raises(
            ValueError, match=r"eval_metric: 'roc_auc' must be a number .*, got nan; .* rows is of class \['yes'\]"
        ):
            model.fit(X, rare, **given)


def test_a_part_of_a_score_is_a_score():
    X, y = BINARY
    ours = partial(partial(f1_or_nothing_score, threshold=0.5))
    model = RFFBoostClassifier(eval_metric=ours, **PLAIN).fit(X, y, eval_set=[(X, y)])
    assert list(model.evals_result_["validation_0"]) == ["f1_or_nothing_score"]
    stopped = RFFBoostClassifier(eval_metric=ours, **PLAIN | {"early_stopping": True}).fit(X, y)
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

    given = {"learner": learner, "n_estimators": 20, "random_state": 0, "early_stopping": True}
    fits = [
        RFFBoostRegressor(eval_metric=metric, **given).fit(X[:80], y[:80], eval_set=[(X[80:], y[80:])])
        for metric in (plain, in_place)
    ]
    np.testing.assert_array_equal(fits[0].predict(X), fits[1].predict(X))
    np.testing.assert_array_equal(*(fit.validation_scores_ for fit in fits))


def weighted_mean_error(y, pred, sample_weight):
    return float(np.average(np.abs(y - pred), weights=sample_weight))


def weight_by_name(y, pred, *, sample_weight):
    return weighted_mean_error(y, pred, sample_weight)


@pytest.mark.parametrize("metric", [weighted_mean_error, weight_by_name])
@pytest.mark.parametrize("weights", [False, True])
def test_a_metric_that_needs_weights_is_always_handed_them(metric, weights):
    rng = np.random.default_rng(0)
    X, weight = rng.standard_normal((60, 3)), rng.uniform(0.1, 3.0, 60)
    y = X[:, 0] ** 2
    held = (X, y, weight) if weights else (X, y)
    model = RFFBoostRegressor(eval_metric=metric, **PLAIN).fit(X, y, eval_set=[held])
    ((_, curve),) = model.evals_result_["validation_0"].items()
    wanted = mean_absolute_error(y, model.predict(X), sample_weight=weight if weights else None)
    assert curve[-1] == pytest.approx(wanted)
    # Less of it is better.
    stopped = RFFBoostRegressor(eval_metric=metric, **(PLAIN | {"early_stopping": True})).fit(
        X + 1.0, y, eval_set=[held]
    )
    curve = stopped.evals_result_["validation_0"][metric.__name__]
    assert stopped.validation_scores_[1 : len(curve) + 1] == pytest.approx(curve)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("needed", [True, False], ids=["needed", "optional"])
def test_scorers_get_weights_if_their_function_takes_them(needed: bool, weighted: bool) -> None:
    seen: list[object] = []

    def always(y, prediction, sample_weight) -> float:
        seen.append(sample_weight)
        return 1.0

    def if_any(y, prediction, sample_weight=None) -> float:
        return always(y, prediction, sample_weight)

    X, y = load_diabetes(return_X_y=True)
    weight = np.linspace(0.5, 1.5, 100) if weighted else np.ones(100)
    model = RFFBoostRegressor(
        learner="rff_1", n_estimators=2, eval_metric=make_scorer(always if needed else if_any)
    )
    model.fit(X[100:200], y[100:200], eval_set=[(X[:100], y[:100], weight)])
    assert seen
    for found in seen:
        np.testing.assert_array_equal(found, weight if needed or weighted else None)
