"""On tables without a split, estimators of both hosts return what the host's own estimators return."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import xgboost

from rffboost_ext.interop import xgboost as rxgb

lightgbm = pytest.importorskip("lightgbm")
from rffboost_ext.interop import lightgbm as rlgb  # noqa: E402

HOSTS = {
    "LGBM": (lightgbm, rlgb, {"verbose": -1, "n_jobs": 1}),
    "XGB": (xgboost, rxgb, {"n_jobs": 1}),
}
RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(39, 3))
TABLES = {
    "few rows": NORMAL[:5],
    "39 rows": NORMAL,
    "one column": NORMAL[:, :1],
    "constant columns": np.ones((60, 2)),
    "one constant column": np.column_stack([np.ones(60), RNG.normal(size=60)]),
    "missing columns": np.full((60, 2), np.nan),
    "one missing column": np.column_stack([np.full(60, np.nan), RNG.normal(size=60)]),
}
TARGETS = {
    "regression": lambda n: 5.0 + np.arange(n) ** 0.5,
    "two classes": lambda n: np.arange(n) // 2 % 2,
    "one class": lambda n: np.zeros(n, dtype=int),
}


def fitted_pair(host, target, X, **params):
    theirs, ours, shared = HOSTS[host]
    name = f"{host}Regressor" if target == "regression" else f"{host}Classifier"
    y = TARGETS[target](len(X))
    return [getattr(module, name)(n_estimators=5, **shared, **params).fit(X, y) for module in (theirs, ours)]


def response(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("host", HOSTS)
def test_predictions_are_the_hosts(host, target, table):
    X = TABLES[table]
    theirs, ours = fitted_pair(host, target, X)
    np.testing.assert_allclose(response(ours, X), response(theirs, X), rtol=1e-5, atol=1e-5)
    ensemble = (rlgb if host == "LGBM" else rxgb).to_ensemble(ours)
    np.testing.assert_allclose(
        ours.loss_.link.inverse(ensemble.raw(X)).ravel(), response(ours, X).ravel(), rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("host", HOSTS)
def test_sampling_draws_what_the_host_draws(host):
    X = RNG.normal(size=(200, 6))
    sampling = {"subsample": 0.5, "random_state": 1}
    sampling |= {"subsample_freq": 1, "colsample_bytree": 0.5} if host == "LGBM" else {"colsample_bynode": 0.5}
    theirs, ours = fitted_pair(host, "two classes", X, **sampling)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("host", HOSTS)
def test_shap_explains_the_trees(host, target):
    shap = pytest.importorskip("shap")
    X = RNG.normal(size=(100, 3))
    _, ours = fitted_pair(host, target, X)
    again = pickle.loads(pickle.dumps(ours))
    explainer = shap.TreeExplainer(again)
    values = np.asarray(explainer.shap_values(X))
    margin = again.predict(X, **{"raw_score" if host == "LGBM" else "output_margin": True})
    spread = values.sum(axis=1) - margin * again.score_conversion().slope
    np.testing.assert_allclose(spread, spread[0], rtol=0, atol=2e-5)


@pytest.mark.parametrize("table", TABLES)
def test_native_interface_fits_without_the_filter_of_columns(table):
    X = TABLES[table]
    data = lightgbm.Dataset(X, TARGETS["two classes"](len(X)))
    baseline = rlgb.intercept("log_loss", data)
    params = {"objective": rlgb.objective("log_loss"), "feature_pre_filter": False, "verbose": -1}
    model = rlgb.bind(lightgbm.train(params, data, 5), "log_loss", baseline)
    theirs, _ = fitted_pair("LGBM", "two classes", X)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), rtol=1e-5, atol=1e-5)
