"""Rows of arrays: sums, hashes and comparisons."""

from __future__ import annotations

from functools import reduce

import numpy as np

from .sparse import Rows, row_hashes, rows_equal
from .typing import Array


def row_max(values: Array) -> Array:
    """The largest entry of each row, (n,), computed column by column: faster for few columns."""
    return reduce(np.maximum, values.T)


def row_sum(values: Array) -> Array:
    """The sum of each row, (n,); not by BLAS, whose order of summation may depend on its threads."""
    return reduce(np.add, values.T)


def joint_hashes(X: Rows, y: Array) -> Array:
    """A 64-bit hash of each row of X and y together, (n,)."""
    return row_hashes(X) + np.uint64(3) * row_hashes(y)


def first_of_equal_rows(key: Array, *arrays: Rows) -> tuple[Array, Array]:
    """The rows sorted so that equal ones are neighbours, (n,), and whether each is the first of its run, (n,).

    Parameters
    ----------
    key : ndarray of shape (n,)
        Hashes of the rows, by which they are sorted; ties keep their order.
    arrays : ndarray of shape (n, k)
        Rows are equal if they are equal in each of these; NaN equals NaN.
    """
    order = np.argsort(key, kind="stable")
    first = np.ones(len(key), dtype=bool)
    tied = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    one, next_one = order[tied], order[tied + 1]
    first[tied + 1] = ~np.logical_and.reduce([rows_equal(values[one], values[next_one]) for values in arrays])
    return order, first


def arrays_equal(one: Array | None, other: Array | None) -> bool:
    """Whether two arrays are equal, or both are None."""
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def require_n_features(X: Rows, n_features: int) -> None:
    """Raise a ValueError unless X is a matrix of `n_features` columns; compiled code does not check."""
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(f"X must have shape (n, {n_features}), got {X.shape}")


def require_used_columns(X: Rows, feature: Array) -> None:
    """Raise a ValueError if X lacks columns whose indices are in `feature`; compiled code does not check."""
    needed = int(feature.max(initial=-1)) + 1
    if X.ndim != 2 or X.shape[1] < needed:
        raise ValueError(f"X must have shape (n, d) with d >= {needed}, got {X.shape}")
