"""Scalers and sparse steps before XGBoost: files send every row where the pipeline sends it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    PowerTransformer,
    RobustScaler,
    StandardScaler,
)
from xgboost import XGBClassifier

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext.interop import xgboost as rxgb

RNG = np.random.default_rng(0)
X = RNG.normal(size=(800, 4)) * 10 + 50
Y = (np.sin(X[:, 0]) + RNG.normal(size=800) > 0).astype(int)
SCALERS: dict[str, Any] = {
    "standard": StandardScaler(),
    "min-max": MinMaxScaler((-1, 1)),
    "max-abs": MaxAbsScaler(),
    "robust": RobustScaler(),
    "chain": make_pipeline(StandardScaler(), MinMaxScaler()),
    "selected": make_pipeline(StandardScaler(), SelectKBest(k=2)),
    "columns": ColumnTransformer(
        [("a", StandardScaler(), [3, 0]), ("b", make_pipeline(RobustScaler(), MaxAbsScaler()), [1])],
        remainder="passthrough",
    ),
}
ROWS = {
    "float64": X,
    "float32": X.astype(np.float32),
    "float32 as float64": X.astype(np.float32).astype(float),
    "whole numbers": np.round(X),
    "decimals": np.round(X, 2),
}


def boosted(*steps: Any, cls: Any = XGBClassifier) -> Any:
    return make_pipeline(*steps, cls(n_estimators=20, max_depth=4, n_jobs=1))


def largest_error(pipeline: Any, dtype: str, rows: np.ndarray) -> float:
    found = OnnxPredictor(to_onnx(pipeline, dtype=dtype)).predict_proba(rows)
    return float(np.abs(found - pipeline.predict_proba(rows)).max())


# Each scaler, and each kind of numbers with two of them.
SCALED = [(name, "decimals") for name in SCALERS]
SCALED += [(name, kind) for name in ("standard", "columns") for kind in ROWS if kind != "decimals"]


@pytest.mark.parametrize(("scaler", "kind"), SCALED)
def test_training_rows_are_on_their_side_of_thresholds(scaler: str, kind: str) -> None:
    rows = ROWS[kind]
    pipeline = boosted(SCALERS[scaler]).fit(rows, Y)
    assert largest_error(pipeline, "float32", rows) < 1e-5
    verify_onnx(pipeline, to_onnx(pipeline), rows, raise_on_mismatch=True)
    if rows.dtype == np.float64:
        assert largest_error(pipeline, "float64", rows) < 1e-5


@pytest.mark.parametrize(
    "step", [TfidfTransformer(), Normalizer(), make_pipeline(Normalizer("l1"), StandardScaler())]
)
def test_rows_divided_by_norms_are_on_their_side_of_thresholds(step: Any) -> None:
    pipeline = boosted(step).fit(COUNTS, Y)
    assert largest_error(pipeline, "float32", COUNTS) < 1e-5
    verify_onnx(pipeline, to_onnx(pipeline), COUNTS, raise_on_mismatch=True)


def test_rows_that_rounding_moves_are_no_equal_rows() -> None:
    # Neighbours in float32, whose classes differ, and which the rounding of powers exchanges.
    rows, steps = RNG.normal(size=(800, 4)), RNG.integers(0, 4, 400)
    rows[:400, 0] = 1.5 + steps * np.spacing(np.float32(1.5))
    pipeline = boosted(PowerTransformer()).fit(rows, np.r_[steps % 2, Y[400:]])
    report = verify_onnx(pipeline, to_onnx(pipeline), rows)
    assert largest_error(pipeline, "float32", rows) > 0.01
    assert report["score"].passed
    assert not report.passed
    assert "of 800 rows" in str(report)


COUNTS = RNG.poisson(1.0, (800, 4)).astype(float)
SPARSE: dict[str, Any] = {
    "one-hot": [OneHotEncoder(handle_unknown="ignore")],
    "scaled one-hot": [OneHotEncoder(handle_unknown="ignore"), MaxAbsScaler()],
    "selected one-hot": [OneHotEncoder(handle_unknown="ignore"), SelectKBest(k=5)],
    "zeros after a scaler": [
        ColumnTransformer([("code", OneHotEncoder(), [0]), ("range", MinMaxScaler(), [1])], sparse_threshold=1.0)
    ],
}


@pytest.mark.parametrize("cls", [XGBClassifier, rxgb.XGBClassifier], ids=["missing to XGBoost", "zeros to ours"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("steps", SPARSE.values(), ids=SPARSE)
def test_absent_entries_are_read_as_by_the_estimator(steps: Any, dtype: str, cls: Any) -> None:
    pipeline = boosted(*steps, cls=cls).fit(COUNTS, Y)
    assert sp.issparse(pipeline[:-1].transform(COUNTS))
    model = to_onnx(pipeline, dtype=dtype)
    found = OnnxPredictor(model).predict_proba(COUNTS)
    assert np.abs(found - pipeline.predict_proba(COUNTS)).max() < 1e-5
    verify_onnx(pipeline, model, COUNTS, raise_on_mismatch=True)
