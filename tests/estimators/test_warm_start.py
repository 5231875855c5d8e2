"""Rounds of the estimators: stages are shorter fits, and a warm start goes on."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import Cosines, Learner, RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.losses import SquaredError

from ..cases import LOSS_CASES, each_learner, make_data, make_estimator, pairs

BINARY = LOSS_CASES[0]
RNG = np.random.default_rng(0)


@pairs
def test_stages_are_shorter_fits(loss, learner):
    X, y = make_data(loss)
    model = make_estimator(loss, learner).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == model.n_estimators_ == len(model.ensemble_) == 5
    raws = list(model.ensemble_.staged(X))
    for t in (1, 3):
        shorter = make_estimator(loss, learner, n_estimators=t).fit(X, y)
        np.testing.assert_allclose(raws[t], shorter.ensemble_.raw(X), rtol=0, atol=1e-12)
    if loss.make().task == "regression":
        np.testing.assert_allclose(stages[-1], model.predict(X), rtol=0, atol=1e-12)
        return
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    probability, decision = list(model.staged_predict_proba(X)), list(model.staged_decision_function(X))
    assert len(probability) == len(decision) == 5
    np.testing.assert_allclose(probability[-1], model.predict_proba(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(decision[-1], model.decision_function(X), rtol=0, atol=1e-12)


@each_learner
def test_warm_start_goes_on(loss, learner):
    X, y = make_data(loss)
    model = make_estimator(loss, learner, n_estimators=10, warm_start=True).fit(X, y)
    first = model.ensemble_
    model.set_params(n_estimators=20).fit(X, y)
    straight = make_estimator(loss, learner, n_estimators=20).fit(X, y)
    assert len(model.ensemble_) == 20
    assert model.ensemble_.terms[:10] == first.terms
    # XGBoost's margins are float32 sums, which begin at 0 in the second fit.
    np.testing.assert_allclose(model.ensemble_.raw(X), straight.ensemble_.raw(X), rtol=0, atol=learner.drift)


@each_learner
def test_warm_start_on_other_rows(loss, learner):
    X, y = make_data(loss, n=90)
    model = make_estimator(loss, learner, warm_start=True).fit(X[:60], y[:60])
    first = model.ensemble_
    model.set_params(n_estimators=6).fit(X[30:], y[30:])
    direct = model.ensemble_.truncated(5)
    np.testing.assert_array_equal(direct.raw(X), first.raw(X))
    assert len(model.ensemble_) == 6


def test_warm_start_after_other_fits():
    # Neither early stopping nor a fit from scratch may leave scores behind that no longer hold.
    X, y = make_data(BINARY, n=100)
    model = RFFBoostClassifier(n_estimators=5, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_estimators=8, early_stopping=True).fit(X, y)
    before = model.ensemble_
    seen = []
    model.set_params(n_estimators=9, early_stopping=False, callbacks=[seen.append]).fit(X, y)
    np.testing.assert_allclose(seen[0].round.raw, before.raw(X), rtol=0, atol=1e-10)


@pytest.mark.parametrize(("before", "after"), [(1, 2), (2, 1), (2, 3)])
def test_warm_start_needs_as_many_targets(before, after):
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = RFFBoostRegressor(n_estimators=3, early_stopping=False, warm_start=True)
    model.fit(X, np.squeeze(X[:, :before]))
    with pytest.raises(ValueError, match=f"y must have the {before} raw scores of the prev.* got {after}"):
        model.fit(X, np.squeeze(X[:, :after]))


def test_losses_whose_arrays_are_shown_alike_are_told_apart():
    X, y = RNG.standard_normal((40, 3)), RNG.standard_normal((40, 12))
    one, other = (SquaredError(output_weights=np.where(np.arange(12) == 6, w, 1.0)) for w in (2.0, 3.0))
    assert repr(one) == repr(other)
    assert repr(one).startswith("SquaredError(output_weights=array([1., 1., ..., 1., 1.]")
    model = RFFBoostRegressor(one, "tree", n_estimators=2, early_stopping=False, warm_start=True).fit(X, y)
    model.set_params(n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match=r"loss must be that of the previous fit, SquaredError\(.*\.\.\., "):
        model.set_params(n_estimators=4, loss=other).fit(X, y)


def test_warm_start_needs_room_for_more_rounds():
    # All rounds of the models that early stopping averages count, so that the same number again may be too few.
    X, y = make_data(BINARY, n=100)
    params = {"early_stopping": True, "n_folds": 3, "refit": False, "warm_start": True, "random_state": 0}
    model = RFFBoostClassifier(learner="tree", n_estimators=5, n_iter_no_change=5, **params).fit(X, y)
    rounds = len(model.ensemble_)
    assert rounds > 5
    with pytest.raises(ValueError, match=f"n_estimators must be at least the {rounds} rounds .* got 5"):
        model.fit(X, y)
    assert len(model.set_params(n_estimators=None).fit(X, y).ensemble_) >= rounds


def test_what_is_done_to_a_stage_does_not_reach_the_next_one():
    X, y = make_data(BINARY)
    model = RFFBoostClassifier(learner="rff_1", n_estimators=5, random_state=0).fit(X, y)
    stages = [stage.copy() for stage in model.staged_decision_function(X)]
    for stage, expected in zip(model.staged_decision_function(X), stages, strict=True):
        np.testing.assert_array_equal(stage, expected)
        stage *= 2.0


class Tally(Learner):
    """Keeps what it has seen across fits, and fails in a round of its own choice."""

    step = "unit"

    def __init__(self, fails=None):
        self.fails = fails

    def fit(self, round):
        tally = round.design.learner_state(Tally, list)
        tally.append(round.index)
        if round.index == self.fails:
            raise RuntimeError("on purpose")
        return Cosines(np.ones((1, 2)), np.zeros(1), np.full((1, 1), 0.1))


def test_a_warm_start_that_fails_leaves_what_learners_keep():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    model = RFFBoostRegressor(learner=Tally(), n_estimators=2, warm_start=True, early_stopping=False).fit(X, y)
    with pytest.raises(RuntimeError, match="on purpose"):
        model.set_params(learner=Tally(fails=3), n_estimators=4).fit(X, y)
    assert model._start.learner_state[Tally] == [0, 1]
    model.set_params(learner=Tally(), n_estimators=4).fit(X, y)
    assert model._start.learner_state[Tally] == [0, 1, 2, 3]
