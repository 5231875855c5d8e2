"""Ctrl-C: an interrupted fit leaves a usable model, which can be gone on with, and ends what it is part of."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostRegressor, SymmetricTree, boost
from rffboost_ext.boosting.plan import Interrupted
from rffboost_ext.learners import RFFNewton

from .interrupted_cases import LABELS, ROUNDS, STOPPED, X, Y, bits


class Ctrl_C:
    """A user who loses patience in a given round of a fit, however many models it makes."""

    def __init__(self, moment: int) -> None:
        self.moment, self.seen = moment, 0

    def __call__(self, progress) -> None:
        self.seen += 1
        if self.seen == self.moment:
            raise KeyboardInterrupt


@pytest.mark.parametrize("learner", ["mixture", "tree", "rff_1"])
def test_an_interrupted_fit_has_the_rounds_that_were_done(learner):
    params = {"learner": learner, "random_state": 0} | ROUNDS
    model = RFFBoostRegressor(callbacks=[Ctrl_C(7)], **params)
    with pytest.raises(KeyboardInterrupt, match=r"interrupted: the model has the 7 rounds that were done$"):
        model.fit(X, Y)
    shorter = RFFBoostRegressor(**(params | {"n_estimators": 7})).fit(X, Y)
    assert bits(model) == bits(shorter)


@pytest.mark.parametrize(("quality", "moment"), [("fast", 3), ("fast", 14), ("fast", 30), ("auto", 12)])
def test_interrupted_folds_are_averaged(moment, quality):
    params = {"n_folds": 2, "random_state": 0, "quality": quality} | STOPPED | {"n_iter_no_change": 100}
    model = RFFBoostClassifier(callbacks=[Ctrl_C(moment)], **params)
    if quality == "fast" and moment > 24:
        model.fit(X, LABELS)
    else:
        with pytest.raises(KeyboardInterrupt, match="interrupted"):
            model.fit(X, LABELS)
    assert model.score(X, LABELS) > 0.5
    assert np.isfinite(model.validation_scores_).all()


def test_an_interrupted_refit_falls_behind_the_model_that_is_done(monkeypatch):
    params = {"n_folds": 1, "refit": False, "learner": "rff_newton", "random_state": 0} | STOPPED
    without = RFFBoostRegressor(**params).fit(X, Y)
    rounds, plain = [0], RFFNewton.fit

    def interrupting(*args):
        rounds[0] += 1
        if rounds[0] == len(without.validation_scores_) - 1 + 3:
            raise KeyboardInterrupt
        return plain(*args)

    monkeypatch.setattr(RFFNewton, "fit", interrupting)
    model = RFFBoostRegressor(**(params | {"refit": True}))
    with pytest.raises(KeyboardInterrupt, match="interrupted"):
        model.fit(X, Y)
    assert bits(model) == bits(without)


def test_a_warm_start_after_an_interrupt():
    params = {"learner": "rff_newton", "random_state": 0, "warm_start": True} | ROUNDS
    model = RFFBoostRegressor(callbacks=[Ctrl_C(7)], **params)
    with pytest.raises(KeyboardInterrupt, match="7 rounds"):
        model.fit(X, Y)
    model.set_params(callbacks=None).fit(X, Y)
    whole = RFFBoostRegressor(**params).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), whole.predict(X), atol=1e-4)


def test_nothing_done_is_no_model(monkeypatch):
    def interrupting(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(RFFNewton, "fit", interrupting)
    monkeypatch.setattr(SymmetricTree, "fit", interrupting)
    for params in (ROUNDS, STOPPED):
        model = RFFBoostRegressor(**params)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, Y)
        assert not hasattr(model, "ensemble_")


class Counted(Ctrl_C):
    """The same, also where each model gets a copy of its own."""

    def __deepcopy__(self, memo):
        return self


def test_an_interrupt_ends_the_fit_of_an_estimator_around_a_booster():
    stop = Counted(7)
    model = ConformalRegressor(estimator=RFFBoostRegressor(callbacks=[stop], random_state=0, **ROUNDS))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert stop.seen == stop.moment
    assert not hasattr(model, "n_features_in_")


def test_the_loop_by_itself_hands_the_rounds_over():
    given = {"loss": "squared_error", "learner": "rff_1", "random_state": 0}
    with pytest.raises(KeyboardInterrupt) as caught:
        boost(X, Y[:, None], callbacks=[Ctrl_C(4)], **given)
    assert isinstance(caught.value, Interrupted)
    expected = boost(X, Y[:, None], n_estimators=4, **given)
    np.testing.assert_array_equal(caught.value.ensemble.raw(X), expected.raw(X))


def test_a_pickled_interrupt_is_the_same():
    fitted = boost(X, Y[:, None], loss="squared_error", learner="rff_1", n_estimators=3, random_state=0)
    back = pickle.loads(pickle.dumps(Interrupted(fitted)))
    assert str(back) == str(Interrupted(fitted))
    assert len(back.ensemble) == 3
