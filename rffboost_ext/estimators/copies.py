"""Copies of a row among those of a conformal regressor, which either calibrate or are fitted to."""

from __future__ import annotations

import numpy as np

from ..utils.arrays import first_of_equal_rows, joint_hashes, row_hashes
from ..utils.typing import Array

# Copies are merged if at least this many distinct rows remain, and at least this share of all rows. A table of
# fewer has all possible rows many times.
MIN_DISTINCT, MIN_DISTINCT_SHARE = 40, 0.05
# Equal rows are copies if the odds that rows of equal features have equal targets are this many times the odds for
# any two rows. Over real tables of few values the ratio is 1 to 5, over those with copies above 1,000.
MIN_ODDS_RATIO = 20.0


def find_copies(X: Array, y: Array) -> tuple[Array, Array] | None:
    """The distinct rows, (u,), in their order, and the number of that which each row is a copy of, (n,).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Features.
    y : ndarray of shape (n, C)
        Targets.

    Returns
    -------
    tuple or None
        None if no rows are to be merged: rows are equal by coincidence, or too few would remain.
    """
    order, first = first_of_equal_rows(joint_hashes(X, y), X, y)
    n_distinct = int(first.sum())
    if n_distinct == len(X) or n_distinct < max(MIN_DISTINCT, MIN_DISTINCT_SHARE * len(X)):
        return None
    if agree_by_chance(row_hashes(X), row_hashes(y), order, first):
        return None
    original = np.empty(len(X), dtype=np.int64)
    original[order] = order[first][np.cumsum(first) - 1]
    distinct, code = np.unique(original, return_inverse=True)
    return distinct, code


def agree_by_chance(features: Array, target: Array, order: Array, first: Array) -> bool:
    r"""Whether rows are equal because few different ones are possible, and not because they were copied.

    Such tables also have rows of equal features whose targets differ. The odds that two rows of equal features
    have equal targets, on average over these rows, are compared with the odds for rows of different features.

    Parameters
    ----------
    features, target : ndarray of shape (n,)
        Hashes of the features and of the target of each row.
    order, first : ndarray of shape (n,)
        The rows sorted by equality, and whether each starts a run of equal rows.
    """
    run = np.cumsum(first) - 1
    equal = np.bincount(run)
    cell, alike = (np.unique(values[order], return_inverse=True)[1] for values in (features, target))
    same_features, same_target = np.bincount(cell), np.bincount(alike)
    others = same_features[cell] - 1
    agreement = ((equal[run] - 1)[others > 0] / others[others > 0]).mean()
    agreeing = sum_of_squares(same_target) - sum_of_squares(equal)
    differing = len(order) ** 2 - sum_of_squares(same_features) - agreeing
    return bool(agreement * differing < MIN_ODDS_RATIO * (1.0 - agreement) * agreeing)


def sum_of_squares(counts: Array) -> float:
    """The number of ordered pairs, each with itself too, of groups of some sizes."""
    return float(np.square(counts.astype(np.float64)).sum())
