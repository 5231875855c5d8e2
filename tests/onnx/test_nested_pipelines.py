"""Pipelines in pipelines, tables that differ from those of the fit, and steps that do not fit their graphs."""

from __future__ import annotations

from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 4)) * [1.0, 2.0, 3.0, 4.0]
Y = (X[:, 0] + np.sin(X[:, 1]) > 0).astype(int)
TABLE = pd.DataFrame(X, columns=list("abcd"))


def booster() -> RFFBoostClassifier:
    return RFFBoostClassifier("log_loss", "rff_newton", n_estimators=6, early_stopping=False, random_state=0)


INNER = {
    "a pipeline": lambda: make_pipeline(PCA(4), booster()),
    "fewer columns": lambda: make_pipeline(PCA(2), booster()),
    "a scaler": lambda: make_pipeline(StandardScaler(), booster()),
    "a search": lambda: GridSearchCV(make_pipeline(PCA(3), booster()), {"pca__whiten": [False, True]}, cv=2),
    "two deep": lambda: make_pipeline(PCA(3), make_pipeline(MinMaxScaler(), booster())),
    "nothing": lambda: make_pipeline(booster()),
}


OUTER = [(MinMaxScaler(), "float64"), (StandardScaler(), "float32")]


@pytest.mark.parametrize(("kind", "outer"), [*zip(INNER, cycle(OUTER))])
def test_steps_of_inner_pipelines_belong_to_the_graph(kind, outer):
    first, dtype = outer
    model = make_pipeline(first, INNER[kind]()).fit(X, Y)
    file = to_onnx(model, dtype=dtype)
    verify_onnx(model, file, X, raise_on_mismatch=True)
    tol = 1e-4 if dtype == "float32" else 1e-7
    np.testing.assert_allclose(OnnxPredictor(file).predict_proba(X), model.predict_proba(X), rtol=0, atol=tol)


def by_name() -> BaseEstimator:
    return ColumnTransformer([("scaled", StandardScaler(), ["a", "c"])], remainder="passthrough")


@pytest.mark.parametrize("change", [lambda t: t[list("cbda")], lambda t: t.assign(e=1.0)[list("ecbda")]])
def test_a_table_may_have_its_columns_in_any_order_and_more_of_them(change):
    model = make_pipeline(by_name(), booster()).fit(TABLE, Y)
    file = to_onnx(model, change(TABLE))
    assert [entry.name for entry in file.graph.input] == list("abcd")
    verify_onnx(model, file, TABLE, raise_on_mismatch=True)
    np.testing.assert_array_equal(OnnxPredictor(file).predict(change(TABLE)), model.predict(TABLE))


@pytest.mark.parametrize("change", [lambda t: t[list("abc")], lambda t: t.rename(columns={"d": "e"})])
def test_a_table_without_a_column_of_the_fit_is_refused(change):
    model = make_pipeline(MinMaxScaler(), booster()).fit(TABLE, Y)
    with pytest.raises(ValueError, match=r"X must have the columns .* of the fit, got .* without \['d'\]"):
        to_onnx(model, change(TABLE))


def test_a_table_for_steps_that_know_no_names_has_as_many_columns():
    model = make_pipeline(MinMaxScaler(), booster()).fit(X, Y)
    with pytest.raises(ValueError, match="X must have 4 columns, as at the fit, got"):
        to_onnx(model, TABLE[["a", "b"]])


def test_a_step_whose_graph_has_other_columns_is_refused():
    gaps = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    model = make_pipeline(SimpleImputer(add_indicator=True), booster()).fit(gaps, Y)
    with pytest.raises(ValueError, match="the steps before the ensemble have no graph that runs on X"):
        to_onnx(model)


def test_functions_of_steps_are_kept():
    gaps = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    model = make_pipeline(KNNImputer(), booster()).fit(gaps, Y)
    verify_onnx(model, to_onnx(model, opset=18), gaps, raise_on_mismatch=True)


def test_whole_numbers_beside_real_ones_are_not_rounded_silently():
    mixed = pd.DataFrame({"a": X[:, 0], "i": RNG.integers(0, 10**9, len(X))})
    model = make_pipeline(MinMaxScaler(), RFFBoostRegressor(n_estimators=4)).fit(mixed, X[:, 0])
    verify_onnx(model, to_onnx(model, mixed, dtype="float64"), mixed, raise_on_mismatch=True)
    verify_onnx(model, to_onnx(model, mixed), mixed, raise_on_mismatch=True)


@pytest.mark.parametrize("given", ["steps", "text", "plain"])
def test_no_rows_are_no_predictions(given):
    models: dict[str, tuple[Any, Any]] = {
        "steps": (make_pipeline(MinMaxScaler(), booster()), TABLE.assign(a=np.arange(len(TABLE)))),
        "text": (booster(), TABLE.assign(a=pd.Categorical(np.where(Y, "p", "q")))),
        "plain": (booster(), X),
    }
    model, data = models[given]
    file = to_onnx(model.fit(data, Y), data, opset=18)
    with pytest.raises(ValueError, match="X must have at least one row, got shape"):
        verify_onnx(model, file, data[:0])
    assert OnnxPredictor(file).predict(data[:0]).shape == (0,)
    assert OnnxPredictor(file).predict_proba(data[:0]).shape == (0, 2)


@pytest.mark.parametrize("values", [[0.1, 0.2, 1 / 3], [2.0**24, 2.0**24 + 1.0], [2**60, 2**60 + 1]])
def test_categories_that_the_inputs_cannot_hold(values):
    table = TABLE.assign(a=pd.Categorical(RNG.choice(values, len(TABLE))))
    model = booster().fit(table, Y)
    for dtype in ("float32", "mixed"):
        with pytest.raises(ValueError, match="inputs of type float32 cannot hold the categories"):
            to_onnx(model, dtype=dtype)
    if isinstance(values[0], float):
        verify_onnx(model, to_onnx(model, dtype="float64"), table, raise_on_mismatch=True)
        return
    with pytest.raises(ValueError, match=r"cannot hold the categories .* as they are; fit to a table of text"):
        to_onnx(model, dtype="float64")
