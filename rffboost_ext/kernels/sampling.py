"""Passes that draw rows: all with one probability, or each with its own."""

from __future__ import annotations

import numba

from .compile_options import KERNEL

# The smallest mass that is divided by.
LEAST = 1e-300


@numba.njit(**KERNEL)
def keep_rows(rows, chance, share, kept):  # type: ignore[no-untyped-def]
    """Write the rows (n,) whose chance (n,) is below a share to the front of kept (n,), in order; their count."""
    count = 0
    for i in range(len(rows)):
        # Always written: rejected rows are overwritten, and there is no branch to predict.
        kept[count] = rows[i]
        count += chance[i] < share
    return count


@numba.njit(fastmath=True, **KERNEL)
def masses_of(rows, gradient, weight, even, mass):  # type: ignore[no-untyped-def]
    """Write how much of a draw each row (m,) is due to mass (m,): the part `even` by its weight, the rest by its
    weighted absolute gradient (n, C), each as a share of the sum over rows."""
    total, slope = 0.0, 0.0
    for i in range(len(rows)):
        size = 0.0
        for c in range(gradient.shape[1]):
            size += abs(gradient[rows[i], c])
        mass[i] = weight[rows[i]] * size
        total += weight[rows[i]]
        slope += mass[i]
    by_weight, by_slope = even / total, (1.0 - even) / max(slope, LEAST)
    for i in range(len(rows)):
        mass[i] = weight[rows[i]] * by_weight + mass[i] * by_slope


@numba.njit(**KERNEL)
def rate_of(mass, size, turns):  # type: ignore[no-untyped-def]
    """The factor k for which ``min(1, k mass)`` sum to `size` < m over rows (m,), after so many turns at most."""
    rate, surely = 0.0, -1
    for _ in range(turns):
        over, rest = 0, 0.0
        for i in range(len(mass)):
            certain = rate * mass[i] >= 1.0
            over += certain
            rest += 0.0 if certain else mass[i]
        if over == surely:
            break
        surely, rate = over, max(size - over, 1) / max(rest, LEAST)
    return rate


@numba.njit(**KERNEL)
def draw_rows(rows, chance, probability, kept, found):  # type: ignore[no-untyped-def]
    """Write the rows (n,) whose chance is below their probability, and this, to the front; their count."""
    count = 0
    for i in range(len(rows)):
        kept[count], found[count] = rows[i], probability[i]
        count += chance[i] < probability[i]
    return count
