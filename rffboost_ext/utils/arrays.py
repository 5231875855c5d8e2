"""Hashes and comparisons of arrays."""

from __future__ import annotations

import numpy as np

from .typing import Array

BLOCK = 8192


def rows_equal(A: Array, B: Array) -> Array:
    """Mask (n,) of equal rows of two arrays (n, d); NaN equals NaN."""
    equal = A == B
    return np.asarray((equal | (np.isnan(A) & np.isnan(B))).all(axis=1))


def row_hashes(values: Array) -> Array:
    """A 64-bit hash of each row of `values` (n, k), floats: (n,). Equal rows have equal hashes."""
    factor = np.random.default_rng(0).integers(2**63, size=values.shape[1], dtype=np.uint64) * 2 + 1
    key = np.empty(len(values), dtype=np.uint64)
    for start in range(0, len(values), BLOCK):
        rows = slice(start, start + BLOCK)
        # Adding 0 turns -0 into 0. The shift mixes the leading bits, the only ones set in small integers.
        numbers = np.ascontiguousarray(values[rows], dtype=np.float64) + 0.0
        # NaN has many bit patterns.
        numbers[np.isnan(numbers)] = np.nan
        bits = numbers.view(np.uint64)
        key[rows] = (bits ^ (bits >> np.uint64(32))) @ factor
    return key


def arrays_equal(one: Array | None, other: Array | None) -> bool:
    """Whether two arrays are equal, or both are None."""
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def require_columns(X: Array, n_features: int) -> None:
    """Raise a ValueError unless X is a matrix of `n_features` columns; compiled code does not check."""
    if X.ndim != 2 or X.shape[1] != n_features:
        raise ValueError(f"X must have shape (n, {n_features}), got {X.shape}")
