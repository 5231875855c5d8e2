"""Faults of skl2onnx for which the export has code of its own: each fault, and the export without it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import skl2onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, Normalizer, OneHotEncoder, OrdinalEncoder, StandardScaler
from xgboost import XGBRegressor

from onnx_export import OnnxPredictor, to_onnx
from onnx_export.runtimes import open_session
from rffboost_ext import RFFBoostRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
Y = np.sin(2.0 * X[:, 0]) + X[:, 1]
BRIEF: dict[str, Any] = {"n_estimators": 8, "early_stopping": False, "random_state": 0}


def by_skl2onnx(step: Any, rows: Any, kind: Any = FloatTensorType) -> np.ndarray:
    """The output of a fitted step in the graph of skl2onnx."""
    inputs = [("X", kind([None, rows.shape[1]]))]
    file = skl2onnx.convert_sklearn(step, initial_types=inputs, target_opset=13)
    return open_session(file.SerializeToString()).run(None, {"X": rows})[0]


def ours(model: Any, rows: Any, X: Any = None, **options: Any) -> np.ndarray:
    """The predictions of the file of a model."""
    return OnnxPredictor(to_onnx(model, X, **options), n_jobs=1).predict(rows)


def trees() -> XGBRegressor:
    return XGBRegressor(n_estimators=8, max_depth=3, n_jobs=1)


def test_the_mean_of_a_scaler_is_rounded() -> None:
    rows = (X + 1e5 + 0.3).astype(np.float32)
    model = make_pipeline(StandardScaler(), RFFBoostRegressor(learner="rff_newton", **BRIEF))
    wide = rows.astype(float)
    scaler = model.fit(wide, Y)[0]
    assert np.abs(by_skl2onnx(scaler, rows) - scaler.transform(wide)).max() > 1e-3
    np.testing.assert_allclose(ours(model, wide), model.predict(wide), atol=1e-4)


def test_scaled_training_rows_cross_thresholds_of_xgboost() -> None:
    rows = (10.0 * X + 50.0).astype(np.float32).astype(float)
    model = make_pipeline(StandardScaler(), trees()).fit(rows, Y)
    scaled = by_skl2onnx(model[0], rows.astype(np.float32))
    assert np.abs(model[1].predict(scaled) - model.predict(rows)).max() > 1e-2
    np.testing.assert_allclose(ours(model, rows), model.predict(rows), atol=1e-5)


def test_rows_divided_by_their_norm_cross_thresholds_of_xgboost() -> None:
    rows = RNG.poisson(1.0, (800, 4)).astype(float)
    model = make_pipeline(Normalizer(), trees()).fit(rows, np.sin(rows[:, 0]))
    divided = by_skl2onnx(model[0], rows.astype(np.float32))
    assert np.abs(model[1].predict(divided) - model.predict(rows)).max() > 1e-2
    np.testing.assert_allclose(ours(model, rows), model.predict(rows), atol=1e-5)


@pytest.mark.parametrize("encoder", [OneHotEncoder(handle_unknown="ignore"), OrdinalEncoder()])
def test_a_missing_text_is_the_category_None(encoder: Any) -> None:
    texts = RNG.choice(np.array(["Bern", "None", None], dtype=object), (300, 1))
    table = pd.DataFrame({"city": pd.Series(texts[:, 0], dtype=object)})
    codes = encoder.set_output(transform="default").fit(texts)
    wanted = codes.transform(texts)
    given = np.where(texts == None, "None", texts)  # noqa: E711 - an array
    found = by_skl2onnx(codes, given, StringTensorType)
    dense = wanted.toarray() if hasattr(wanted, "toarray") else wanted
    assert (found != dense).any()
    steps = ColumnTransformer([("city", encoder, ["city"])], sparse_threshold=0.0)
    model = make_pipeline(steps, RFFBoostRegressor(learner="tree", **BRIEF))
    model.fit(table, 2.0 * table.city.isna() + (table.city == "None"))
    np.testing.assert_allclose(ours(model, table, table), model.predict(table), atol=1e-5)


def test_zeros_are_written_for_entries_that_xgboost_takes_for_missing() -> None:
    codes = RNG.integers(0, 4, (300, 2)).astype(float)
    model = make_pipeline(OneHotEncoder(), trees()).fit(codes, codes[:, 0] * X[:, 0])
    dense = by_skl2onnx(model[0], codes.astype(np.float32))
    assert np.abs(model[1].predict(dense) - model.predict(codes)).max() > 1e-2
    np.testing.assert_allclose(ours(model, codes), model.predict(codes), atol=1e-5)


def test_zeros_that_a_step_stores_beside_absent_entries_are_refused() -> None:
    codes = RNG.integers(0, 4, (300, 2)).astype(float)
    model = make_pipeline(OneHotEncoder(), SimpleImputer(), trees()).fit(codes, Y)
    with pytest.raises(ValueError, match="SimpleImputer gets a sparse matrix here and may store zeros in it"):
        to_onnx(model)


def test_sparse_indicators_of_bins_are_refused() -> None:
    model = make_pipeline(KBinsDiscretizer(4, strategy="uniform"), trees()).fit(X, Y)
    with pytest.raises(ValueError, match=r"onehot encoding not supported"):
        to_onnx(model)


def test_an_imputer_computes_in_float32() -> None:
    rows = X + 1e9
    model = make_pipeline(SimpleImputer(), RFFBoostRegressor(**BRIEF)).fit(rows, Y)
    file = skl2onnx.to_onnx(model[0], initial_types=[("X", DoubleTensorType([None, 3]))], target_opset=13)
    with pytest.raises(ValueError, match="cannot load"):
        open_session(file.SerializeToString())
    with pytest.raises(ValueError, match=r"Imputer.*; export with dtype='float32'"):
        to_onnx(model, dtype="float64")


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_rows_of_zeros_stay_zeros(norm: str) -> None:
    rows = np.where(X > 0.0, X, 0.0)
    model = make_pipeline(Normalizer(norm), RFFBoostRegressor(**BRIEF)).fit(rows, Y)
    found = by_skl2onnx(Normalizer("l1"), 0.0 * rows, DoubleTensorType)
    assert np.isnan(found).all()
    np.testing.assert_allclose(ours(model, rows, dtype="float64"), model.predict(rows), atol=1e-12)


@pytest.mark.parametrize("nested", [False, True])
def test_a_clusterer_predicts_instead_of_transforming(nested: bool) -> None:
    clusters = KMeans(2, n_init=1, random_state=0)
    step: Any = make_pipeline(clusters) if nested else clusters
    model = make_pipeline(step, RFFBoostRegressor(**BRIEF)).fit(X, Y)
    assert by_skl2onnx(clusters.fit(X), X.astype(np.float32)).shape == (300,)
    with pytest.raises(ValueError, match="the steps before the ensemble"):
        to_onnx(model)
