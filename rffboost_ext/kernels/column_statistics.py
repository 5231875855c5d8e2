"""Means, variances and ranges of columns, block by block, in float64."""

from __future__ import annotations

import numba
import numpy as np

from .compile_options import KERNEL

# A block is read twice while it is in cache. The order of sums does not depend on the number of threads.
BLOCK = 1024


@numba.njit(**KERNEL)
def block_moments(X, weight, sums, squares, first, last):  # type: ignore[no-untyped-def]
    """Write ``sum_i w_i x_i`` and ``sum_i w_i (x_i - m)^2``, m being the mean of the block, to (blocks, d) each.

    For blocks first .. last-1 of X (n, d) with positive weights (n,).
    """
    mean = np.empty(X.shape[1])
    for b in range(first, last):
        total, square, mass = sums[b], squares[b], 0.0
        total[:] = 0.0
        square[:] = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, len(X))):
            mass += weight[i]
            for f in range(X.shape[1]):
                total[f] += weight[i] * X[i, f]
        for f in range(X.shape[1]):
            mean[f] = total[f] / mass
        for i in range(b * BLOCK, min((b + 1) * BLOCK, len(X))):
            for f in range(X.shape[1]):
                away = X[i, f] - mean[f]
                square[f] += weight[i] * away * away


@numba.njit(**KERNEL)
def block_ranges(X, low, high, first, last):  # type: ignore[no-untyped-def]
    """Write minima and maxima of the columns of blocks first .. last-1 of X (n, d) to (blocks, d) each."""
    for b in range(first, last):
        least, most = low[b], high[b]
        least[:] = np.inf
        most[:] = -np.inf
        for i in range(b * BLOCK, min((b + 1) * BLOCK, len(X))):
            for f in range(X.shape[1]):
                value = X[i, f]
                least[f] = value if value < least[f] else least[f]
                most[f] = value if value > most[f] else most[f]
