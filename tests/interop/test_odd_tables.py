"""On tables without a split, estimators of both hosts return what the host's own estimators return."""

from __future__ import annotations

import pickle

import lightgbm
import numpy as np
import pytest

from rffboost_ext.interop import lightgbm as rlgb

from .interop_cases import LIGHTGBM, hosts, response

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
    name, y = f"{host.prefix}{'Regressor' if target == 'regression' else 'Classifier'}", TARGETS[target](len(X))
    shared = {"n_estimators": 5, "n_jobs": 1} | ({"verbose": -1} if host is LIGHTGBM else {})
    return [getattr(module, name)(**shared, **params).fit(X, y) for module in (host.own, host.ours)]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("target", TARGETS)
@hosts
def test_predictions_are_the_hosts(host, target, table):
    X = TABLES[table]
    theirs, ours = fitted_pair(host, target, X)
    np.testing.assert_allclose(response(ours, X), response(theirs, X), rtol=1e-5, atol=1e-5)
    ensemble = host.ours.to_ensemble(ours)
    np.testing.assert_allclose(
        ours.loss_.link.inverse(ensemble.raw(X)).ravel(), response(ours, X).ravel(), rtol=1e-5, atol=1e-7
    )


@hosts
def test_sampling_draws_what_the_host_draws(host):
    X = RNG.normal(size=(200, 6))
    sampling = {"subsample": 0.5, "random_state": 1}
    sampling |= {"subsample_freq": 1, "colsample_bytree": 0.5} if host is LIGHTGBM else {"colsample_bynode": 0.5}
    theirs, ours = fitted_pair(host, "two classes", X, **sampling)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@hosts
def test_shap_explains_the_trees(host, target):
    shap = pytest.importorskip("shap")
    X = RNG.normal(size=(100, 3))
    _, ours = fitted_pair(host, target, X)
    again = pickle.loads(pickle.dumps(ours))
    explainer = shap.TreeExplainer(again)
    values = np.asarray(explainer.shap_values(X))
    margin = again.predict(X, **{host.score: True})
    spread = values.sum(axis=1) - margin * again.score_conversion().slope
    np.testing.assert_allclose(spread, spread[0], rtol=0, atol=2e-5)


@pytest.mark.parametrize("table", TABLES)
def test_native_interface_fits_without_the_filter_of_columns(table):
    X = TABLES[table]
    data = lightgbm.Dataset(X, TARGETS["two classes"](len(X)))
    baseline = rlgb.intercept("log_loss", data)
    params = {"objective": rlgb.objective("log_loss"), "feature_pre_filter": False, "verbose": -1}
    model = rlgb.bind(lightgbm.train(params, data, 5), "log_loss", baseline)
    theirs, _ = fitted_pair(LIGHTGBM, "two classes", X)
    np.testing.assert_allclose(model.predict_proba(X), theirs.predict_proba(X), rtol=1e-5, atol=1e-5)
