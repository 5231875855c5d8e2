"""Our losses in the native loops of both hosts, checked as in the boosting loop."""

from __future__ import annotations

import sys
from importlib import import_module

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from rffboost_ext import Loss, RFFBoostRegressor, boost
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import IdentityLink, LogLoss, SquaredError

from .interop_cases import (
    BINARY,
    CASES,
    CLASSES,
    HOSTS,
    SIGNAL,
    TWO,
    WEIGHT,
    X,
    hosts,
    mean_value,
)


@hosts
@pytest.mark.parametrize("case", CASES[::4], ids=str)
def test_a_training_starts_from_the_baseline_and_shows_the_loss(host, case):
    y, (loss, wanted) = case.y, case.fitted(WEIGHT.astype(np.float32).astype(float))
    model, curve = host.bound(host.matrix(X, y, WEIGHT), case.loss, 8)
    np.testing.assert_allclose(model.ensemble_.baseline, wanted, rtol=1e-5)
    # XGBoost returns what it would print, six decimals.
    assert curve[-1] == pytest.approx(mean_value(loss, y, model.ensemble_.raw(X), WEIGHT), rel=1e-3, abs=1e-6)
    assert curve[-1] < curve[0]


@pytest.mark.parametrize(("host", "start"), list(zip(HOSTS, ["0.5", "0"], strict=True)), ids=str)
def test_a_training_without_intercept_warns(host, start):
    matrix = host.matrix(X, SIGNAL + 100.0)
    with pytest.warns(UserWarning, match=f"starts from {start}"):
        host.train(matrix, host.ours.objective("squared_error"), 1)


@hosts
def test_labels_that_do_not_suit_are_named(host):
    with pytest.raises(ValueError, match="at least 0"):
        host.estimator("poisson").fit(X, SIGNAL)
    with pytest.raises(ValueError, match="at least 0"):
        host.train(host.matrix(X, SIGNAL), host.ours.objective("poisson"), 1)
    with pytest.raises(ValueError, match=r"one column for loss .*, got 2"):
        host.estimator("huber").fit(X, TWO)
    with pytest.raises(ValueError, match="set num_class"):
        host.train(host.matrix(X, CLASSES), host.ours.objective("log_loss"), 1)


def test_an_objective_uses_the_labels_of_the_moment():
    matrix, objective = xgb.DMatrix(X, SIGNAL), rxgb.objective("huber")
    scores = np.zeros(len(X), dtype=np.float32)
    before = objective(scores, matrix)[0]
    matrix.set_label(10.0 * SIGNAL)
    np.testing.assert_allclose(objective(scores, matrix)[0], 10.0 * before, rtol=1e-5)
    np.testing.assert_array_equal(objective(scores, matrix), rxgb.objective("huber")(scores, matrix))


@pytest.mark.parametrize("made", [rxgb.objective, rxgb.CosineObjective])
def test_an_objective_in_the_scikit_learn_interface_is_refused(made):
    with pytest.raises(TypeError, match=r"for train\(\), which passes a matrix; .* XGBClassifier"):
        xgb.XGBRegressor(n_estimators=1, objective=made("squared_error")).fit(X, SIGNAL)


class Cauchy(Loss):
    """A loss whose second derivative changes sign."""

    link = IdentityLink()

    def value(self, y, raw):
        return np.log1p((raw - y) ** 2)[:, 0]

    def derivatives(self, y, raw):
        r = raw - y
        return 2.0 * r / (1.0 + r**2), 2.0 * (1.0 - r**2) / (1.0 + r**2) ** 2

    def baseline(self, y, weight):
        return np.median(y, axis=0)


class Flat(SquaredError):
    """Its hessian is 0 for half of the rows."""

    def derivatives(self, y, raw):
        return raw - y, (y > 0.0).astype(float)


def test_hessians_are_positive():
    y = 10.0 * np.random.default_rng(0).standard_normal(50)
    scores, matrix = np.zeros(50, dtype=np.float32), xgb.DMatrix(X[:50], y)
    with pytest.raises(ValueError, match=r"hessian must be positive, got -0"):
        rxgb.objective(Cauchy())(scores, matrix)
    _, hessian = rxgb.objective(Flat())(scores, matrix)
    assert (hessian > 0.0).all()


