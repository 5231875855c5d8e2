"""Steps before an ensemble: names of their columns, rounding by themselves, and gaps that they fill or refuse."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from onnx import ModelProto, numpy_helper
from sklearn.base import BaseEstimator
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, Normalizer, PowerTransformer, StandardScaler

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from onnx_export.predictor import CHUNK_ELEMENTS
from rffboost_ext import ConformalRegressor, RFFBoostClassifier, RFFBoostRegressor

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = (X[:, 0] + np.sin(2 * X[:, 1]) > 0).astype(int)
NAMES = {
    "plain": ["age", "income", "rent"],
    "blanks": ["mean radius", "mean_radius", "area (m)"],
    "numbers": [0, 1, 2],
    "outputs": ["score", "label", "X"],
    "doubtful": ["score", "score_", "variable"],
    "steps": ["embedded.variable", "embedded", "merged columns"],
}


def table(names: list[Any]) -> pd.DataFrame:
    return pd.DataFrame(X, columns=names)


def pipeline_of(names: list[Any]) -> Pipeline:
    """Some columns scaled, in another order and one of them twice, before a small model."""
    first = make_column_transformer((MinMaxScaler(), names[::-1]), (MinMaxScaler(), names[:1]))
    return make_pipeline(first, RFFBoostClassifier("log_loss", "rff_newton", n_estimators=5, random_state=0))


@pytest.mark.parametrize("kind", NAMES)
def test_inputs_have_the_names_of_the_columns(kind: str) -> None:
    names = NAMES[kind]
    rows = table(names)
    pipeline = pipeline_of(names).fit(rows, Y)
    model = to_onnx(pipeline, rows, dtype="float64")
    inputs = [entry.name for entry in model.graph.input]
    if kind not in ("outputs", "doubtful", "steps"):
        assert inputs == [str(name) for name in names]
    assert len({*inputs, *(entry.name for entry in model.graph.output)}) == len(inputs) + len(model.graph.output)
    verify_onnx(pipeline, model, rows, raise_on_mismatch=True)
    predictor, wanted = OnnxPredictor(model), pipeline.predict_proba(rows)
    for given in (rows, rows[names[::-1]], rows.assign(more=1.0)):
        np.testing.assert_allclose(predictor.predict_proba(given), wanted, atol=1e-12)
    with pytest.raises(ValueError, match=rf"without \['{names[1]}'\]"):
        predictor.predict(rows[names[::2]])


def test_columns_that_no_step_reads() -> None:
    rows = table(["used", "not used", "used too"])
    first = make_column_transformer((MinMaxScaler(), ["used", "used too"]))
    pipeline = make_pipeline(
        first, RFFBoostClassifier("log_loss", "rff_newton", n_estimators=5, random_state=0)
    ).fit(rows, Y)
    verify_onnx(pipeline, to_onnx(pipeline, rows), rows, raise_on_mismatch=True)


@pytest.mark.parametrize(
    ("step", "learner"),
    [(PowerTransformer(), "rff_newton"), (Normalizer(), "mixture"), (PCA(5), "rff_newton"), (PCA(5), "mixture")],
)
def test_steps_are_compared_by_themselves(step: BaseEstimator, learner: str) -> None:
    data, y = load_breast_cancer(return_X_y=True)
    model = RFFBoostClassifier(learner=learner, n_estimators=10, early_stopping=False, random_state=0)
    pipeline = make_pipeline(step, model).fit(data[:300], y[:300])
    report = verify_onnx(pipeline, to_onnx(pipeline), data[300:])
    assert 0.0 < report["steps"].error <= report["steps"].tolerance
    assert report["score"].passed
    # A row of which rounding changes the leaf of a tree is no equal row.
    assert learner == "mixture" or report.passed
    assert "steps" in str(report)


def broken(model: ModelProto, factor: float) -> ModelProto:
    """The model with the first constant of the steps, of real numbers, times a factor."""
    worse = ModelProto()
    worse.CopyFrom(model)
    for node in worse.graph.node:
        for attribute in node.attribute:
            if node.op_type == "Scaler" and attribute.name == "scale":
                attribute.floats[:] = [factor * value for value in attribute.floats]
                return worse
    for entry in worse.graph.initializer:
        values = numpy_helper.to_array(entry)
        if entry.name.startswith("embedded.") and values.dtype.kind == "f":
            entry.CopyFrom(numpy_helper.from_array(values * values.dtype.type(factor), entry.name))
            return worse
    raise AssertionError("the steps have no real constant")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_steps_that_are_converted_wrongly_are_found(dtype: str) -> None:
    pipeline = make_pipeline(
        PCA(3), RFFBoostClassifier("log_loss", "rff_newton", n_estimators=5, random_state=0)
    ).fit(X, Y)
    model = to_onnx(pipeline, dtype=dtype)
    report = verify_onnx(pipeline, broken(model, 1.01), X)
    assert not report.passed
    assert not report["steps"].passed
    assert report["score"].passed
    assert "steps" not in str(verify_onnx(pipeline[-1], to_onnx(pipeline[-1]), X))


TARGET = X[:, 0] + X[:, 1]
HOLED = X.copy()
HOLED[::7, 1] = np.nan
"""Gaps in one column."""


def with_gap(column: int, rows: Any = X) -> np.ndarray:
    """Rows with a gap in the last one."""
    found = rows[-4:].copy()
    found[-1, column] = np.nan
    return found


def regressor(learner: str = "mixture", **params: Any) -> RFFBoostRegressor:
    return RFFBoostRegressor(learner=learner, n_estimators=6, early_stopping=False, random_state=0, **params)


def only_first(final: Any) -> Any:
    return make_pipeline(make_column_transformer((SimpleImputer(), [0]), remainder="passthrough"), final)


STEPS: dict[str, Any] = {
    "scaled": lambda final: make_pipeline(MinMaxScaler(), final),
    "twice": lambda final: make_pipeline(MinMaxScaler(), StandardScaler(), final),
    "folded": lambda final: make_pipeline(StandardScaler(), final),
    "nested": lambda final: make_pipeline(MinMaxScaler(), make_pipeline(MinMaxScaler(), final)),
}


@pytest.mark.parametrize(
    ("kind", "learner", "rows"),
    [*((kind, "tree", HOLED) for kind in STEPS), ("scaled", "mixture", X), ("folded", "rff_newton", HOLED)],
)
def test_gaps_pass_steps_where_fit_saw_some_only(kind: str, learner: str, rows: np.ndarray) -> None:
    steps = STEPS[kind]
    pipeline = steps(regressor(learner, missing="error")).fit(rows, TARGET)
    predictor = OnnxPredictor(to_onnx(pipeline))
    for column in range(3):
        given = with_gap(column)
        if column == 1 and rows is HOLED:
            np.testing.assert_allclose(predictor.predict(given), pipeline.predict(given), atol=1e-5)
            continue
        for model in (pipeline, predictor, pickle.loads(pickle.dumps(predictor))):
            with pytest.raises(
                ValueError, match=rf"X contains NaN .*column {column}, which had no missing values"
            ):
                model.predict(given)
    filling = steps(regressor(learner)).fit(rows, TARGET)
    given = np.where(np.random.default_rng(1).random(X.shape) < 0.3, np.nan, X)
    np.testing.assert_allclose(OnnxPredictor(to_onnx(filling)).predict(given), filling.predict(given), atol=1e-5)


@pytest.mark.parametrize(
    "steps", [lambda final: make_pipeline(SimpleImputer(), MinMaxScaler(), final), only_first]
)
def test_gaps_that_a_step_fills_are_allowed(steps: Any) -> None:
    pipeline = steps(regressor()).fit(X, TARGET)
    predictor, given = OnnxPredictor(to_onnx(pipeline)), with_gap(0)
    np.testing.assert_allclose(predictor.predict(given), pipeline.predict(given), atol=1e-5)


def test_gaps_that_a_step_spreads_are_refused() -> None:
    # The pipeline's own step refuses them; its graph does not.
    pipeline = make_pipeline(PCA(2), regressor()).fit(X, TARGET)
    for model in (pipeline, OnnxPredictor(to_onnx(pipeline))):
        with pytest.raises(ValueError, match="NaN"):
            model.predict(with_gap(2))


def test_every_output_of_a_table_is_watched() -> None:
    table = pd.DataFrame(X, columns=list("abc"))
    classifier = RFFBoostClassifier("log_loss", "rff_newton", n_estimators=5, missing="error")
    labels = make_pipeline(MinMaxScaler(), classifier)
    ends = ConformalRegressor(make_pipeline(MinMaxScaler(), regressor(missing="error")), random_state=0)
    files: dict[Any, tuple[str, ...]] = {
        labels.fit(table, TARGET > 0.0): ("predict", "predict_proba", "decision_function"),
        ends.fit(table, TARGET): ("predict", "predict_interval"),
    }
    for model, methods in files.items():
        predictor = OnnxPredictor(to_onnx(model, table))
        for method in methods:
            assert len(getattr(predictor, method)(table)) == len(table)
            with pytest.raises(ValueError, match="X contains NaN in column 'c'"):
                getattr(predictor, method)(table.assign(c=np.nan))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_chunk_is_watched(n_jobs: int) -> None:
    pipeline = make_pipeline(MinMaxScaler(), regressor(missing="error")).fit(X, TARGET)
    predictor = OnnxPredictor(to_onnx(pipeline), n_jobs=n_jobs)
    many = np.resize(X, (3 * CHUNK_ELEMENTS // 6, 3))
    assert predictor.predict(many).shape == (len(many),)
    many[-1, 0] = np.nan
    with pytest.raises(ValueError, match="X contains NaN in column 0"):
        predictor.predict(many)
