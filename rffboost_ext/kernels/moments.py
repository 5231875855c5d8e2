"""Means, variances and ranges of columns: sums over rows, and ends, block by block, in float64."""

from __future__ import annotations

import numba
import numpy as np

from .calls import KERNEL

# Rows whose sums are taken together: the order of additions does not depend on the number of threads.
BLOCK = 4096


@numba.njit(**KERNEL)
def weighted_sums(X, weight, sums, first, last):  # type: ignore[no-untyped-def]
    """Write ``sum_i w_i x_i`` of blocks first .. last-1 of X (n, d) to sums (blocks, d)."""
    for b in range(first, last):
        total = sums[b]
        total[:] = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, len(X))):
            for f in range(X.shape[1]):
                total[f] += weight[i] * X[i, f]


@numba.njit(**KERNEL)
def weighted_squares(X, weight, center, sums, first, last):  # type: ignore[no-untyped-def]
    """Write ``sum_i w_i (x_i - center)^2`` of blocks first .. last-1 of X (n, d) to sums (blocks, d)."""
    for b in range(first, last):
        total = sums[b]
        total[:] = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, len(X))):
            for f in range(X.shape[1]):
                away = X[i, f] - center[f]
                total[f] += weight[i] * away * away


@numba.njit(**KERNEL)
def column_ranges(X, low, high, first, last):  # type: ignore[no-untyped-def]
    """Write the least and the largest of each column in blocks first .. last-1 of X (n, d) to (blocks, d) each."""
    for b in range(first, last):
        least, most = low[b], high[b]
        least[:] = np.inf
        most[:] = -np.inf
        for i in range(b * BLOCK, min((b + 1) * BLOCK, len(X))):
            for f in range(X.shape[1]):
                value = X[i, f]
                least[f] = value if value < least[f] else least[f]
                most[f] = value if value > most[f] else most[f]
