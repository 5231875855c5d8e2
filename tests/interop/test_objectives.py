"""Losses in a host's loop are checked as in the boosting loop."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

from rffboost_ext import RFFBoostRegressor, boost
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import SquaredError

from .interop_cases import SIGNAL, X

lgb = pytest.importorskip("lightgbm")
from rffboost_ext.interop import lightgbm as rlgb  # noqa: E402


class WrongShape(SquaredError):
    """Returns a gradient (n,)."""

    def derivatives(self, y, raw):
        return (raw - y)[:, 0], np.ones_like(raw)


class NotFinite(SquaredError):
    """Returns NaN."""

    def derivatives(self, y, raw):
        return np.full_like(raw, np.nan), np.ones_like(raw)


class InPlace(SquaredError):
    """Changes the raw scores."""

    def derivatives(self, y, raw):
        raw -= y
        return raw.copy(), np.ones_like(raw)


class WrongValue(SquaredError):
    """Returns values (n, 1)."""

    def value(self, y, raw):
        return (raw - y) ** 2


class NegativeHessian(SquaredError):
    """Returns negative second derivatives."""

    def derivatives(self, y, raw):
        return raw - y, -np.ones_like(raw)


class Choosy(SquaredError):
    """Accepts positive targets only."""

    def check_target(self, y):
        if (y <= 0.0).any():
            raise ValueError(f"loss {self!r}: y must be positive")


class ByPosition(SquaredError):
    """Holds an array of the rows."""

    def value(self, y, raw):
        return np.arange(len(y)) * super().value(y, raw)


class WideBaseline(SquaredError):
    """Has a baseline for each of two scores."""

    def baseline(self, y, weight):
        return np.zeros(2)


LOSSES = {
    WrongShape: "gradient must have shape",
    NotFinite: "gradient must be finite, got NaN or infinity",
    NegativeHessian: "hessian must be positive, got -1",
    InPlace: "derivatives must not change raw",
    WrongValue: r"value must have shape \(100,\)",
    Choosy: "y must be positive",
    ByPosition: "value of a row must be the same wherever it stands",
    WideBaseline: "baseline must have an entry for each of 1 scores",
}


def xgboost_matrix():
    return xgb.DMatrix(X, SIGNAL)


def train_xgboost(loss, objective, **params):
    xgb.train(params, xgboost_matrix(), 2, obj=objective(loss))


def train_lightgbm(loss, objective):
    params = {"objective": objective(loss), "verbose": -1, "num_threads": 1}
    lgb.train(params, lgb.Dataset(X, SIGNAL, free_raw_data=False), 2)


FITS = {
    "boost": lambda loss: boost(X, SIGNAL[:, None], loss=loss, learner="tree", n_estimators=2),
    "estimator": lambda loss: RFFBoostRegressor(loss, n_estimators=2).fit(X, SIGNAL),
    "xgboost estimator": lambda loss: rxgb.XGBRegressor(loss=loss, n_estimators=2).fit(X, SIGNAL),
    "xgboost": lambda loss: train_xgboost(loss, rxgb.objective),
    "xgboost intercept": lambda loss: rxgb.intercept(loss, xgboost_matrix()),
    "xgboost cosines": lambda loss: train_xgboost(loss, rxgb.CosineObjective),
    "lightgbm estimator": lambda loss: rlgb.LGBMRegressor(loss=loss, n_estimators=2).fit(X, SIGNAL),
    "lightgbm": lambda loss: train_lightgbm(loss, rlgb.objective),
    "lightgbm intercept": lambda loss: rlgb.intercept(loss, lgb.Dataset(X, SIGNAL)),
    "lightgbm cosines": lambda loss: train_lightgbm(loss, rlgb.CosineObjective),
}


@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_an_invalid_loss_is_named(loss, fit):
    with pytest.raises(ValueError, match=f"loss {loss.__name__}.*: {LOSSES[loss]}"):
        FITS[fit](loss())


def test_rows_of_weight_0_are_left_out():
    outlier, weight = np.where(np.arange(400) < 5, np.nan, SIGNAL), (np.arange(400) >= 5).astype(float)

    class Careful(SquaredError):
        """Must not see NaN."""

        def value(self, y, raw):
            assert np.isfinite(y).all()
            return super().value(y, raw)

    data = lgb.Dataset(X, outlier, weight=weight).construct()
    gradient, hessian = rlgb.objective(Careful())(np.zeros(400), data)
    np.testing.assert_array_equal(gradient[:5], 0.0)
    np.testing.assert_array_equal(hessian, weight)
    assert rlgb.metric(Careful())(np.zeros(400), data)[1] == pytest.approx(0.5 * np.mean(SIGNAL[5:] ** 2))
