"""Rows of arrays: sums, hashes and comparisons."""

from __future__ import annotations

from functools import reduce

import numpy as np
from scipy.sparse import csr_array

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
        return sparse_rows_equal(A, B)
    equal = A == B
    return np.asarray((equal | (np.isnan(A) & np.isnan(B))).all(axis=1))


def sparse_rows_equal(A: Rows, B: Rows) -> Array:
    """As :func:`rows_equal`, of sparse rows."""
    one, other = (SparseRows.of(part).matrix for part in (A, B))
    differing = (one != other).tocoo()
    if np.isnan(one.data).any() and np.isnan(other.data).any():
        row, column = differing.coords
        both = np.isnan(one[row, column]) & np.isnan(other[row, column])
        differing.data[both] = False
    return np.bincount(differing.coords[0], differing.data, len(A)) == 0.0


def row_hashes(values: Rows) -> Array:
    """A 64-bit hash of each row of `values` (n, k), floats: (n,). Equal rows have equal hashes."""
    factor = np.random.default_rng(0).integers(2**63, size=values.shape[1], dtype=np.uint64) * 2 + 1
    if isinstance(values, SparseRows):
        # The hash of an absent entry is 0.
        mixed = csr_array(
            (mixed_bits(values.matrix.data), values.matrix.indices, values.matrix.indptr), values.shape
        )
        return mixed @ factor
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


def require_columns(X: Rows, n_features: int) -> None:
    """Raise a ValueError unless X is a matrix of `n_features` columns; compiled code does not check."""
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(f"X must have shape (n, {n_features}), got {X.shape}")


def require_used_columns(X: Rows, feature: Array) -> None:
    """Raise a ValueError if X lacks columns whose indices are in `feature`; compiled code does not check."""
    needed = int(feature.max(initial=-1)) + 1
    if X.ndim != 2 or X.shape[1] < needed:
        raise ValueError(f"X must have shape (n, d) with d >= {needed}, got {X.shape}")
