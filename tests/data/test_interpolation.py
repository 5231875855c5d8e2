"""Rows between two others of their class, as SMOTE makes them, are found, and held out with neither parent."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import LOSSES, RFFBoostClassifier
from rffboost_ext.boosting.early_stopping.validation_split import validation_splits
from rffboost_ext.data.dataset import Dataset
from rffboost_ext.data.interpolation import find_parents, observed_rows

Array = np.ndarray
N, N_RARE, N_MADE = 400, 40, 300


def rows_of(X: Array, y: Array) -> Dataset:
    return Dataset(X, y[:, None].astype(float), np.ones(len(y)))


def oversampled(X: Array, seed: int = 1) -> tuple[Array, Array, Array]:
    """The rows, the first of them of the rare class, with rows between a rare one and one of its 5 nearest."""
    rng = np.random.default_rng(seed)
    distances = ((X[:N_RARE, None] - X[:N_RARE]) ** 2).sum(axis=2)
    first = rng.integers(N_RARE, size=N_MADE)
    second = np.argsort(distances, axis=1)[first, rng.integers(1, 6, N_MADE)]
    made = X[first] + rng.random((N_MADE, 1)) * (X[second] - X[first])
    order = rng.permutation(N + N_MADE)
    parents = np.r_[np.full((N, 2), -1), np.sort(np.c_[first, second], axis=1)]
    place = np.argsort(order)
    parents = np.where(parents < 0, -1, place[parents])[order]
    y = np.r_[np.arange(N) < N_RARE, np.ones(N_MADE)].astype(int)
    return np.r_[X, made][order], y[order], np.sort(parents, axis=1)


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("d", [3, 6, 60])
def test_both_parents_are_found(kind, d: int) -> None:
    X = np.random.default_rng(0).standard_normal((N, d))
    X, y, parents = oversampled(X * np.geomspace(1e-3, 1e3, d))
    found = find_parents(rows_of(X.astype(kind), y), seed=0)
    assert np.mean((np.sort(found, axis=1) == parents).all(axis=1)) > (0.9 if d == 3 else 0.98)
    assert not (found[y == 0] >= 0).any()


def test_columns_of_categories_and_gaps_are_ignored() -> None:
    rng = np.random.default_rng(0)
    X, y, parents = oversampled(rng.standard_normal((N, 4)))
    codes, gaps = rng.integers(0, 3, len(X)), np.where(rng.random(len(X)) < 0.2, np.nan, X[:, 0])
    found = find_parents(rows_of(np.c_[codes, X, gaps], y), seed=0)
    assert np.mean((np.sort(found, axis=1) == parents).all(axis=1)) > 0.95


def continuous(rng: np.random.Generator) -> Array:
    return rng.standard_normal((600, 5))


def of_two_columns(rng: np.random.Generator) -> Array:
    return rng.standard_normal((600, 2))


def on_a_line(rng: np.random.Generator) -> Array:
    return np.outer(rng.standard_normal(600), [1.0, 2.0, 3.0])


def on_a_grid(rng: np.random.Generator) -> Array:
    return rng.integers(0, 200, (600, 3)) / 7.0


def with_a_straight_class(rng: np.random.Generator) -> Array:
    return np.r_[np.outer(np.arange(120.0), [1.0, 2.0, 3.0]), rng.standard_normal((480, 3))]


def clustered(rng: np.random.Generator) -> Array:
    return rng.standard_normal((20, 5))[rng.integers(0, 20, 600)] + 1e-6 * rng.standard_normal((600, 5))


@pytest.mark.parametrize(
    "make", [continuous, of_two_columns, on_a_line, on_a_grid, with_a_straight_class, clustered]
)
def test_other_rows_are_not(make) -> None:
    X = make(np.random.default_rng(0))
    for y in (np.arange(600) < 120, X[:, 0] > np.quantile(X[:, 0], 0.8), np.arange(600) % 5 == 0):
        assert all(find_parents(rows_of(X, y), seed) is None for seed in range(3))


@pytest.mark.parametrize("n_folds", [1, 4])
def test_no_parent_is_held_out_beside_its_rows(n_folds: int) -> None:
    X, y, parents = oversampled(np.random.default_rng(0).standard_normal((N, 6)))
    data, is_made = rows_of(X, y), parents[:, 0] >= 0
    held_once = []
    for kept, held in validation_splits(data, n_folds, 0.2, 0, LOSSES.create("log_loss")):
        out = np.flatnonzero((data.X[:, None] == held.X).all(axis=2).any(axis=1))
        assert not is_made[out].any()
        assert not set(kept) & set(out)
        assert not np.isin(parents[kept], out).any()
        # All others are kept.
        assert len(kept) == len(y) - len(out) - np.isin(parents, out).any(axis=1).sum()
        held_once.extend(out)
    if n_folds > 1:
        assert sorted(held_once) == np.flatnonzero(~is_made).tolist()


def test_parents_have_the_weight_of_their_rows() -> None:
    X, y, parents = oversampled(np.random.default_rng(0).standard_normal((N, 6)))
    observed = observed_rows(rows_of(X, y), parents)
    assert [observed.weight[observed.y[:, 0] == c].sum() for c in (0, 1)] == [N - N_RARE, N_RARE + N_MADE]
    assert len(observed) == N


def test_a_fit_is_not_misled() -> None:
    """In noise there is nothing to find, and a model that remembers seems to have found it."""
    rng = np.random.default_rng(0)
    X, y, _ = oversampled(rng.standard_normal((N, 8)))
    model = RFFBoostClassifier(random_state=0).fit(X, y)
    assert model.validation_scores_.min() > 0.9 * model.validation_scores_[0]
    assert np.abs(model.decision_function(rng.standard_normal((200, 8)))).mean() < 1.0
