"""Passes that sample rows, uniformly or with given probabilities."""

from __future__ import annotations

import numba

from .compile_options import KERNEL

# Lower bound on divisors.
TINY = 1e-300


@numba.njit(**KERNEL)
def select_uniform(rows, chance, share, kept):  # type: ignore[no-untyped-def]
    """Write the rows (n,) with a draw `chance` (n,) below a share to the front of kept (n,); their count."""
    count = 0
    for i in range(len(rows)):
        # Branchless: rejected rows are overwritten.
        kept[count] = rows[i]
        count += chance[i] < share
    return count


@numba.njit(fastmath=True, **KERNEL)
def sampling_masses(rows, gradient, weight, even, mass):  # type: ignore[no-untyped-def]
    """Write sampling masses of rows (m,), which sum to 1, to mass (m,).

    A share `even` is proportional to the weight, the rest to the weighted absolute gradient (n, C).
    """
    total, slope = 0.0, 0.0
    for i in range(len(rows)):
        size = 0.0
        for c in range(gradient.shape[1]):
            size += abs(gradient[rows[i], c])
        mass[i] = weight[rows[i]] * size
        total += weight[rows[i]]
        slope += mass[i]
    by_weight, by_slope = even / total, (1.0 - even) / max(slope, TINY)
    for i in range(len(rows)):
        mass[i] = weight[rows[i]] * by_weight + mass[i] * by_slope


@numba.njit(**KERNEL)
def sampling_rate(mass, size, turns):  # type: ignore[no-untyped-def]
    """The factor k for which ``min(1, k mass)`` sums to `size` < m over rows (m,), in at most `turns` steps."""
    rate, certain_before = 0.0, -1
    for _ in range(turns):
        n_certain, rest = 0, 0.0
        for i in range(len(mass)):
            certain = rate * mass[i] >= 1.0
            n_certain += certain
            rest += 0.0 if certain else mass[i]
        if n_certain == certain_before:
            break
        certain_before, rate = n_certain, max(size - n_certain, 1) / max(rest, TINY)
    return rate


@numba.njit(**KERNEL)
def select_weighted(rows, chance, probability, kept, found):  # type: ignore[no-untyped-def]
    """Write rows (n,) with a draw below their probability, and this, to the front; return their count."""
    count = 0
    for i in range(len(rows)):
        kept[count], found[count] = rows[i], probability[i]
        count += chance[i] < probability[i]
    return count
