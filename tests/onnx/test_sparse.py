"""Sparse matrices and texts: a graph of a dense matrix gives the scores of the sparse model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array, csr_matrix
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler
from xgboost import XGBClassifier

from onnx_export import OnnxPredictor, inputs, save_onnx, to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier, load_model
from rffboost_ext.utils import sparse

RNG = np.random.default_rng(0)
N = 120
DENSE = np.where(RNG.random((N, 8)) < 0.3, RNG.normal(size=(N, 8)), 0.0)
Y = (DENSE[:, 0] + np.abs(DENSE[:, 1]) > 0.2).astype(int)
WORDS = np.array(["ball", "goal", "bank", "loan", "the", "of"])
TABLE = pd.DataFrame(
    {"colour": RNG.choice(["red", "blue"], N), "size": RNG.choice(["s", "m", "l"], N), "x": DENSE[:, 0]}
)
TABLE["text"] = [" ".join(RNG.choice(WORDS[2 * k : 2 * k + 4], 5)) for k in Y]
PIPELINES: dict[str, tuple[Any, Any]] = {
    "matrix": (MaxAbsScaler(), csr_matrix(DENSE)),
    "codes": (OneHotEncoder(), TABLE[["colour", "size"]]),
    "array of codes": (OneHotEncoder(), TABLE[["colour", "size"]].to_numpy(object)),
    "texts": (TfidfVectorizer(), TABLE["text"].tolist()),
    "counts": (make_pipeline(CountVectorizer(), StandardScaler(with_mean=False)), TABLE["text"]),
    "all": (
        make_column_transformer(
            (TfidfVectorizer(), "text"), (OneHotEncoder(), ["colour"]), (StandardScaler(), ["x"])
        ),
        TABLE,
    ),
}


@pytest.fixture(params=[False, True], ids=["small", "large"])
def is_large(request: Any, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether all matrices go the way of large ones."""
    if request.param:
        monkeypatch.setattr(sparse, "MOST_BYTES", 0)
        monkeypatch.setattr(sparse, "MOST_ENTRIES", 1.0)
    return bool(request.param)


def classifier(**options: Any) -> RFFBoostClassifier:
    return RFFBoostClassifier(**{"n_estimators": 8, "early_stopping": False, "random_state": 0} | options)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("learner", ["tree", "symmetric_tree", "rff_newton", "lasso", "mixture"])
def test_a_matrix(learner: str, dtype: str, is_large: bool, tmp_path: Path) -> None:
    given = DENSE.copy()
    given[::7, 2] = np.nan
    X = csr_matrix(given)
    model = classifier(learner=learner).fit(X, Y)
    save_onnx(model, tmp_path / "model.onnx", X, dtype=dtype)
    model.save_model(tmp_path / "model.rffboost")
    for other in (model, load_model(tmp_path / "model.rffboost")):
        verify_onnx(other, tmp_path / "model.onnx", csc_array(X), raise_on_mismatch=True)
    predictor, wanted = OnnxPredictor(tmp_path / "model.onnx"), model.predict_proba(X)
    for rows in (X, X.tocoo(), given, pd.DataFrame.sparse.from_spmatrix(X)):
        np.testing.assert_allclose(predictor.predict_proba(rows), wanted, atol=1e-5)


@pytest.mark.parametrize("kind", PIPELINES)
def test_a_pipeline(kind: str, is_large: bool) -> None:
    steps, X = PIPELINES[kind]
    pipeline = make_pipeline(steps, classifier()).fit(X, Y)
    model = to_onnx(pipeline, X, dtype="float64" if is_large else "float32")
    verify_onnx(pipeline, model, X, raise_on_mismatch=True)
    np.testing.assert_allclose(OnnxPredictor(model).predict_proba(X), pipeline.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("kind", ["matrix", "all"])
def test_blocks_of_rows(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    steps, X = PIPELINES[kind]
    pipeline = make_pipeline(steps, classifier()).fit(X, Y)
    model, rows = to_onnx(pipeline, X), []
    whole, found = verify_onnx(pipeline, model, X), OnnxPredictor(model).predict_proba(X)
    monkeypatch.setattr(inputs, "BLOCK", 256)
    monkeypatch.setattr(OnnxPredictor, "_run_rows", run_and_count(OnnxPredictor._run_rows, rows))
    np.testing.assert_allclose(OnnxPredictor(model).predict_proba(X), found, rtol=1e-6)
    report = verify_onnx(pipeline, model, X)
    assert report.passed
    assert report.rows == sum(rows) == N > max(rows)
    assert report["score"].error == pytest.approx(whole["score"].error, rel=0.5)
    wrong = pipeline.fit(X, 1 - Y)
    assert not verify_onnx(wrong, model, X)


def run_and_count(run: Any, rows: list[int]) -> Any:
    """A method that notes the number of rows of each call."""

    def counted(predictor: OnnxPredictor, output: str, feed: dict[str, np.ndarray]) -> np.ndarray:
        rows.append(len(next(iter(feed.values()))))
        return run(predictor, output, feed)

    return counted


def test_an_absent_entry_is_missing_to_models_of_xgboost() -> None:
    X = csr_matrix(DENSE)
    model = XGBClassifier(n_estimators=5, max_depth=3).fit(X, Y)
    file = to_onnx(model)
    verify_onnx(model, file, X, raise_on_mismatch=True)
    verify_onnx(model, file, DENSE, raise_on_mismatch=True)
    predictor = OnnxPredictor(file)
    assert np.abs(model.predict_proba(X) - model.predict_proba(DENSE)).max() > 0.01
    for rows in (X, DENSE):
        np.testing.assert_allclose(predictor.predict_proba(rows), model.predict_proba(rows), atol=1e-6)
