"""Columns of text that hold something else too: read as the estimator reads them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from onnx_export import OnnxPredictor, to_onnx, verify_onnx
from rffboost_ext import RFFBoostRegressor

RNG = np.random.default_rng(0)
PLAIN = ["u", "v", "1"]
ODD = ["\0missing", "\0other", "\0other_", "u"]
"""Categories that look like what marks missing and unseen values."""


def table(categories: list[str], gaps: bool = False) -> pd.DataFrame:
    """A number, and text of these categories."""
    words = np.array([*categories, *RNG.choice(categories, 200)], dtype=object)
    if gaps:
        words[::9] = None
    return pd.DataFrame({"x": RNG.standard_normal(len(words)), "t": pd.Series(words, dtype="category")})


def pair(rows: pd.DataFrame, **params: Any) -> tuple[Any, Any]:
    """A model that tells the categories apart, and its file."""
    y = rows["x"] + 3.0 * rows["t"].cat.codes.to_numpy()
    model = RFFBoostRegressor(learner="tree", n_estimators=15, early_stopping=False, random_state=0, **params).fit(
        rows, y
    )
    return model, to_onnx(model)


def given(*words: Any) -> pd.DataFrame:
    return pd.DataFrame({"x": np.zeros(len(words)), "t": pd.Series(words, dtype=object)})


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("categories", [PLAIN, ODD])
def test_values_that_are_no_text_are_categories_not_seen(categories: list[str], gaps: bool) -> None:
    model, file = pair(table(categories, gaps))
    rows = given(*categories, "u", 1, 2.5, b"u", True, ("u",), "\0missing", "\0other", "\0missing_", "\0", "")
    np.testing.assert_allclose(OnnxPredictor(file).predict(rows), model.predict(rows), atol=1e-5)
    for runtime in ("onnxruntime", "reference"):
        verify_onnx(model, file, rows, runtime=runtime, raise_on_mismatch=True)
    assert np.ptp(model.predict(given(*categories))) > 1.0


@pytest.mark.parametrize("categories", [PLAIN, ODD])
def test_missing_values_beside_others(categories: list[str]) -> None:
    several = [given("u", gap, 1) for gap in (None, np.nan, pd.NA, pd.NaT, float("nan"))]
    for gaps in (True, False):
        model, file = pair(table(categories, gaps=gaps))
        predictor = OnnxPredictor(file)
        for rows in several:
            np.testing.assert_allclose(predictor.predict(rows), model.predict(rows), atol=1e-5)
    model, file = pair(table(categories), missing="error")
    words = "X contains NaN in column 't', which had no missing values in fit"
    for one, rows in product((model, OnnxPredictor(file)), several):
        with pytest.raises(ValueError, match=words):
            one.predict(rows)


@pytest.mark.parametrize("kind", [np.str_, np.bytes_, object])
def test_arrays_of_text_are_verified(kind: type) -> None:
    X = np.array([[str(i % 3), "xy"[i % 2]] for i in range(80)]).astype(kind)
    y = (X[:, 0] == X[0, 0]) + 2.0 * (X[:, 1] == X[0, 1])
    model = RFFBoostRegressor(n_estimators=10, early_stopping=False, random_state=0, categorical_features=[0, 1])
    if kind is np.bytes_:
        with pytest.raises(ValueError, match=r"cannot hold the categories .*a table of text instead"):
            to_onnx(model.fit(X, y))
        return
    verify_onnx(model.fit(X, y), to_onnx(model), X, raise_on_mismatch=True)
