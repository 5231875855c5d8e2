"""Which rows are held out: a single validation set, or folds."""

from __future__ import annotations

import numpy as np

from ..core import Loss
from ..data.dataset import Dataset
from ..utils.typing import Array

# Minimum and maximum size of the validation set.
LEAST_HELD_OUT, MOST_HELD_OUT = 20, 20_000
# Up to this number of rows each of them matters, and models are quick to train.
FEW = 3_000
# The index of all rows, without a copy of them.
ALL_ROWS = slice(None)


def default_n_folds(n_samples: int, stacks: bool, always: bool = False) -> int:
    """The default number of folds: several with few rows, or `always`, else 1."""
    several = always or n_samples <= FEW
    suitable = (5 if stacks else 4) if several else 1
    return max(1, min(suitable, n_samples // 2))


def is_accepted(loss: Loss, y: Array, weight: Array) -> bool:
    """Whether a loss can be fitted to these targets alone."""
    try:
        loss.prepared(y, weight)
    except ValueError:
        return False
    return True


def order_by_target(rows: Dataset, seed: int) -> Array:
    """The rows in the order of their targets, of several of the first; those of equal target in random order."""
    order = np.random.default_rng(seed).permutation(len(rows))
    return order[np.argsort(rows.y[order, 0], kind="stable")]


def assign_folds(rows: Dataset, n_folds: int, seed: int) -> Array:
    """The fold of each row, (n,), stratified by class, or along the range of a real target."""
    fold = np.empty(len(rows), dtype=np.int64)
    fold[order_by_target(rows, seed)] = np.arange(len(rows)) % n_folds
    return fold


def only_rows_of_class(loss: Loss, y: Array) -> Array:
    """Which rows (n,) are the only ones of their class: without them a model would give it probability 0."""
    if loss.task != "classification":
        return np.zeros(len(y), dtype=bool)
    _, codes, counts = np.unique(y[:, 0], return_inverse=True, return_counts=True)
    return np.asarray(counts[codes] == 1)


def thinned_validation_set(held: Dataset, loss: Loss, seed: int) -> Dataset:
    """What early stopping looks at of the held-out rows: at most about `MOST_HELD_OUT`, weighted for all."""
    if len(held) <= MOST_HELD_OUT:
        return held
    chances = held.probabilities(loss, loss.baseline(held.y, held.weight), MOST_HELD_OUT)
    return held.drawn(np.random.default_rng([seed, 1]), chances, MOST_HELD_OUT)


def holdout_mask(rows: Dataset, fraction: float, seed: int) -> Array:
    """Which rows (n,) to hold out: a systematic sample along the target, so that classes have their share.

    Of few rows at least `LEAST_HELD_OUT` (or half of them) are held out.
    """
    n = len(rows)
    size = max(int(fraction * n), min(LEAST_HELD_OUT, n // 2))
    place = (np.arange(size) + np.random.default_rng(seed).random()) * (n / size)
    held = np.zeros(n, dtype=bool)
    held[order_by_target(rows, seed)[place.astype(np.int64)]] = True
    return held
