"""Split of rows for early stopping: a single validation set, or folds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import heapreplace
from typing import Any

import numpy as np

from ...contracts.fit import baseline_of
from ...core import Loss, Observations
from ...rows.dataset import Dataset, Index
from ...utils.param_validation import Check
from ...utils.typing import Array

# Minimum and maximum size of the validation set.
MIN_HELD_OUT, MAX_HELD_OUT = 20, 20_000
# The index of all rows, without a copy of them.
ALL_ROWS = slice(None)


def can_be_fitted(loss: Loss, rows: Observations) -> bool:
    """Whether a loss can be fitted to these targets alone."""
    try:
        baseline_of(loss.prepared(rows.target(loss), rows.weight), rows)
        return True
    except ValueError:
        return False


def has_best_scores(loss: Loss, rows: Dataset) -> bool:
    """Whether a loss has a minimum for some rows.

    It has none if it is constant, as for queries of one document each, or decreases without end, as for rows of
    one class or censored times.
    """
    is_of_labels = loss.task == "classification" and not loss.multilabel
    if (is_of_labels and np.ptp(rows.y[:, 0]) == 0.0) or not can_be_fitted(loss, rows.observations):
        return False
    baseline = baseline_of(loss, rows.observations)
    moves = np.random.default_rng(0).standard_normal((len(rows), len(baseline)))
    moves *= 0.1 * np.maximum(1.0, np.abs(baseline))
    # At a single point the gradient may be 0.
    return any(rows.observations.derivatives(loss, baseline + one)[0].any() for one in (moves, -moves))


def ordered_units(rows: Dataset, seed: int) -> tuple[Array, Array, Index]:
    """What is held out as a whole, rows or groups of rows, in the order of their (mean) targets.

    The result is this order of the units, in which those of equal target are in random order; the number of rows
    of each unit; and the unit of each row.
    """
    target, size, unit = rows.y[:, 0], np.ones(len(rows), dtype=np.int64), None
    if rows.group is not None:
        _, unit, size = np.unique(rows.group, return_inverse=True, return_counts=True)
        target = np.bincount(unit, target) / size
    order = np.random.default_rng(seed).permutation(len(size))
    return order[np.argsort(target[order], kind="stable")], size, ALL_ROWS if unit is None else unit


def assign_folds(rows: Dataset, n_folds: int, seed: int) -> Array:
    """The fold of each row, (n,), stratified by class, or along the range of a real target.

    Sorted by target, the units go to the fold with the fewest rows each, and so to all in turn if they are single
    rows.
    """
    order, sizes, of_row = ordered_units(rows, seed)
    fold = np.empty(len(order), dtype=np.int64)
    if rows.group is None:
        fold[order] = np.arange(len(order)) % n_folds
        return fold
    smallest = [(0, k) for k in range(n_folds)]
    for unit, size in zip(order.tolist(), sizes[order].tolist(), strict=True):
        n_rows, fold[unit] = smallest[0]
        heapreplace(smallest, (n_rows + size, smallest[0][1]))
    return np.asarray(fold[of_row])


def only_rows_of_class(loss: Loss, rows: Dataset) -> Array:
    """Whether a row or its group is the only one of a class, (n,); a model without it predicts probability 0."""
    if loss.task != "classification":
        return np.zeros(len(rows), dtype=bool)
    # Classes are few, and their inverse would sort all rows.
    codes = np.searchsorted(np.unique(rows.y[:, 0]), rows.y[:, 0])
    if rows.group is None:
        return np.asarray((np.bincount(codes) == 1)[codes])
    _, unit = np.unique(rows.group, return_inverse=True)
    classes, units = np.divmod(np.unique(codes * len(rows) + unit), len(rows))
    return np.isin(unit, units[(np.bincount(classes) == 1)[classes]])


def sample_validation_set(held: Dataset, loss: Loss, seed: int) -> Dataset:
    """A sample of about `MAX_HELD_OUT` held-out rows, weighted to represent all; all rows if there are no more."""
    if len(held) <= MAX_HELD_OUT:
        return held
    probability = held.sampling_probabilities(loss, baseline_of(loss, held.observations), MAX_HELD_OUT)
    return held.sample(np.random.default_rng([seed, 1]), probability, MAX_HELD_OUT)


def holdout_mask(rows: Dataset, fraction: float, seed: int) -> Array:
    """Whether to hold out each row, (n,): a systematic sample along the target, and so stratified by class.

    At least `MIN_HELD_OUT` rows are held out, or half of the rows if these are fewer; of groups as many as have
    about so many rows, one at least.
    """
    order, _, of_row = ordered_units(rows, seed)
    n = len(order)
    least = math.ceil(MIN_HELD_OUT * n / len(rows))
    size = max(int(fraction * n), min(least, n // 2))
    place = (np.arange(size) + np.random.default_rng(seed).random()) * (n / size)
    held = np.zeros(n, dtype=bool)
    held[order[place.astype(np.int64)]] = True
    return np.asarray(held[of_row])


def validation_splits(
    data: Dataset, n_folds: int, fraction: float, seed: int, loss: Loss
) -> list[tuple[Index, Dataset]]:
    """One division of the rows: for each model the rows to fit to, and its validation set."""
    if n_folds == 1:
        fold = np.where(holdout_mask(data, fraction, seed), 0, -1)
    else:
        fold = assign_folds(data, n_folds, seed)
    parts = range(n_folds)
    without_singles = np.where(only_rows_of_class(loss, data), -1, fold)
    if np.isin(parts, without_singles).all():
        fold = without_singles
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in parts]
    rows = data.observations
    # One fold may hold the only non-zero target, without which a loss cannot be fitted.
    usable = [(kept, out) for kept, out in splits if can_be_fitted(loss, rows.take(kept))] or splits
    return [(kept, sample_validation_set(data.take(out), loss, seed)) for kept, out in usable]


class SplitterCheck(Check):
    """Splitters as those of scikit-learn, such as ``TimeSeriesSplit``."""

    def fits(self, value: object) -> bool:
        is_object = not isinstance(value, type | str)
        return is_object and callable(getattr(value, "split", None)) and hasattr(value, "get_n_splits")

    def __str__(self) -> str:
        return "a splitter of scikit-learn"


def splits_of(what: str, splitter: Any, X: Any, y: Any, groups: Any, used: Array) -> list[tuple[Array, Array]]:
    """The rows to fit to and to hold out that a splitter finds, as indices of the rows in use.

    Parameters
    ----------
    what : str
        The estimator and its parameter, for messages.
    splitter : splitter
    X, y, groups : array-like of shape (n, ...)
        What the fit got.
    used : ndarray of shape (n,)
        Whether each row is used: it has a positive weight.

    Raises
    ------
    ValueError
        If there is no split, or one has no rows to fit to or to hold out, or others than those of X.
    """
    place, splits = np.where(used, np.cumsum(used) - 1, -1), []
    for number, parts in enumerate(splitter.split(X, y, groups)):
        parts = [np.asarray(part) for part in parts]
        if any(part.max(initial=-1) >= len(used) for part in parts):
            raise ValueError(f"{what} must split the {len(used)} rows of X, got {splitter!r}")
        kept, held = (place[part][place[part] >= 0] for part in parts)
        if not (len(kept) and len(held)):
            raise ValueError(
                f"{what} must leave rows to fit and rows to hold out, got {len(kept)} and "
                f"{len(held)} in split {number} of {splitter!r}"
            )
        splits.append((kept, held))
    if not splits:
        raise ValueError(f"{what} must split the rows, got no split of {splitter!r}")
    return splits


def require_undivided_groups(owner: str, rows: Dataset, splits: Sequence[tuple[Array, Array]]) -> None:
    """Raise a ValueError if a split divides a group of coupled rows, such as a query."""
    if rows.coupling == "groups" and rows.group is not None:
        for kept, held in splits:
            if np.isin(rows.group[held], rows.group[kept]).any():
                raise ValueError(f"{owner}: validation_fraction must not divide groups of coupled rows")
