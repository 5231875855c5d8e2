"""Scalers and sparse steps before XGBoost: files send every row where the pipeline sends it."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.cluster import KMeans
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
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


def largest_error(pipeline: Any, file: Any, rows: np.ndarray) -> float:
    found = OnnxPredictor(file).predict_proba(rows)
    return float(np.abs(found - pipeline.predict_proba(rows)).max())


def assert_on_their_side(pipeline: Any, rows: np.ndarray) -> None:
    """A file gives the probabilities of the pipeline for rows of its fit."""
    file = to_onnx(pipeline)
    assert largest_error(pipeline, file, rows) < 1e-5
    verify_onnx(pipeline, file, rows, raise_on_mismatch=True)


# Two scalers have all operations.
ON_SIDES = [(name, kind) for name in SCALERS for kind in [*ROWS][: 5 if name in ("standard", "min-max") else 1]]


@pytest.mark.parametrize(("name", "kind"), ON_SIDES)
def test_training_rows_are_on_their_side_of_thresholds(name: str, kind: str) -> None:
    rows = ROWS[kind]
    pipeline = boosted(SCALERS[name]).fit(rows, Y)
    assert_on_their_side(pipeline, rows)
    if rows.dtype == np.float64:
        assert largest_error(pipeline, to_onnx(pipeline, dtype="float64"), rows) < 1e-5


@pytest.mark.parametrize(
    "step", [TfidfTransformer(), Normalizer(), make_pipeline(Normalizer("l1"), StandardScaler())]
)
def test_rows_divided_by_norms_are_on_their_side_of_thresholds(step: Any) -> None:
    assert_on_their_side(boosted(step).fit(COUNTS, Y), COUNTS)


def test_rows_that_rounding_moves_are_no_equal_rows() -> None:
    # Neighbours in float32, whose classes differ, and which the rounding of powers exchanges.
    rows, steps = RNG.normal(size=(800, 4)), RNG.integers(0, 4, 400)
    rows[:400, 0] = 1.5 + steps * np.spacing(np.float32(1.5))
    pipeline = boosted(PowerTransformer()).fit(rows, np.r_[steps % 2, Y[400:]])
    file = to_onnx(pipeline)
    report = verify_onnx(pipeline, file, rows)
    assert largest_error(pipeline, file, rows) > 0.01
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
@pytest.mark.parametrize(("kind", "dtype"), [*zip(SPARSE, cycle(["float32", "float64"]))])
def test_absent_entries_are_read_as_by_the_estimator(kind: str, dtype: str, cls: Any) -> None:
    pipeline = boosted(*SPARSE[kind], cls=cls).fit(COUNTS, Y)
    assert sp.issparse(pipeline[:-1].transform(COUNTS))
    file = to_onnx(pipeline, dtype=dtype)
    assert largest_error(pipeline, file, COUNTS) < 1e-5
    verify_onnx(pipeline, file, COUNTS, raise_on_mismatch=True)


REFUSED: dict[str, list[Any]] = {
    "SimpleImputer gets a sparse matrix here and may store zeros in it": [OneHotEncoder(), SimpleImputer()],
    "onehot encoding not supported": [KBinsDiscretizer(4, strategy="uniform")],
    # skl2onnx returns its labels.
    "the steps before the ensemble": [KMeans(2, n_init=1, random_state=0)],
    "the steps before the ensemble.*": [make_pipeline(KMeans(2, n_init=1, random_state=0))],
}


@pytest.mark.parametrize("words", REFUSED)
def test_steps_that_skl2onnx_converts_wrongly_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match=words):
        to_onnx(boosted(*REFUSED[words]).fit(COUNTS, Y))


@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_rows_of_zeros_stay_zeros(norm: str) -> None:
    pipeline = boosted(Normalizer(norm), cls=rxgb.XGBClassifier).fit(COUNTS, Y)
    assert not COUNTS.any(axis=1).all()
    assert largest_error(pipeline, to_onnx(pipeline, dtype="float64"), COUNTS) < 1e-6


@pytest.mark.parametrize("step", [Normalizer(), OneHotEncoder()], ids=str)
def test_old_operator_sets_are_refused(step: Any) -> None:
    with pytest.raises(ValueError, match=r"opset must be at least 11 for (rows|steps)"):
        to_onnx(boosted(step).fit(COUNTS, Y), opset=9)