def test_rows_of_weight_0_are_left_out():
    outlier, weight = np.where(np.arange(400) < 5, np.nan, SIGNAL), (np.arange(400) >= 5).astype(float)

    class Careful(SquaredError):
        """Must not get NaN."""

        def value(self, y, raw):
            assert np.isfinite(y).all()
            return super().value(y, raw)

    data = lgb.Dataset(X, outlier, weight=weight).construct()
    gradient, hessian = rlgb.objective(Careful())(np.zeros(400), data)
    np.testing.assert_array_equal(gradient[:5], 0.0)
    np.testing.assert_array_equal(hessian, weight)
    found = rlgb.objective(Careful()).metric(np.zeros(400), data)[1]
    assert found == pytest.approx(0.5 * np.mean(SIGNAL[5:] ** 2))
    with pytest.raises(ValueError, match="the weights of the matrix must not all be 0"):
        xgb.train({}, xgb.DMatrix(X, SIGNAL, weight=np.zeros(400)), 2, obj=rxgb.objective("squared_error"))


class WrongShape(SquaredError):
    """Returns a gradient (n,)."""

    def derivatives(self, y, raw):
        return (raw - y)[:, 0], np.ones_like(raw)


class NotFinite(SquaredError):
    """Returns NaN."""

    def derivatives(self, y, raw):
        return np.full_like(raw, np.nan), np.ones_like(raw)


class Choosy(SquaredError):
    """Accepts positive targets only."""

    def check_target(self, y):
        if (y <= 0.0).any():
            raise ValueError(f"loss {self!r}: y must be positive")


class WideBaseline(SquaredError):
    """Has a baseline for each of two scores."""

    def baseline(self, y, weight):
        return np.zeros(2)


class WrongSign(SquaredError):
    """Returns minus the gradient."""

    def derivatives(self, y, raw):
        return y - raw, np.ones_like(raw)


class Remembers(SquaredError):
    """Keeps a statistic of the targets in itself."""

    def prepared(self, y, weight, n_classes=None):
        self.mean = float(y.mean())
        return self


LAWS = {
    WrongSign: "gradient must be the derivative of value",
    Remembers: "prepared must not change the loss",
    WrongShape: "gradient must have shape",
    NotFinite: "gradient must be finite, got",
    Choosy: "y must be positive",
    WideBaseline: "baseline must have an entry for each of 1 scores",
}
FITS = {
    "boost": lambda loss: boost(X, SIGNAL[:, None], loss=loss, learner="tree", n_estimators=2),
    "our estimator": lambda loss: RFFBoostRegressor(loss, n_estimators=2).fit(X, SIGNAL),
}


def fits_of(host):
    """The places of a host where a loss is checked."""
    return {
        f"{host} estimator": lambda loss: host.estimator(loss).fit(X, SIGNAL),
        f"{host} intercept": lambda loss: host.ours.intercept(loss, host.matrix(X, SIGNAL)),
        f"{host}": lambda loss: host.train(host.matrix(X, SIGNAL), host.ours.objective(loss), 2),
        f"{host} cosines": lambda loss: host.train(host.matrix(X, SIGNAL), host.ours.CosineObjective(loss), 2),
    }


FITS |= fits_of(HOSTS[0]) | fits_of(HOSTS[1])


@pytest.mark.filterwarnings("ignore:training starts")
@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("loss", LAWS, ids=lambda loss: loss.__name__)
def test_an_invalid_loss_is_named(loss, fit):
    with pytest.raises(ValueError, match=f"loss {loss.__name__}.*: {LAWS[loss]}"):
        FITS[fit](loss())


class Signs(LogLoss):
    """The logistic loss of labels -1 and +1, which has no gradient for a label 0."""

    def value(self, y, raw):
        return np.logaddexp(0.0, -y * raw)[:, 0]

    def derivatives(self, y, raw):
        p = 1.0 / (1.0 + np.exp(y * raw))
        return -y * p, y**2 * p * (1.0 - p)


@pytest.mark.filterwarnings("ignore:training starts")
@hosts
def test_labels_taken_for_signs_are_found(host):
    words = "gradient must not be 0 for all rows of the first class"
    with pytest.raises(ValueError, match=words):
        host.estimator(Signs()).fit(X, BINARY)
    with pytest.raises(ValueError, match=words):
        host.train(host.matrix(X, BINARY), host.ours.objective(Signs()), 2)


def test_without_lightgbm_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    monkeypatch.delitem(sys.modules, "rffboost_ext.interop.lightgbm")
    with pytest.raises(ImportError, match=r"pip install lightgbm \(extra 'peers'\)"):
        import_module("rffboost_ext.interop.lightgbm")


def test_a_metric_of_cosines_needs_their_objective():
    with pytest.raises(ValueError, match="without their objective"):
        rxgb.CosineObjective().metric(SIGNAL, xgb.DMatrix(X, BINARY))
