"""Copies of a row are one row of the sum of their weights, in fits that hold out rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.data.dataset import MIN_DISTINCT, Dataset, are_rows_of, merge_copies

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * RNG.standard_normal(120)


def dataset(X: np.ndarray, y: np.ndarray, **fields: np.ndarray) -> Dataset:
    return Dataset(X, y.astype(float).reshape(len(y), -1), fields.pop("weight", np.ones(len(y))), **fields)


def with_gaps(X: np.ndarray) -> pd.DataFrame:
    table = pd.DataFrame(X, columns=["a", "b", "c"]).mask(np.arange(X.size).reshape(X.shape) % 7 == 0)
    return table.assign(kind=pd.Categorical(np.where(X[:, 1] > 0.0, "up", "down")))


@pytest.mark.parametrize("make", [RFFBoostRegressor, RFFBoostClassifier])
@pytest.mark.parametrize("table", [np.asarray, with_gaps, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("params", [{}, {"n_folds": 1, "learner": "rff_ridge"}], ids=str)
def test_a_row_several_times_is_a_row_of_that_weight(make, table, params) -> None:
    rows = np.r_[np.arange(120), RNG.integers(0, 120, 150)]
    features, y = table(X), Y > 0.0 if make is RFFBoostClassifier else Y
    taken = features.iloc[rows] if hasattr(features, "iloc") else features[rows]
    model = make(n_estimators=8, random_state=0, **params)
    repeated = model.fit(taken, y[rows]).ensemble_.raw(model.encoder_.transform(features))
    counted = model.fit(features, y, sample_weight=np.bincount(rows)).ensemble_
    np.testing.assert_array_equal(repeated, counted.raw(model.encoder_.transform(features)))


def test_rows_are_merged_in_order_and_weights_added() -> None:
    rows = np.r_[np.arange(60), [5, 5, 0]]
    merged = merge_copies(dataset(X[rows], Y[rows], weight=np.r_[np.ones(60), 2.0, 3.0, 0.5]))
    np.testing.assert_array_equal(merged.X, X[:60])
    np.testing.assert_array_equal(merged.y[:, 0], Y[:60])
    np.testing.assert_array_equal(merged.weight, np.r_[1.5, np.ones(4), 6.0, np.ones(54)])


def test_copies_in_different_groups_stay() -> None:
    rows = np.r_[np.arange(60), np.arange(60)]
    group = np.r_[np.zeros(60), np.ones(30), np.zeros(30)].astype(np.int64)
    merged = merge_copies(dataset(X[rows], Y[rows], group=group))
    np.testing.assert_array_equal(merged.group, group[:90])


@pytest.mark.parametrize("n", [MIN_DISTINCT - 1, MIN_DISTINCT])
def test_few_distinct_rows_stay(n: int) -> None:
    rows = dataset(X[np.arange(3 * n) % n], Y[np.arange(3 * n) % n])
    assert len(merge_copies(rows)) == (3 * n if n < MIN_DISTINCT else n)
    assert len(merge_copies(rows, min_distinct=n + 1)) == 3 * n


@pytest.mark.parametrize("n_levels", [3, 6])
@pytest.mark.parametrize("share", [0.5, 0.05, 0.01])
def test_equal_rows_of_a_table_of_few_values_stay(n_levels: int, share: float) -> None:
    """Each is an observation: held out with its equals, the others of the same features would contradict them."""
    cells = RNG.integers(0, n_levels, (2_000, 4)).astype(float)
    y = RNG.random(2_000) < np.where(cells[:, 0] > 0.0, share, 2.0 * share)
    rows = dataset(cells, y)
    assert merge_copies(rows) is rows
    # The minority class twenty times, in a table of few values and some more of its own.
    own = dataset(np.c_[cells, RNG.random(2_000)], y)
    often = np.r_[np.arange(2_000), np.repeat(np.flatnonzero(y), 20)]
    assert len(merge_copies(own.take(often))) == 2_000


def test_distinct_rows_are_returned_themselves() -> None:
    rows = dataset(X, Y, weight=RNG.random(120) + 0.1)
    assert merge_copies(rows) is rows


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_rows_of_the_training_set_are_found_in_any_order_and_precision(kind) -> None:
    some = RNG.permutation(120)[:50]
    other = dataset(np.r_[X[some], X[:40] + 1.0].astype(kind), np.r_[Y[some], Y[:40]])
    np.testing.assert_array_equal(are_rows_of(dataset(X, Y), other), np.arange(90) < 50)


def test_new_rows_of_a_table_of_few_values_are_new() -> None:
    cells = RNG.integers(0, 4, (600, 3)).astype(float)
    y = RNG.random(600) < 0.2 + 0.2 * cells[:, 0]
    assert not are_rows_of(dataset(cells[:400], y[:400]), dataset(cells[400:], y[400:])).any()


@pytest.mark.parametrize("learner", ["auto", "tree"])
def test_copies_matter_only_where_rows_are_held_out(learner: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        RFFBoostRegressor(learner=learner, n_estimators=3, random_state=0).fit(np.r_[X, X], np.r_[Y, Y])
    assert not caught
