"""Linear boosters of XGBoost and linear leaves of LightGBM as ensembles, in files and in our own loop."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, load_model
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from .interop_cases import BINARY, CLASSES, LIGHTGBM, SIGNAL, TWO, XGBOOST, X, hosts

GAPS = np.where(np.abs(X) < 0.2, np.nan, X)
TABLE = pd.DataFrame(X, columns=list("abcd")).assign(
    k=pd.Categorical(np.array(["u", "v", "w"])[np.digitize(X[:, 3], [-0.4, 0.4])])
)
CODES = np.column_stack([X, TABLE["k"].cat.codes])
LINEAR = {
    "xgboost": {"booster": "gblinear", "n_estimators": 10, "n_jobs": 1},
    "lightgbm": {"linear_tree": True, "n_estimators": 5, "num_leaves": 5, "n_jobs": 1, "verbose": -1},
}


def fitted(host, X, y, own=True, **params):
    """A linear model of a host's estimator, or of ours in it."""
    kind = "Classifier" if y is BINARY or y is CLASSES else "Regressor"
    return getattr(host.ours if own else host.own, host.prefix + kind)(**LINEAR[host.name] | params).fit(X, y)


@hosts
@pytest.mark.parametrize("y", [SIGNAL, BINARY, CLASSES], ids=["regression", "two classes", "three classes"])
@pytest.mark.parametrize(("own", "rows"), [(False, X), (True, GAPS)], ids=["theirs, whole", "ours, gaps"])
def test_linear_models_are_read_and_exported(host, own, y, rows):
    model = fitted(host, rows, y, own)
    ensemble = host.ours.to_ensemble(model)
    np.testing.assert_allclose(ensemble.raw(rows), host.scores(model, rows), atol=1e-5)
    for dtype in ("float32", "float64"):
        verify_onnx(model, to_onnx(model, dtype=dtype), rows, raise_on_mismatch=True)


@pytest.mark.parametrize("boosting", ["gbdt", "dart", "rf"])
def test_linear_leaves_of_tables_with_categories(boosting):
    sampling = {"subsample": 0.7, "subsample_freq": 1}
    model = fitted(LIGHTGBM, TABLE, SIGNAL, own=False, boosting_type=boosting, **sampling)
    np.testing.assert_allclose(rlgb.to_ensemble(model).raw(CODES)[:, 0], model.predict(TABLE), atol=1e-9)
    verify_onnx(model, to_onnx(model), TABLE, raise_on_mismatch=True)


def test_a_linear_booster_of_several_targets():
    model = fitted(XGBOOST, X, TWO)
    np.testing.assert_allclose(rxgb.to_ensemble(model).raw(X), XGBOOST.scores(model, X), rtol=1e-5, atol=1e-5)


@hosts
def test_our_loop_goes_on_from_a_linear_model(host, tmp_path):
    for y, own in ((SIGNAL, RFFBoostRegressor), (CLASSES, RFFBoostClassifier)):
        given = fitted(host, GAPS, y)
        model = own(learner="tree", n_estimators=2, early_stopping=False, random_state=0)
        model.fit(GAPS, y, init_model=given).save_model(tmp_path / "model.rff")
        assert model.score(GAPS, y) > given.score(GAPS, y)
        np.testing.assert_array_equal(load_model(tmp_path / "model.rff").predict(GAPS), model.predict(GAPS))


@hosts
def test_linear_models_are_explained(host):
    ensemble = host.ours.to_ensemble(fitted(host, GAPS, SIGNAL))
    rows, step = np.nan_to_num(GAPS[:20], nan=0.3), 1e-6
    for j, found in enumerate(ensemble.gradient(rows)[:, 0].T):
        shift = step * np.eye(4)[j]
        wanted = (ensemble.raw(rows + shift) - ensemble.raw(rows - shift))[:, 0] / (2.0 * step)
        np.testing.assert_allclose(found, wanted, atol=1e-6)
    given = RFFBoostRegressor(learner="tree", n_estimators=1, early_stopping=False)
    model = given.fit(X, SIGNAL, init_model=fitted(host, X, SIGNAL))
    raw = model.raw_scores(X)[:, 0]
    np.testing.assert_allclose(model.shap_values(X[:3], X[:9]).sum(axis=1), raw[:3] - raw[:9].mean(), atol=1e-9)
    assert model.feature_importances_.argmax() in (0, 1)
