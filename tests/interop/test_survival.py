"""Losses of survival analysis in the hosts: targets of two columns travel, and models agree with XGBoost's own."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb

from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import AFTLogistic
from rffboost_ext.metrics import concordance_index

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
EVENT, TIME = RNG.random(300) < 0.7, np.exp(X[:, 0] - 0.5 * X[:, 1]) * RNG.exponential(size=300) + 0.01
BOUNDS = np.column_stack([TIME, np.where(EVENT, TIME, np.inf)])
TARGETS = {"cox": np.column_stack([EVENT, TIME]), "aft_normal": BOUNDS, "aft_extreme": BOUNDS}
FEW = {"n_estimators": 20, "learning_rate": 0.1}
HOSTS = {"xgboost": rxgb.XGBRegressor(**FEW), "lightgbm": rlgb.LGBMRegressor(**FEW, verbose=-1)}


@pytest.mark.parametrize("loss", TARGETS)
@pytest.mark.parametrize("host", HOSTS)
def test_estimators_order_times(host, loss):
    model = HOSTS[host].set_params(loss=loss).fit(X, TARGETS[loss], sample_weight=np.linspace(0.5, 2.0, 300))
    predicted = model.predict(X)
    assert concordance_index(BOUNDS, predicted if loss == "cox" else -predicted) > 0.75


def test_xgboosts_own_objectives_agree():
    # Its hessians differ from ours: Breslow's ties here, and limits of derivatives.
    own = xgb.train({"objective": "survival:cox", "eta": 0.1}, xgb.DMatrix(X, np.where(EVENT, TIME, -TIME)), 20)
    cox = HOSTS["xgboost"].set_params(loss="cox").fit(X, TARGETS["cox"])
    assert np.corrcoef(own.predict(xgb.DMatrix(X), output_margin=True), cox.predict(X))[0, 1] > 0.97
    matrix = xgb.DMatrix(X)
    matrix.set_float_info("label_lower_bound", BOUNDS[:, 0])
    matrix.set_float_info("label_upper_bound", BOUNDS[:, 1])
    params = {"objective": "survival:aft", "aft_loss_distribution": "logistic", "aft_loss_distribution_scale": 1.0}
    own = xgb.train(params | {"eta": 0.1}, matrix, 20)
    aft = HOSTS["xgboost"].set_params(loss=AFTLogistic(1.0)).fit(X, BOUNDS)
    assert np.corrcoef(np.log(own.predict(matrix)), np.log(aft.predict(X)))[0, 1] > 0.97


@pytest.mark.parametrize("loss", TARGETS)
def test_native_loops_take_attached_targets(loss):
    matrix, data = xgb.DMatrix(X, np.zeros(300)), lgb.Dataset(X, np.zeros(300))
    rxgb.attach(matrix, y=TARGETS[loss])
    rlgb.attach(data, y=TARGETS[loss])
    scores = [
        xgb.train({"eta": 0.1, "base_score": 0.0}, matrix, 20, obj=rxgb.objective(loss)).predict(matrix),
        lgb.train({"verbose": -1, "objective": rlgb.objective(loss)}, data, 20).predict(X),
    ]
    for found in scores:
        assert concordance_index(BOUNDS, found if loss == "cox" else -found) > 0.75
