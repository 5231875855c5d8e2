"""Properties that programs which change or read files rely on."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from onnx import numpy_helper
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from onnx_export import to_onnx
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

from .oracle import DTYPES


@cache
def table() -> tuple[pd.DataFrame, Any]:
    """A table with gaps, text, numbers that are categories, and a column without any value; and its labels."""
    rng = np.random.default_rng(0)
    town, number = rng.choice(list("abc"), 120), rng.choice([1, 2, 5], 120)
    X = pd.DataFrame({"x": rng.normal(size=120), "town": pd.Categorical(town), "number": pd.Categorical(number)})
    X.loc[::7, ["x", "town"]] = np.nan
    return X, ((X["x"] > 0.3) | (X["town"] == "a")).astype(int)


@cache
def model_of(name: str) -> Any:
    """A fitted model of a kind."""
    X, y = table()
    numbers = X[["x", "number"]].assign(empty=pd.Categorical([None] * len(X), categories=[1.0]))
    trees: dict[str, Any] = {"learner": "tree", "n_estimators": 5, "early_stopping": False, "random_state": 0}
    if name == "pipeline":
        return make_pipeline(MinMaxScaler(), RFFBoostRegressor(**trees)).fit(X[["number"]], y)
    if name == "default":
        return RFFBoostClassifier(quality="fast", random_state=0).fit(X, y)
    return RFFBoostClassifier(**trees).fit(X if name == "trees" else numbers, y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["default", "trees", "numbers", "pipeline"])
def test_nodes_have_names_and_constants_are_numbers(name: str, dtype: str) -> None:
    graph = to_onnx(model_of(name), dtype="float64" if name == "pipeline" else dtype).graph
    names = [node.name for node in graph.node]
    assert len({*names, ""}) == len(names) + 1
    arrays = {entry.name: numpy_helper.to_array(entry) for entry in graph.initializer}
    real = {name: array for name, array in arrays.items() if array.dtype.kind == "f" and array.shape}
    assert not [name for name, array in real.items() if np.isnan(array).any()]
