"""Rows of a sparse matrix, which read like an array."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy.sparse import csc_array, csr_array, issparse

from .typing import Array

# A matrix with more columns, or more bytes as an array of doubles, stays sparse if it has few entries but 0.
MOST_COLUMNS, MOST_BYTES, MOST_ENTRIES = 1_000, 2**28, 0.1
# Bytes of a block of dense rows, and number of sparse rows that are evaluated at once.
BLOCK_BYTES, BLOCK_ROWS = 2**24, 2_048
# Entries of an array that are hashed at once.
HASHED = 2**19


class SparseRows:
    """Rows of a sparse matrix; an absent entry is 0.

    ``X[rows]`` are some of the rows, ``X[:, columns]`` is an array. ``np.asarray(X)`` is all of it as an array.

    Parameters
    ----------
    matrix : csr_array of shape (n, d)
        Without stored zeros, with sorted indices, of float32 or float64.
    """

    ndim = 2

    def __init__(self, matrix: csr_array) -> None:
        self.matrix = matrix

    @classmethod
    def of(cls, X: Any) -> SparseRows:
        """The rows of an array or a sparse matrix, which is not changed."""
        if isinstance(X, SparseRows):
            return X
        matrix = canonical(X)
        matrix = matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)
        if not matrix.data.all():
            matrix = matrix.copy()
            matrix.eliminate_zeros()
        return cls(matrix)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.matrix.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the entries."""
        return self.matrix.dtype

    @cached_property
    def columns(self) -> csc_array:
        """The same matrix, stored by columns."""
        return self.matrix.tocsc()

    @property
    def counts(self) -> Array:
        """Number of stored entries of each column, (d,)."""
        return np.bincount(self.matrix.indices, minlength=self.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Any:
        # scikit-learn takes rows as X[rows, ...].
        rows, columns = index if isinstance(index, tuple) else (index, ...)
        if columns is ...:
            return SparseRows(self.matrix[rows])
        if np.ndim(columns) == 0:
            return self.columns[rows, [columns]].toarray()[:, 0]
        return self.columns[rows, columns].toarray()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return self.matrix.toarray().astype(self.dtype if dtype is None else dtype, copy=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"matrix": self.matrix}

    def astype(self, dtype: Any, copy: bool = True) -> SparseRows:
        """The same rows in another precision."""
        return self if self.dtype == dtype else SparseRows(self.matrix.astype(dtype))

    def means(self, weight: Array) -> Array:
        """The weighted mean of each column, without missing values, (d,)."""
        missing = self.with_entries(np.isnan(self.matrix.data).astype(np.float64))
        total = weight.sum() - weight @ missing.matrix
        sums = weight @ self.filled(np.zeros(self.shape[1])).matrix
        return np.divide(sums, total, out=np.zeros(self.shape[1]), where=total > 0.0)

    def filled(self, values: Array) -> SparseRows:
        """The same rows with `values` (d,) in place of missing entries."""
        missing = np.isnan(self.matrix.data)
        if not missing.any():
            return self
        return self.with_entries(np.where(missing, values[self.matrix.indices], self.matrix.data))

    def with_entries(self, values: Array) -> SparseRows:
        """The same rows with other entries in place of the stored ones."""
        return SparseRows(csr_array((values, self.matrix.indices, self.matrix.indptr), self.shape))

    def sum(self) -> float:
        """The sum of all entries; NaN if one is missing."""
        return float(self.matrix.data.sum(dtype=np.float64))

    def blocks(self) -> Iterator[Array]:
        """Consecutive rows as arrays of bounded size."""
        size = 1 + BLOCK_BYTES // (8 * max(1, self.shape[1]))
        return (np.asarray(self[start : start + size]) for start in range(0, len(self), size))


Rows: TypeAlias = Array | SparseRows
"""Features of rows, (n, d)."""


def row_slices(X: Rows) -> list[slice]:
    """Rows that are evaluated at once: all of an array, some of sparse rows, whose columns are copied."""
    if not isinstance(X, SparseRows):
        return [slice(None)]
    return [slice(start, start + BLOCK_ROWS) for start in range(0, len(X), BLOCK_ROWS)]


def is_finite(X: Rows) -> bool:
    """Whether all entries of X (n, d) are finite, and their sum."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def columns_with(what: Callable[[Array], Array], X: Rows) -> Array:
    """Whether each column of X (n, d) has an entry of some kind that 0 is not of, (d,)."""
    if not isinstance(X, SparseRows):
        return np.asarray(what(X).any(axis=0))
    return np.bincount(X.matrix.indices, what(X.matrix.data), X.shape[1]) > 0


def is_sparse(X: Any) -> bool:
    """Whether X is a sparse matrix or array of SciPy, or :class:`SparseRows`."""
    return issparse(X) or isinstance(X, SparseRows)


def canonical(X: Any) -> csr_array:
    """A matrix by rows, with sorted indices; duplicates are summed in its type, as `toarray` does."""
    matrix = csr_array(X)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    return matrix


def compressed(X: Any) -> Rows:
    """A matrix as an array, or as sparse rows if it is wide or large and few of its entries are not 0.

    A sparse matrix and the same one as an array have one result.

    Parameters
    ----------
    X : ndarray, sparse matrix or SparseRows of shape (n, d)
    """
    if isinstance(X, SparseRows):
        return X
    if 8 * X.shape[0] * X.shape[1] > MOST_BYTES or X.shape[1] > MOST_COLUMNS:
        X = canonical(X) if issparse(X) else X
        # The method of a sparse matrix would sort its entries.
        if np.count_nonzero(X.data if issparse(X) else X) < MOST_ENTRIES * np.prod(X.shape):
            return SparseRows.of(X)
    return np.asarray(X.toarray("C") if issparse(X) else X)


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
    length = max(1, HASHED // max(1, values.shape[1]))
    for start in range(0, len(values), length):
        rows = slice(start, start + length)
        key[rows] = mixed_bits(values[rows]) @ factor
    return key


def mixed_bits(values: Array) -> Array:
    """The bits of numbers, mixed, as uint64; 0 for 0."""
    # Adding 0 turns -0 into 0. The shift mixes the leading bits, the only ones set in small integers.
    numbers = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    # NaN has many bit patterns.
    numbers[np.isnan(numbers)] = np.nan
    bits = numbers.view(np.uint64)
    return bits ^ (bits >> np.uint64(32))
