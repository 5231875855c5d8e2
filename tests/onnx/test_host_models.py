"""Objectives, leaves and categories of XGBoost and LightGBM, compared with their own predictions."""

from __future__ import annotations

import json
from typing import Any

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

RNG = np.random.default_rng(0)
X = np.where(RNG.random((400, 3)) < 0.1, np.nan, RNG.normal(size=(400, 3))).astype(np.float32)
SCORE = np.nan_to_num(X[:, 0]) + np.sin(np.nan_to_num(X[:, 1]))
FEW: dict[str, Any] = {"n_estimators": 8, "n_jobs": 1}
LIGHT = FEW | {"verbose": -1, "min_child_samples": 5}
CODES = np.column_stack([X[:, 0], RNG.integers(0, 40, 400), RNG.integers(0, 3, 400)])
TABLE = pd.DataFrame(
    {
        "x": X[:, 0],
        "town": pd.Categorical(RNG.choice(list("cab"), 400), categories=list("cabz")),
        "size": pd.Categorical(RNG.choice([7, 2, 30], 400), categories=[7, 2, 30]),
    }
)
TABLE.loc[::9, "town"] = None


def light_models() -> dict[str, Any]:
    three, share = np.digitize(SCORE, [-0.5, 0.5]), 1.0 / (1.0 + np.exp(-SCORE))
    ranker = lgb.LGBMRanker(objective="rank_xendcg", **LIGHT)
    return {
        "multiclassova": lgb.LGBMClassifier(objective="multiclassova", sigmoid=0.7, **LIGHT).fit(X, three),
        "cross_entropy_lambda": lgb.LGBMRegressor(objective="cross_entropy_lambda", **LIGHT).fit(X, share),
        "rank_xendcg": ranker.fit(X, three, group=[100, 300]),
        "reg_sqrt": lgb.LGBMRegressor(reg_sqrt=True, **LIGHT).fit(X, SCORE),
        "reg_sqrt l1": lgb.LGBMRegressor(objective="l1", reg_sqrt=True, **LIGHT).fit(X, SCORE),
    }


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "name", ["multiclassova", "cross_entropy_lambda", "rank_xendcg", "reg_sqrt", "reg_sqrt l1"]
)
def test_lightgbms_objectives(name: str, dtype: str) -> None:
    model = light_models()[name]
    for exported in (model, model.booster_):
        predictor = OnnxPredictor(to_onnx(exported, dtype=dtype))
        verify_onnx(exported, to_onnx(exported, dtype=dtype), X, raise_on_mismatch=True)
        found = predictor.predict_proba(X) if name == "multiclassova" else predictor.predict(X)
        np.testing.assert_allclose(found, model.booster_.predict(X), rtol=1e-5, atol=1e-6)
    if name == "multiclassova":
        np.testing.assert_array_equal(OnnxPredictor(to_onnx(model)).predict(X), model.predict(X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lightgbms_categories_of_codes(dtype: str) -> None:
    y = SCORE + np.isin(CODES[:, 1], [1, 4, 9, 33]) + 2 * (CODES[:, 2] == 1)
    model = lgb.LGBMRegressor(cat_smooth=1, **LIGHT).fit(CODES, y, categorical_feature=[1, 2])
    rows = np.vstack([CODES, [[0, -3, 1], [0, 500, 2], [0, np.nan, np.nan], [0, 1e12, 9], [0, 4.7, 1]]])
    rows = rows.astype(np.float32)
    wanted = model.predict(rows)
    np.testing.assert_allclose(rlgb.to_ensemble(model).raw(rows)[:, 0], wanted, atol=1e-12)
    verify_onnx(model, to_onnx(model, dtype=dtype), rows, raise_on_mismatch=True)
    np.testing.assert_allclose(OnnxPredictor(to_onnx(model, dtype=dtype)).predict(rows), wanted, atol=1e-5)


def test_lightgbms_categories_of_a_table() -> None:
    target = np.nan_to_num(TABLE["x"]) + 2.0 * (TABLE["town"] == "a") + (TABLE["size"] == 2)
    model = lgb.LGBMRegressor(cat_smooth=1, **LIGHT).fit(TABLE, target)
    rows = TABLE.assign(town=TABLE["town"].astype(object).where(np.arange(400) % 5 > 0, "elsewhere"))
    known = rows.assign(town=pd.Categorical(rows["town"]))
    for exported in (model, model.booster_):
        file = to_onnx(exported)
        verify_onnx(exported, file, rows, raise_on_mismatch=True)
        np.testing.assert_allclose(OnnxPredictor(file).predict(rows), model.predict(known), atol=1e-5)
    again = rlgb.bind(model.booster_, "squared_error", np.zeros(1))
    np.testing.assert_allclose(again.predict(rows), model.predict(known), atol=1e-9)


def test_ordered_categories_of_lightgbm_are_named() -> None:
    ordered = TABLE.assign(town=TABLE["town"].cat.as_ordered())
    model = lgb.LGBMRegressor(**LIGHT).fit(ordered, SCORE)
    with pytest.raises(ValueError, match="got 2 columns of categories and 1 categorical features"):
        to_onnx(model)


def test_xgboosts_hinge() -> None:
    model = xgb.XGBClassifier(objective="binary:hinge", **FEW).fit(X, SCORE > 0)
    for exported in (model, model.get_booster()):
        predictor = OnnxPredictor(to_onnx(exported))
        np.testing.assert_array_equal(predictor.predict(X), model.predict(X))
        np.testing.assert_array_equal(predictor.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_xgboosts_vector_leaves(dtype: str) -> None:
    Y = np.column_stack([SCORE, np.abs(SCORE), SCORE > 0.0]).astype(float)
    model = xgb.XGBRegressor(multi_strategy="multi_output_tree", **FEW).fit(X, Y)
    tree = json.loads(model.get_booster().save_raw("json"))["learner"]["gradient_booster"]
    assert tree.get("gbtree", tree)["model"]["trees"][0]["tree_param"]["size_leaf_vector"] == "3"
    np.testing.assert_allclose(rxgb.to_ensemble(model).raw(X), model.predict(X), atol=1e-5)
    verify_onnx(model, to_onnx(model, dtype=dtype), X, raise_on_mismatch=True)
    np.testing.assert_allclose(OnnxPredictor(to_onnx(model, dtype=dtype)).predict(X), model.predict(X), atol=1e-5)


def test_vector_leaves_of_classes() -> None:
    three = np.digitize(SCORE, [-0.5, 0.5])
    model = xgb.XGBClassifier(multi_strategy="multi_output_tree", **FEW).fit(X, three)
    np.testing.assert_allclose(OnnxPredictor(to_onnx(model)).predict_proba(X), model.predict_proba(X), atol=1e-5)
