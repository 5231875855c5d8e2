"""Split of rows for early stopping: a single validation set, or folds."""

from __future__ import annotations

import numpy as np

from ...core import Loss
from ...data.dataset import Dataset, Index
from ...utils.typing import Array

# Minimum and maximum size of the validation set.
MIN_HELD_OUT, MAX_HELD_OUT = 20, 20_000
# Up to this number of rows each of them matters, and models are quick to train.
FEW = 3_000
# The index of all rows, without a copy of them.
ALL_ROWS = slice(None)


def default_n_folds(n_samples: int, stacks: bool, always: bool = False) -> int:
    """The default number of folds: several with few rows, or `always`, else 1."""
    several = always or n_samples <= FEW
    suitable = (5 if stacks else 4) if several else 1
    return max(1, min(suitable, n_samples // 2))


def can_be_fitted(loss: Loss, y: Array, weight: Array) -> bool:
    """Whether a loss can be fitted to these targets alone."""
    try:
        loss.prepared(y, weight)
    except ValueError:
        return False
    return True


def order_by_target(rows: Dataset, seed: int) -> Array:
    """The indices of the rows, sorted by the (first) target; rows of equal target in random order."""
    order = np.random.default_rng(seed).permutation(len(rows))
    return order[np.argsort(rows.y[order, 0], kind="stable")]


def assign_folds(rows: Dataset, n_folds: int, seed: int) -> Array:
    """The fold of each row, (n,), stratified by class, or along the range of a real target."""
    fold = np.empty(len(rows), dtype=np.int64)
    fold[order_by_target(rows, seed)] = np.arange(len(rows)) % n_folds
    return fold


def only_rows_of_class(loss: Loss, y: Array) -> Array:
    """Whether each row is the only one of its class, (n,); a model without it predicts probability 0."""
    if loss.task != "classification":
        return np.zeros(len(y), dtype=bool)
    _, codes, counts = np.unique(y[:, 0], return_inverse=True, return_counts=True)
    return np.asarray(counts[codes] == 1)


def sample_validation_set(held: Dataset, loss: Loss, seed: int) -> Dataset:
    """A sample of about `MAX_HELD_OUT` held-out rows, weighted to represent all; all rows if there are no more."""
    if len(held) <= MAX_HELD_OUT:
        return held
    probability = held.sampling_probabilities(loss, loss.baseline(held.y, held.weight), MAX_HELD_OUT)
    return held.sample(np.random.default_rng([seed, 1]), probability, MAX_HELD_OUT)


def holdout_mask(rows: Dataset, fraction: float, seed: int) -> Array:
    """Whether to hold out each row, (n,): a systematic sample along the target, and so stratified by class.

    At least `MIN_HELD_OUT` rows are held out, or half of the rows if these are fewer.
    """
    n = len(rows)
    size = max(int(fraction * n), min(MIN_HELD_OUT, n // 2))
    place = (np.arange(size) + np.random.default_rng(seed).random()) * (n / size)
    held = np.zeros(n, dtype=bool)
    held[order_by_target(rows, seed)[place.astype(np.int64)]] = True
    return held


def validation_splits(
    data: Dataset, n_folds: int, fraction: float, seed: int, loss: Loss
) -> list[tuple[Index, Dataset]]:
    """One division of the rows: for each model the rows to fit to, and its validation set."""
    if n_folds == 1:
        fold = np.where(holdout_mask(data, fraction, seed), 0, -1)
    else:
        fold = assign_folds(data, n_folds, seed)
    parts = range(n_folds)
    without_singles = np.where(only_rows_of_class(loss, data.y), -1, fold)
    if np.isin(parts, without_singles).all():
        fold = without_singles
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in parts]
    # One fold may hold the only non-zero target, without which a loss cannot be fitted.
    usable = [
        (kept, out) for kept, out in splits if can_be_fitted(loss, data.y[kept], data.weight[kept])
    ] or splits
    return [(kept, sample_validation_set(data.take(out), loss, seed)) for kept, out in usable]
