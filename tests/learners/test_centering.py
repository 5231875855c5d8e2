"""Columns of a large offset: trees see them centred, and tell apart what float32 would not."""

from __future__ import annotations

import numpy as np
import pytest

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import RFFBoostRegressor
from rffboost_ext.learners.trees.single_precision import center_columns

RNG = np.random.default_rng(0)
T = RNG.permutation(1_000).astype(float)
Y = np.sin(T / 30.0) + 0.1 * RNG.standard_normal(1_000)
PLAIN = {"learner": "tree", "n_estimators": 20, "random_state": 0}


def fitted(offset: float, **params) -> RFFBoostRegressor:
    return RFFBoostRegressor(**(PLAIN | params)).fit(offset + T[:700, None], Y[:700])


@pytest.mark.parametrize(("learner", "offset"), [("tree", 1.6e9), ("tree", 1e12), ("mixture", -3e8)])
def test_an_offset_changes_nothing(offset: float, learner: str) -> None:
    plain, moved = fitted(0.0, learner=learner), fitted(offset, learner=learner)
    X = T[700:, None]
    # But for the few rows of a split that is nearly tied.
    assert np.isclose(moved.predict(offset + X), plain.predict(X), rtol=1e-4, atol=1e-3).mean() > 0.95
    assert moved.score(offset + X, Y[700:]) > 0.5


@pytest.mark.parametrize("missing", [False, True])
def test_rows_of_the_fit_go_where_xgboost_puts_them(missing: bool) -> None:
    X = np.column_stack([1.6e9 + T, RNG.standard_normal(1_000), 1e9 + 1e-3 * T])
    if missing:
        X[::7, 0] = np.nan
    scores = []
    model = RFFBoostRegressor(**PLAIN, callbacks=[lambda progress: scores.append(progress.raw.copy())]).fit(X, Y)
    np.testing.assert_allclose(model.ensemble_.raw(X), scores[-1], atol=1e-5)


def test_graphs_in_double_precision_are_equal() -> None:
    model, X = fitted(1.6e9, learner="mixture"), 1.6e9 + T[700:, None]
    assert verify_onnx(model, to_onnx(model, dtype="float64"), X)


KELVIN = 280.0 + np.round(RNG.uniform(0.0, 20.0, 500), 2)
TIMES = 1.6e9 + RNG.uniform(0.0, 1e4, 500)
COLUMNS = {
    "normal": (RNG.standard_normal(500), False),
    "kelvin": (KELVIN, False),
    "a large mean": (1e4 + 5.0 * RNG.standard_normal(500), False),
    "years": (RNG.integers(1990, 2020, 500).astype(float), False),
    "whole numbers up to 2^24": (2.0**24 - RNG.integers(0, 9, 500), False),
    "constant": (np.full(500, 1e9 + 0.1), False),
    "heavy tails": (np.exp(5.0 * RNG.standard_normal(500)), False),
    "all missing": (np.full(500, np.nan), False),
    "equal up to rounding": (np.where(np.arange(500) % 2, 0.1 + 0.2, 0.3), False),
    "times": (TIMES, True),
    "times with gaps": (np.where(np.arange(500) % 3, TIMES, np.nan), True),
    "times with zeros": (np.where(np.arange(500) % 20, TIMES, 0.0), True),
    "identifiers": (1e9 + np.arange(500.0), True),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_which_columns_are_centred(name: str) -> None:
    values, wanted = COLUMNS[name]
    found, _ = center_columns(np.column_stack([RNG.standard_normal(500), values]))
    assert (found is not None) == wanted
    if found is not None:
        assert found[0] == 0.0
        distinct = np.unique(values[values == values])
        assert len(np.unique((distinct - found[1]).astype(np.float32))) > 0.9 * len(distinct)
        assert len(np.unique(distinct.astype(np.float32))) < 0.5 * len(distinct)


def test_features_in_single_precision_stay_as_they_are() -> None:
    assert center_columns(TIMES[:, None].astype(np.float32))[0] is None
