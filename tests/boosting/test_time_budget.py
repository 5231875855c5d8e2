"""A budget of time ends a whole fit, whatever it trains, with a model that is complete in itself."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from rffboost_ext import ConformalRegressor, RFFBoostRegressor, TimeBudget, boost

from ..estimators.test_every_estimator import BOOSTERS, N, X
from .interrupted_cases import bits

FEW = {"n_estimators": 4, "early_stopping": True, "learner": "auto", "tol": 0.0}
PLANS = {
    "a stack over folds": FEW,
    "a stack and its refit": FEW | {"n_folds": 1},
    "a stack of refitted folds": FEW | {"n_folds": 3, "refit": True},
    "a replay": FEW | {"learner": "symmetric_tree", "n_folds": 1, "refit": True},
    "all rounds": FEW | {"early_stopping": False},
}


class Clock:
    """A clock on which each round takes a second, of models and refits alike."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr("rffboost_ext.boosting.callbacks.monotonic", lambda: self.now)

    def __deepcopy__(self, memo):
        return self

    def __call__(self, progress):
        self.now += 1.0

    def ends_fit(self):
        return False


def predictions(model):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else np.asarray(model.predict(X), dtype=float)


def check_is_complete(model):
    assert np.isfinite(predictions(model)).all()
    assert len(model.ensemble_) == sum(map(sum, model._n_rounds)) > 0
    if hasattr(model, "learner_weights_"):
        np.testing.assert_allclose(model.learner_weights_.sum(axis=0), 1.0)
        assert len(model.learners_) == len(model.learner_weights_) == len(model._n_rounds)
        assert max(map(len, model._n_rounds)) <= model.n_folds_
    np.testing.assert_array_equal(predictions(pickle.loads(pickle.dumps(model))), predictions(model))


@pytest.mark.parametrize(
    ("kind", "plan"), [*(("counts", plan) for plan in PLANS), ("several labels", next(iter(PLANS)))]
)
def test_a_fit_ends_with_the_round_in_which_its_time_is_over(kind, plan, monkeypatch):
    clock, kind = Clock(monkeypatch), BOOSTERS[kind]
    plain = kind.fitted(**PLANS[plan])
    ample = kind.fitted(**PLANS[plan], callbacks=[clock, TimeBudget(1e6)])
    assert bits(ample) == bits(plain)
    n_rounds = int(clock.now)
    for budget in (n_rounds // 2, n_rounds - 1):
        clock.now = 0.0
        model = kind.fitted(**PLANS[plan], callbacks=[clock, TimeBudget(budget)])
        assert clock.now == budget
        check_is_complete(model)


@pytest.mark.parametrize("kind", BOOSTERS.values(), ids=BOOSTERS)
def test_every_estimator_keeps_to_the_time(kind, monkeypatch):
    clock = Clock(monkeypatch)
    model = kind.fitted(**FEW, callbacks=[clock, TimeBudget(7)])
    assert clock.now == 7.0
    check_is_complete(model)
    # The time begins anew with each fit.
    kind.fit(model)
    assert clock.now == 14.0


def test_rows_of_an_evaluation_set_weight_what_is_trained(monkeypatch):
    clock, kind = Clock(monkeypatch), BOOSTERS["labels"]
    half = slice(None, N // 2)
    given = {"eval_set": (X[half], kind.y[half])}
    model = kind.made(**FEW, callbacks=[clock, TimeBudget(6)]).fit(X[N // 2 :], kind.y[N // 2 :], **given)
    assert clock.now == 6.0
    assert 1 <= len(model.learners_) <= 2
    check_is_complete(model)


def test_a_cut_average_has_the_folds_that_are_complete(monkeypatch):
    clock, kind = Clock(monkeypatch), BOOSTERS["counts"]
    params = FEW | {"learner": "rff_newton", "n_folds": 3, "refit": False}
    for budget, n_folds in ((3, 1), (6, 1), (9, 2), (11, 2)):
        model = kind.fitted(**params, callbacks=[clock, TimeBudget(budget)])
        assert len(model._n_rounds[0]) == model.n_folds_ == n_folds


def test_the_booster_of_a_wrapper_keeps_to_the_time(monkeypatch):
    clock = Clock(monkeypatch)
    booster = RFFBoostRegressor(n_estimators=5, early_stopping=False, callbacks=[clock, TimeBudget(3)])
    ConformalRegressor(booster, random_state=0).fit(X, X[:, 0])
    assert clock.now == 3.0


def test_the_loop_by_itself_counts_from_the_budget(monkeypatch):
    clock = Clock(monkeypatch)
    given = {"loss": "squared_error", "learner": "rff_1", "callbacks": [clock, TimeBudget(3)]}
    assert len(boost(X, X[:, :1], **given)) == 3


@pytest.mark.parametrize("seconds", [0.0, -1.0, "60", None, float("nan")])
def test_the_time_is_a_positive_number(seconds):
    with pytest.raises((TypeError, ValueError), match="TimeBudget: seconds"):
        TimeBudget(seconds)
