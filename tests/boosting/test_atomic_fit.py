"""A fit that fails leaves nothing behind, and a model that was there as it was."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from rffboost_ext import RFF1, ConformalRegressor, RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor
from rffboost_ext.losses import LogLoss

X = np.random.default_rng(0).standard_normal((30, 3))
Y = (X[:, 0] > 0).astype(int)
TREE = {"learner": "tree", "n_estimators": 2}


def test_nothing_is_left_behind_by_a_failed_fit():
    clf = RFFBoostClassifier(LogLoss(), n_estimators=2)
    with pytest.raises(ValueError, match="2 classes"):
        clf.fit(X, np.zeros(30))
    for method in ("predict", "predict_proba", "decision_function", "gradient"):
        with pytest.raises(NotFittedError):
            getattr(clf, method)(X)


@pytest.mark.parametrize(
    ("model", "wrong"),
    [
        (RFFBoostClassifier(**TREE), {"y": np.zeros(30)}),
        (RFFBoostClassifier(**TREE), {"y": Y, "eval_set": 3}),
        (RFFBoostRegressor(**TREE), {"y": Y, "init_model": 3}),
        (RFFBoostQuantileRegressor([0.5], **TREE), {"y": Y, "sample_weight": [1.0]}),
        (ConformalRegressor(RFFBoostRegressor(**TREE)), {"y": np.where(Y, "a", "b")}),
    ],
)
def test_a_failed_fit_leaves_the_model_of_the_one_before(model, wrong):
    model = clone(model).fit(X, Y)
    before, found = vars(model).copy(), model.predict(X)
    with pytest.raises((TypeError, ValueError)):
        model.fit(X[:, :2], **wrong)
    assert vars(model) == before
    np.testing.assert_array_equal(model.predict(X), found)


def test_an_interrupt_before_the_first_round_leaves_the_model_of_the_fit_before():
    class Interrupting(RFF1):
        def fit(self, round):
            raise KeyboardInterrupt

    model = RFFBoostRegressor(learner=RFF1(), n_estimators=2).fit(X, X[:, 0])
    found = model.set_params(learner=Interrupting(), early_stopping=False).predict(X)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X[:, :2], X[:, 0])
    np.testing.assert_array_equal(model.predict(X), found)
