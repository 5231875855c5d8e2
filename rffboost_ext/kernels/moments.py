"""Sums over rows for means and variances of columns, block by block, in float64."""

from __future__ import annotations

import numba

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
