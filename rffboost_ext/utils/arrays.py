"""Rows of arrays: sums, hashes and comparisons."""

from __future__ import annotations

from functools import reduce

import numpy as np

from .typing import Array

# Entries of a matrix that are hashed at once.
BLOCK_SIZE = 1 << 19


def row_max(values: Array) -> Array:
    """The largest entry of each row, (n,), computed column by column: faster for few columns."""
    return reduce(np.maximum, values.T)


def row_sum(values: Array) -> Array:
    """The sum of each row, (n,); not by BLAS, whose order of summation may depend on its threads."""
    return reduce(np.add, values.T)


def rows_equal(A: Array, B: Array) -> Array:
    """Mask (n,) of equal rows of two arrays (n, d); NaN equals NaN."""
    equal = A == B
    return np.asarray((equal | (np.isnan(A) & np.isnan(B))).all(axis=1))


def row_hashes(values: Array) -> Array:
    """A 64-bit hash of each row of `values` (n, k), floats: (n,). Equal rows have equal hashes."""
    factor = np.random.default_rng(0).integers(2**63, size=values.shape[1], dtype=np.uint64) * 2 + 1
    key = np.empty(len(values), dtype=np.uint64)
    length = max(1, BLOCK_SIZE // max(1, values.shape[1]))
    for start in range(0, len(values), length):
        rows = slice(start, start + length)
        # Adding 0 turns -0 into 0. The shift mixes the leading bits, the only ones set in small integers.
        numbers = np.ascontiguousarray(values[rows], dtype=np.float64) + 0.0
        # NaN has many bit patterns.
        numbers[np.isnan(numbers)] = np.nan
        bits = numbers.view(np.uint64)
        key[rows] = (bits ^ (bits >> np.uint64(32))) @ factor
    return key


def first_of_equal_rows(key: Array, *arrays: Array) -> tuple[Array, Array]:
    """The rows sorted so that equal ones are neighbours, (n,), and whether each is the first of its run, (n,).

    Parameters
    ----------
    key : ndarray of shape (n,)
        Hashes of the rows, by which they are sorted; ties are in the given order.
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


def require_columns(X: Array, n_features: int) -> None:
    """Raise a ValueError unless X is a matrix of `n_features` columns; compiled code does not check."""
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(f"X must have shape (n, {n_features}), got {X.shape}")


def require_used_columns(X: Array, feature: Array) -> None:
    """Raise a ValueError if X lacks columns whose indices are in `feature`; compiled code does not check."""
    needed = int(feature.max(initial=-1)) + 1
    if X.ndim != 2 or X.shape[1] < needed:
        raise ValueError(f"X must have shape (n, d) with d >= {needed}, got {X.shape}")
