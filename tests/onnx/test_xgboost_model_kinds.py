"""Models of XGBoost and LightGBM as their estimators predict, and categories as their tables have them."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext.interop import xgboost as rxgb

from .oracle import DTYPES

RNG = np.random.default_rng(0)
X = RNG.standard_normal((300, 3)).astype(np.float32)
BINARY = (X[:, 0] + 0.3 * RNG.standard_normal(300) > 0.3).astype(int)
CLASSES = np.digitize(X[:, 0], [-0.5, 0.5])
XGB = {"n_estimators": 5, "max_depth": 3, "n_jobs": 1}
LGB = {"n_estimators": 5, "num_leaves": 7, "n_jobs": 1, "verbose": -1}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (xgboost.XGBRegressor(objective="binary:logistic", **XGB), BINARY),
        (xgboost.XGBRegressor(objective="binary:logistic", **XGB), np.column_stack([BINARY, X[:, 1] > 0.0])),
        (xgboost.XGBRegressor(objective="binary:logitraw", **XGB), BINARY),
        (xgboost.XGBRegressor(objective="multi:softprob", num_class=3, **XGB), CLASSES),
        (xgboost.XGBClassifier(objective="reg:logistic", **XGB), BINARY),
        (lightgbm.LGBMRegressor(objective="binary", **LGB), BINARY),
        (lightgbm.LGBMRegressor(objective="binary", sigmoid=2.0, **LGB), BINARY),
        (lightgbm.LGBMRegressor(objective="multiclass", num_class=3, **LGB), CLASSES),
        (lightgbm.LGBMClassifier(objective="cross_entropy", **LGB), BINARY),
    ],
)
def test_estimators_are_exported_as_they_predict(model: Any, y: Any, dtype: str) -> None:
    model.fit(X, y)
    graph = to_onnx(model, dtype=dtype)
    verify_onnx(model, graph, X, raise_on_mismatch=True)
    found = OnnxPredictor(graph)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(found.predict_proba(X), model.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(found.predict(X), model.predict(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("model", "y", "words"),
    [
        (
            xgboost.XGBClassifier(objective="reg:squarederror", **XGB),
            BINARY,
            "'reg:squarederror' of a XGBClassifier",
        ),
        (xgboost.XGBClassifier(objective="count:poisson", **XGB), BINARY, "it is for a regressor"),
        (xgboost.XGBRegressor(objective="multi:softmax", num_class=3, **XGB), CLASSES, "it is for a classifier"),
        (lightgbm.LGBMClassifier(objective="regression", **LGB), BINARY, "'regression' of a LGBMClassifier"),
        (lightgbm.LGBMClassifier(objective="poisson", **LGB), BINARY, "'poisson' of a LGBMClassifier"),
    ],
)
def test_estimators_that_do_not_go_with_their_objective_are_refused(model: Any, y: Any, words: str) -> None:
    model.fit(X, y)
    with pytest.raises(ValueError, match=f"objective .*{words}"):
        to_onnx(model)


TABLES = {
    "numbers": pd.Categorical(RNG.choice([0, 11, 12], 300), categories=[12, 0, 11]),
    "numbers with gaps": pd.Categorical.from_codes(RNG.integers(-1, 2, 300), categories=[11, 0]),
    "text": pd.Categorical(RNG.choice(["z", "a", "m"], 300), categories=["z", "a", "m"]),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("make", [xgboost.XGBClassifier, rxgb.XGBClassifier, xgboost.XGBRegressor])
def test_categories_are_those_of_the_table(make: Any, kind: str, dtype: str) -> None:
    table = pd.DataFrame({"c": TABLES[kind], "x": X[:, 0]})
    model = make(enable_categorical=True, **XGB)
    model.fit(table, (table["c"] == TABLES[kind].categories[0]).astype(int).to_numpy())
    outputs = ["predict_proba"] if hasattr(model, "predict_proba") else ["predict"]
    for exported in (model, model.get_booster()):
        if exported is not model and make is rxgb.XGBClassifier:
            continue
        graph = to_onnx(exported, dtype=dtype)
        found = OnnxPredictor(graph)
        for output in outputs:
            wanted = getattr(model, output)(table)
            assert np.ptp(wanted) > 0.5
            np.testing.assert_allclose(getattr(found, output)(table), wanted, atol=1e-6)
        # As a table of the type, and as an array of the same values.
        values = table.astype({"c": object}).to_numpy()
        for rows in (table, table[::-1], values if kind == "text" else values.astype(float)):
            verify_onnx(exported, graph, rows, raise_on_mismatch=True)


def test_verification_asks_the_model_itself() -> None:
    table = pd.DataFrame({"c": TABLES["numbers"], "x": X[:, 0]})
    model = xgboost.XGBClassifier(enable_categorical=True, **XGB).fit(table, table["c"] == 12)
    codes = np.column_stack([table["c"].cat.codes, table["x"]])
    wrong = xgboost.XGBClassifier(enable_categorical=True, feature_types=["c", "q"], **XGB)
    by_code = to_onnx(wrong.fit(codes, table["c"] == 12))
    assert not verify_onnx(model, by_code, table).passed
