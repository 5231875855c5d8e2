"""Rows of arrays: sums, hashes and comparisons."""

from __future__ import annotations

from functools import reduce

import numpy as np

from .sparse import Rows, SparseRows
from .typing import Array

# Entries of a matrix that are hashed at once.
BLOCK_SIZE = 1 << 19


def row_max(values: Array) -> Array:
    """The largest entry of each row, (n,), computed column by column: faster for few columns."""
    return reduce(np.maximum, values.T)


def row_sum(values: Array) -> Array:
    """The sum of each row, (n,); not by BLAS, whose order of summation may depend on its threads."""
    return reduce(np.add, values.T)


def rows_equal(A: Rows, B: Rows) -> Array:
    """Mask (n,) of equal rows of two matrices (n, d); NaN equals NaN."""
    if isinstance(A, SparseRows):
        # Features are not infinite.
        one, other = (SparseRows.of(X).filled(np.full(A.shape[1], np.inf)).matrix for X in (A, B))
        return np.asarray((one != other).sum(axis=1) == 0)
    equal = A == B
    return np.asarray((equal | (np.isnan(A) & np.isnan(B))).all(axis=1))


def row_hashes(values: Rows) -> Array:
    """A 64-bit hash of each row of `values` (n, k), floats: (n,). Equal rows have equal hashes."""
    factor = np.random.default_rng(0).integers(2**63, size=values.shape[1], dtype=np.uint64) * 2 + 1
    if isinstance(values, SparseRows):
        # The hash of an absent entry is 0.
        return values.with_entries(mixed_bits(values.matrix.data)).matrix @ factor
    key = np.empty(len(values), dtype=np.uint64)
    length = max(1, BLOCK_SIZE // max(1, values.shape[1]))
    for start in range(0, len(values), length):
        rows = slice(start, start + length)
        key[rows] = mixed_bits(values[rows]) @ factor
    return key


def joint_hashes(X: Rows, y: Array) -> Array:
    """A 64-bit hash of each row of X and y together, (n,)."""
    return row_hashes(X) + np.uint64(3) * row_hashes(y)


def mixed_bits(values: Array) -> Array:
    """The bits of numbers, mixed, as uint64; 0 for 0."""
    # Adding 0 turns -0 into 0. The shift mixes the leading bits, the only ones set in small integers.
    numbers = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    # NaN has many bit patterns.
    numbers[np.isnan(numbers)] = np.nan
    bits = numbers.view(np.uint64)
    return bits ^ (bits >> np.uint64(32))


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
