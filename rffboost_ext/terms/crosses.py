"""Differences and products of two features, as further columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..utils.typing import Array


@dataclass(frozen=True, eq=False)
class Crosses:
    """Columns behind the d features: differences ``x[i] - x[j]`` and products ``x[i] * x[j]``, float64.

    Parameters
    ----------
    table : ndarray of shape (K, 3), int32
        For each column i, j, and 1 for a product or 0 for a difference.
    """

    table: Array

    def __len__(self) -> int:
        return len(self.table)

    def column(self, X: Array, j: int) -> Array:
        """Column j of X (n, d) and the columns behind it, (n,)."""
        if j < X.shape[1]:
            return np.ascontiguousarray(X[:, j])
        first, second, is_product = self.table[j - X.shape[1]].tolist()
        a, b = X[:, first].astype(np.float64), X[:, second].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(a * b if is_product else a - b)

    def append(self, X: Array) -> Array:
        """X (n, d) and the columns, (n, d + K)."""
        columns = range(X.shape[1], X.shape[1] + len(self))
        return np.column_stack([X, *(self.column(X, j) for j in columns)]) if columns else X

    def fold(self, values: Array) -> Array:
        """Values of all columns (..., d + K) by feature, (..., d): each parent has half of a cross."""
        d = values.shape[-1] - len(self)
        out = values[..., :d].copy()
        for k, parents in enumerate(self.table[:, :2].tolist()):
            for parent in parents:
                out[..., parent] += 0.5 * values[..., d + k]
        return out

    def chain(self, slopes: Array, X: Array) -> Array:
        """Derivatives for the features (n, C, d) from those for all columns (n, C, d + K), at X (n, d)."""
        d = X.shape[1]
        out = slopes[..., :d].copy()
        for k, (first, second, is_product) in enumerate(self.table.tolist()):
            # Derivatives for missing values are 0.
            factors = (X[:, [second]], X[:, [first]]) if is_product else (1.0, -1.0)
            for parent, factor in zip((first, second), factors, strict=True):
                out[..., parent] += np.where(slopes[..., d + k] == 0.0, 0.0, slopes[..., d + k] * factor)
        return out


NO_CROSSES = Crosses(np.zeros((0, 3), dtype=np.int32))
