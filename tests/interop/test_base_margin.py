"""Offsets in XGBoost and LightGBM: our losses do with them what the hosts' own objectives do."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import xgboost as xgb
from scipy.special import expit

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from .interop_cases import LIGHTGBM, hosts

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3))
OFFSET = 2.0 * RNG.standard_normal(300) + 1.0
SIGNAL = np.sin(2.0 * X[:, 0]) + OFFSET
TARGETS = {"log_loss": (RNG.uniform(size=300) < expit(SIGNAL)).astype(int), "squared_error": SIGNAL}
A, B = slice(0, 200), slice(200, None)
ROUNDS = {"n_estimators": 8, "n_jobs": 1, "learning_rate": 0.3}


@hosts
@pytest.mark.parametrize("loss", TARGETS)
def test_estimators_predict_as_the_hosts_own_objectives(host, loss):
    y, kind = TARGETS[loss], "Classifier" if loss == "log_loss" else "Regressor"
    models = host.theirs(kind, learning_rate=0.3), host.estimator(loss, learning_rate=0.3)
    if host is LIGHTGBM:
        wanted, found = (host.scores(model.fit(X[A], y[A], init_score=OFFSET[A]), X[B]) for model in models)
        np.testing.assert_allclose(found, wanted, atol=1e-5)
        return
    for model in models:
        sets = host.watch(X[B], y[B]) | {"base_margin_eval_set": [OFFSET[B]]}
        model.fit(X[A], y[A], base_margin=OFFSET[A], **sets)
    wanted, found = (m.predict(X[B], output_margin=True, base_margin=OFFSET[B]) for m in models)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    ours = models[1]
    assert (ours.baseline_ == 0.0).all()
    (curve,) = host.curve(ours).values()
    value = ours.loss_.value(y[B].astype(float)[:, None], found[:, None].astype(float)).mean()
    assert curve[-1] == pytest.approx(value, rel=1e-4)


def test_files_of_xgboosts_estimators_keep_the_offset(tmp_path):
    model = rxgb.XGBClassifier(max_depth=3, **ROUNDS).fit(X, TARGETS["log_loss"], base_margin=OFFSET)
    model.save_model(tmp_path / "m.json")
    again = rxgb.XGBClassifier()
    again.load_model(tmp_path / "m.json")
    assert again.uses_base_margin_
    file = to_onnx(again)
    verify_onnx(again, file, X, base_margin=OFFSET, raise_on_mismatch=True)
    found, wanted = OnnxPredictor(file).predict_proba(X, OFFSET), model.predict_proba(X, base_margin=OFFSET)
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    with pytest.raises(ValueError, match="init_model was fitted with base_margin"):
        RFFBoostClassifier(n_estimators=2).fit(X, TARGETS["log_loss"], init_model=model)
    other = rxgb.XGBClassifier(loss="exponential", **ROUNDS).fit(X, TARGETS["log_loss"], base_margin=OFFSET)
    with pytest.raises(ValueError, match="fitted with base_margin cannot be exported"):
        to_onnx(other)


def test_bound_boosters_need_the_offset():
    y = TARGETS["log_loss"]
    matrix = xgb.DMatrix(X, y, base_margin=OFFSET)
    booster = xgb.train(
        {"max_depth": 3} | rxgb.intercept("log_loss", matrix), matrix, 8, obj=rxgb.objective("log_loss")
    )
    bound = rxgb.bind(booster, "log_loss", base_margin=True)
    np.testing.assert_allclose(
        bound.raw_scores(X, OFFSET)[:, 0], booster.predict(matrix, output_margin=True), atol=1e-5
    )
    data = lgb.Dataset(X, y, init_score=OFFSET, free_raw_data=False)
    with pytest.raises(ValueError, match="init_score of the data must be unset or constant"):
        rlgb.intercept("log_loss", data)
    booster = lgb.train({"objective": rlgb.objective("log_loss"), "verbose": -1}, data, 8)
    bound = rlgb.bind(booster, "log_loss", 0.0, base_margin=True)
    np.testing.assert_allclose(bound.raw_scores(X, OFFSET)[:, 0], booster.predict(X) + OFFSET, atol=1e-5)
    with pytest.raises(ValueError, match="base_margin must be given"):
        bound.predict(X)


def test_offsets_of_another_shape_are_named():
    y, few, sets = SIGNAL, OFFSET[:5], {"eval_set": [(X, SIGNAL)], "base_margin_eval_set": [OFFSET[:5]]}
    words = r"base_margin must have shape \(300,\) or \(300, 1\), .* got \(5,\)"
    for options in ({"base_margin": few}, {"base_margin": OFFSET, **sets}):
        with pytest.raises(ValueError, match=words):
            rxgb.XGBRegressor(**ROUNDS).fit(X, y, **options)
    model = rxgb.XGBRegressor(**ROUNDS).fit(X, y, base_margin=OFFSET)
    with pytest.raises(ValueError, match=words):
        model.predict(X, base_margin=few)
    with pytest.raises(ValueError, match=r"init_score must have shape \(300, 2\), .* got \(300,\)"):
        rlgb.LGBMRegressor(loss="normal", **ROUNDS).fit(X, y, init_score=OFFSET)
    with pytest.raises(ValueError, match=r"init_score must be real numbers, got .*nan"):
        rlgb.LGBMRegressor(**ROUNDS).fit(X, y, init_score=np.full(300, np.nan))
