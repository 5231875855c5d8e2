"""Sparse matrices and texts: a graph of a dense matrix gives the scores of the sparse model."""

from __future__ import annotations

from itertools import cycle
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


def classifier(**options: Any) -> RFFBoostClassifier:
    brief = {"learner": "rff_newton", "n_estimators": 8, "early_stopping": False, "random_state": 0}
    return RFFBoostClassifier(**brief | options)


# With so many columns a matrix stays sparse.
WIDTHS = [*zip(["tree", "symmetric_tree", "rff_newton", "lasso", "mixture"], cycle([8, 1_100]))]


@pytest.mark.parametrize(("learner", "width"), WIDTHS)
def test_a_matrix(learner: str, width: int, tmp_path: Path) -> None:
    given = np.zeros((N, width))
    given[:, -8:] = DENSE
    given[::7, -6] = np.nan
    X = csr_matrix(given)
    model = classifier(learner=learner).fit(X, Y)
    save_onnx(model, tmp_path / "model.onnx", X, dtype="float32" if width == 8 else "float64")
    model.save_model(tmp_path / "model.rffboost")
    for other in (model, load_model(tmp_path / "model.rffboost")):
        verify_onnx(other, tmp_path / "model.onnx", csc_array(X), raise_on_mismatch=True)
    predictor, wanted = OnnxPredictor(tmp_path / "model.onnx"), model.predict_proba(X)
    for rows in (X, X.tocoo(), given, pd.DataFrame.sparse.from_spmatrix(X)):
        np.testing.assert_allclose(predictor.predict_proba(rows), wanted, atol=1e-5)


@pytest.mark.parametrize(("kind", "dtype"), [*zip(PIPELINES, cycle(["float32", "float64"]))])
def test_a_pipeline(kind: str, dtype: str) -> None:
    steps, X = PIPELINES[kind]
    pipeline = make_pipeline(steps, classifier()).fit(X, Y)
    model = to_onnx(pipeline, X, dtype=dtype)
    verify_onnx(pipeline, model, X, raise_on_mismatch=True)
    found = OnnxPredictor(model).predict_proba(X)
    np.testing.assert_allclose(found, pipeline.predict_proba(X), atol=1e-5)
    pipeline[-1].classes_ = pipeline[-1].classes_[::-1]
    assert not verify_onnx(pipeline, model, X)


def test_many_columns_are_read_in_blocks_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X, rows = csr_matrix((5 * N, 2**13)), []
    X[:, :8] = np.tile(DENSE, (5, 1))
    pipeline = make_pipeline(MaxAbsScaler(), classifier(learner="tree")).fit(X, np.tile(Y, 5))
    model = to_onnx(pipeline)
    monkeypatch.setattr(OnnxPredictor, "_run_rows", run_and_count(OnnxPredictor._run_rows, rows))
    found = OnnxPredictor(model).predict_proba(X)
    size = inputs.BLOCK // 2**13 + 1
    assert rows == [size, 5 * N - size]
    np.testing.assert_allclose(found, pipeline.predict_proba(X), atol=1e-5)
    assert verify_onnx(pipeline, model, X, raise_on_mismatch=True).rows == 5 * N


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
