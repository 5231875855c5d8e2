"""Losses of survival analysis agree with XGBoost's own."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import AFTLogistic
from rffboost_ext.metrics import concordance_index

from .interop_cases import hosts

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
EVENT, TIME = RNG.random(300) < 0.7, np.exp(X[:, 0] - 0.5 * X[:, 1]) * RNG.exponential(size=300) + 0.01
BOUNDS = np.column_stack([TIME, np.where(EVENT, TIME, np.inf)])


def test_xgboosts_own_objectives_agree():
    model = rxgb.XGBRegressor(n_estimators=20, learning_rate=0.1)
    # Its hessians differ from ours: Breslow's ties here, and limits of derivatives.
    own = xgb.train({"objective": "survival:cox", "eta": 0.1}, xgb.DMatrix(X, np.where(EVENT, TIME, -TIME)), 20)
    cox = model.set_params(loss="cox").fit(X, np.column_stack([EVENT, TIME]))
    assert np.corrcoef(own.predict(xgb.DMatrix(X), output_margin=True), cox.predict(X))[0, 1] > 0.97
    assert concordance_index(BOUNDS, cox.predict(X)) > 0.75
    matrix = xgb.DMatrix(X)
    matrix.set_float_info("label_lower_bound", BOUNDS[:, 0])
    matrix.set_float_info("label_upper_bound", BOUNDS[:, 1])
    params = {"objective": "survival:aft", "aft_loss_distribution": "logistic", "aft_loss_distribution_scale": 1.0}
    own = xgb.train(params | {"eta": 0.1}, matrix, 20)
    aft = model.set_params(loss=AFTLogistic(1.0)).fit(X, BOUNDS)
    assert np.corrcoef(np.log(own.predict(matrix)), np.log(aft.predict(X)))[0, 1] > 0.97


@hosts
@pytest.mark.parametrize("loss", ["aft_normal", "aft_logistic", "aft_extreme"])
def test_event_and_time_are_no_bounds_of_times(host, loss):
    events = np.column_stack([EVENT, TIME]).astype(float)
    model, words = host.estimator(loss), "must hold bounds of times.* got 0 and 1 in the first column"
    for y in (events, pd.DataFrame({"event": EVENT, "time": TIME})):
        with pytest.raises(ValueError, match=words):
            model.fit(X, y)
    with pytest.raises(ValueError, match=words):
        model.fit(X, BOUNDS, **host.watch(X, events))
    matrix = host.matrix(X)
    host.ours.attach(matrix, y=events)
    for start in (host.ours.intercept, lambda loss, matrix: host.train(matrix, host.ours.objective(loss), 1)):
        with pytest.raises(ValueError, match=words):
            start(loss, matrix)
    structured = np.rec.fromarrays([EVENT, TIME], names=["event", "time"])
    with pytest.raises(TypeError, match="fields event, time"):
        model.fit(X, structured)
