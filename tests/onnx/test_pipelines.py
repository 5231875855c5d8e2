"""Pipelines: scalers become part of the ensemble, other steps go through skl2onnx; ours inside scikit-learn's."""

from __future__ import annotations

from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 4)) * [1.0, 20.0, 0.1, 3.0] + [0.0, 1e4, 5.0, -2.0]
Y = (X[:, 0] + (X[:, 1] - 1e4) / 20 + np.sin(X[:, 3]) > 0).astype(int)
# One learner for each kind of term, and a mixture.
KINDS = ["rff_1", "ridge", "tree", "symmetric_tree", "mixture"]
# Where skl2onnx's own steps compute in float32, as its imputer always does, the columns must be near 0.
NEAR = ((X - X.mean(axis=0)) / X.std(axis=0) + [0.0, 1.0, -1.0, 0.5]).astype(np.float32)


def booster(learner: Any = "rff_1", **params: Any) -> RFFBoostClassifier:
    return RFFBoostClassifier(learner=learner, n_estimators=6, learning_rate=0.5, random_state=0, **params)


@cache
def frame() -> pd.DataFrame:
    """A table of numbers and text."""
    table = pd.DataFrame(NEAR, columns=["a", "b", "c", "d"])
    table["colour"] = np.where(RNG.random(len(X)) < 0.5, "red", "blue")
    return table


def table_pipeline(final: Any, first: Any = None) -> Pipeline:
    """Numbers imputed and scaled, text one-hot encoded, then `final`."""
    numbers = make_pipeline(first or SimpleImputer(), StandardScaler())
    steps = [("numbers", numbers, ["a", "b", "c", "d"]), ("text", OneHotEncoder(), ["colour"])]
    return Pipeline([("columns", ColumnTransformer(steps)), ("final", final)])


SCALERS = (
    (StandardScaler(), "float32"),
    (StandardScaler(with_mean=False), "float64"),
    (StandardScaler(with_std=False), "mixed"),
)


@pytest.mark.parametrize(("learner", "scaler"), [*zip(KINDS, cycle(SCALERS))])
def test_a_scaler_becomes_part_of_the_ensemble(learner: str, scaler: tuple[Any, str]) -> None:
    step, dtype = scaler
    pipeline = make_pipeline(step, "passthrough", booster(learner)).fit(X, Y)
    model = to_onnx(pipeline, dtype=dtype)
    verify_onnx(pipeline, model, X, raise_on_mismatch=True)
    verify_onnx(pipeline, model, X[:5], runtime="reference", raise_on_mismatch=True)
    assert "Scaler" not in {node.op_type for node in model.graph.node}


def test_a_scaled_pipeline_of_cosines_costs_no_node() -> None:
    pipeline = make_pipeline(StandardScaler(), booster()).fit(X, Y)
    plain = booster().fit(X, Y)
    assert len(to_onnx(pipeline).graph.node) <= len(to_onnx(plain).graph.node)


@pytest.mark.parametrize("learner", KINDS)
def test_other_steps_go_through_skl2onnx(learner: str) -> None:
    pipeline = make_pipeline(PCA(4), StandardScaler(), booster(learner)).fit(NEAR.astype(float), Y)
    model = to_onnx(pipeline, dtype="float64")
    verify_onnx(pipeline, model, NEAR.astype(float), raise_on_mismatch=True)
    assert [entry.name for entry in model.graph.output] == ["label", "probabilities", "score"]
    with pytest.raises(ValueError, match="mixed"):
        to_onnx(pipeline, dtype="mixed")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_table_with_text(dtype: str) -> None:
    pipeline = table_pipeline(booster(), SimpleImputer() if dtype == "float32" else MinMaxScaler()).fit(frame(), Y)
    model = to_onnx(pipeline, frame(), dtype=dtype)
    assert [entry.name for entry in model.graph.input] == ["a", "b", "c", "d", "colour"]
    predictor = OnnxPredictor(model)
    verify_onnx(pipeline, model, frame(), raise_on_mismatch=True)
    assert np.abs(predictor.predict_proba(frame()) - pipeline.predict_proba(frame())).max() < 1e-5
    with pytest.raises(ValueError, match=r"without \['colour'\]"):
        predictor.predict(frame()[["a", "b", "c", "d"]])
    with pytest.raises(TypeError, match="X must be a table"):
        predictor.predict(X)


def counted() -> pd.DataFrame:
    """A table with a column of whole numbers and one of text."""
    return pd.DataFrame({"i": np.arange(len(X)) % 7, "b": NEAR[:, 1].astype(float), "colour": frame()["colour"]})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_scaler_of_whole_numbers(dtype: str) -> None:
    steps = [("count", StandardScaler(), ["i"]), ("text", OneHotEncoder(), ["colour"])]
    data = counted()
    pipeline = make_pipeline(ColumnTransformer(steps), booster()).fit(data, Y)
    verify_onnx(pipeline, to_onnx(pipeline, data, dtype=dtype), data, raise_on_mismatch=True)


def test_steps_that_compute_in_float32_are_refused_in_float64() -> None:
    # skl2onnx scales whole numbers in float32.
    numbers = make_pipeline(StandardScaler(), PCA(1))
    data = counted()
    first = ColumnTransformer([("number", numbers, ["i"]), ("text", OneHotEncoder(), ["colour"])])
    pipeline = make_pipeline(first, booster()).fit(data, Y)
    with pytest.raises(ValueError, match=r"an error of .*; export with dtype='float32'"):
        to_onnx(pipeline, data, dtype="float64")
    verify_onnx(pipeline, to_onnx(pipeline, data), data, raise_on_mismatch=True)


@pytest.mark.parametrize("step", [OneHotEncoder(), OrdinalEncoder()])
def test_codes_are_exact_in_float64(step: Any) -> None:
    data = counted()
    steps = [("number", MinMaxScaler(), ["b"]), ("text", step, ["colour"])]
    pipeline = make_pipeline(ColumnTransformer(steps), booster()).fit(data, Y)
    verify_onnx(pipeline, to_onnx(pipeline, data, dtype="float64"), data, raise_on_mismatch=True)


@pytest.mark.parametrize(
    ("steps", "node"),
    [((StandardScaler(), PolynomialFeatures(2), StandardScaler()), "Concat"), ((SimpleImputer(),), "Imputer")],
)
def test_steps_whose_graph_cannot_run(steps: Any, node: str) -> None:
    pipeline = make_pipeline(*steps, booster()).fit(NEAR, Y)
    with pytest.raises(ValueError, match=rf"{node}.*; export with dtype='float32'") as caught:
        to_onnx(pipeline, dtype="float64")
    assert "\n" not in str(caught.value)
    to_onnx(pipeline)
