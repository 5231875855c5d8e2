"""A constant that is added to a loss changes nothing, however large it is."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import LOSSES, RFFIRLS, CoupledLoss, Observations, RFFBoostClassifier, RFFBoostRegressor, boost
from rffboost_ext.boosting.early_stopping.monitor import EarlyStopping, MeanLoss, least_error
from rffboost_ext.boosting.early_stopping.patience import Patience
from rffboost_ext.losses import LogLoss, SquaredError
from rffboost_ext.losses.wrapper import LossWrapper
from rffboost_ext.rows.dataset import Dataset

from ..cases import LOSS_CASES, LOSS_NAMED, OBSERVED, OWN_COLUMNS, real
from ..interop.target_cases import Gaussian

# Multiples of the loss of the baseline: of a constant, and of one by row.
CONSTANTS = [(1e3, 300.0), (-30.0, 0.0)]


class Plus(LossWrapper):
    """A loss plus a constant, and one of each row that depends on its target."""

    def __init__(self, loss, constant=0.0, of_row=0.0):
        self.loss, self.constant, self.of_row = loss, constant, of_row

    def value(self, y, raw):
        return self.loss.value(y, raw) + self.added(y)

    def added(self, y):
        target = np.where(np.isfinite(y[:, 0]), y[:, 0], 0.0)
        return self.constant + self.of_row * np.sin(3.0 * target)


def plus(loss, *added):
    """A loss plus a constant, of the class of the loss if its rows are coupled."""
    if not isinstance(loss, CoupledLoss):
        return Plus(loss, *added)
    part = Plus(LogLoss(), *added)

    def value(self, y, raw, weight):
        return type(loss).value(self, y, raw, weight) + part.added(y)

    return type("Plus", (type(loss),), {"value": value})(**loss.get_params())


def first_loss(loss, y):
    """The mean loss of the baseline."""
    prepared, weight = loss.prepared(y, np.ones(len(y))), np.ones(len(y))
    raw = np.tile(prepared.baseline(y, weight), (len(y), 1))
    return float(np.mean(Observations(y, weight).losses(prepared, raw)))


CHOSEN = [*LOSSES.names(), "log_loss of 3 classes"]
CASES = {case.name: (case.make, case.targets) for case in [*LOSS_CASES, *OWN_COLUMNS] if case.name in CHOSEN}
# It has no lower bound.
CASES["normal likelihood"] = (Gaussian, real)
FITS = [(name, {"learner": "tree", "n_folds": 2}) for name in CASES] + [
    ("squared_error", {}),
    ("log_loss", {"eval_metric": LOSS_NAMED["log_loss"].make()}),
]


@pytest.mark.parametrize(("name", "params"), FITS, ids=str)
def test_rounds_members_and_scores_are_the_same(name, params):
    make, targets = CASES[name]
    rng, loss = np.random.default_rng(0), make()
    X = rng.normal(size=(80, 3))
    y = OBSERVED[targets](np.sin(2.0 * X[:, 0]) + X[:, 1]) if targets in OBSERVED else targets(rng, 80)
    shell = RFFBoostClassifier if loss.task == "classification" else RFFBoostRegressor
    plain = shell(loss=loss, random_state=0, n_estimators=20, **params).fit(X, y)
    size = first_loss(loss, y.reshape(80, -1).astype(float))
    wrapped = plus(loss, *(size * part for part in CONSTANTS[0]))
    model = shell(loss=wrapped, random_state=0, n_estimators=20, **params).fit(X, y)
    assert model.n_estimators_ == plain.n_estimators_
    assert [type(one) for one in model.learners_] == [type(one) for one in plain.learners_]
    np.testing.assert_allclose(model.raw_scores(X), plain.raw_scores(X), rtol=0, atol=1e-6)


def test_a_classifier_converges_and_adds_members_alike():
    """Where the loss becomes small, fits end early and kernel logistic regression is a further member."""
    X = np.random.default_rng(0).normal(size=(90, 2))
    y = X[:, 0] + 0.3 * X[:, 1] ** 2 > 0.5
    plain, other = (
        RFFBoostClassifier(loss=Plus(LogLoss(), *added), random_state=0).fit(X, y)
        for added in [(0.0,), CONSTANTS[0]]
    )
    assert RFFIRLS in [type(one) for one in plain.learners_]
    assert other.n_estimators_ == plain.n_estimators_
    np.testing.assert_allclose(other.predict_proba(X), plain.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("case", [case for case in LOSS_CASES if case.make().task == "classification"], ids=str)
def test_the_least_loss_of_a_classification_is_found(case):
    """The least loss is 0 for the losses of the package."""
    rng = np.random.default_rng(0)
    rows = Observations(case.targets(rng, 90), rng.uniform(0.5, 2.0, 90))
    loss = case.prepared(rows.y, rows.weight)
    raw = np.tile(loss.baseline(rows.y, rows.weight), (90, 1))
    first = MeanLoss(loss)(rows, raw)
    assert least_error(MeanLoss(loss), rows, raw) == 0.0
    for constant in (0.0, 7.0):
        found = least_error(MeanLoss(Plus(loss, constant)), rows, raw)
        assert found == pytest.approx(constant, rel=1e-9, abs=1e-6 * first)


def test_the_callback_of_a_loop_of_ones_own_ends_it_at_the_same_round():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.sin(2.0 * X[:, :1]) + 0.5 * rng.normal(size=(80, 1))

    def rounds(added):
        loss, start = Plus(SquaredError(), *added), np.zeros((40, 1))
        watch = EarlyStopping(Dataset(X[40:], y[40:], np.ones(40)), MeanLoss(loss), start, Patience(8), 1e-3)
        params = {"loss": loss, "learner": "tree", "n_estimators": 200, "random_state": 0}
        return len(boost(X[:40], y[:40], callbacks=[watch], **params)), watch.best_round_

    assert 8 < rounds((0.0, 0.0))[0] < 200
    assert {rounds((0.0, 0.0)), *map(rounds, CONSTANTS)} == {rounds((0.0, 0.0))}
