"""Losses in a host's loop are checked as in the boosting loop."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

from rffboost_ext import boost
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import SquaredError

from .interop_cases import SIGNAL, X


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


LOSSES = {
    WrongShape: "gradient must have shape",
    NotFinite: "gradient must be finite, got NaN or infinity",
    InPlace: "derivatives must not change raw",
    WrongValue: r"value must have shape \(n,\)",
}
MATRIX = xgb.DMatrix(X, SIGNAL)
FITS = {
    "boost": lambda loss: boost(X, SIGNAL[:, None], loss=loss, learner="tree", n_estimators=2),
    "estimator": lambda loss: rxgb.XGBRegressor(loss=loss, n_estimators=2).fit(X, SIGNAL),
    "objective": lambda loss: xgb.train(rxgb.intercept(loss, MATRIX), MATRIX, 2, obj=rxgb.objective(loss)),
    "cosines": lambda loss: xgb.train({}, MATRIX, 2, obj=rxgb.CosineObjective(loss)),
}


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_an_invalid_loss_is_named(loss, fit):
    with pytest.raises(ValueError, match=f"loss {loss.__name__}.*: {LOSSES[loss]}"):
        fit(loss())
