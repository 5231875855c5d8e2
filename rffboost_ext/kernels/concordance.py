"""Sums of weights over pairs of rows whose times are in a known order."""

from __future__ import annotations

import numba

from .kernel import INNER, kernel


@numba.njit(**INNER)
def add_at(tree, place, value):  # type: ignore[no-untyped-def]
    """Add a value at a place of a binary indexed tree of sums, (n + 1,)."""
    place += 1
    while place < len(tree):
        tree[place] += value
        place += place & -place


@numba.njit(**INNER)
def sum_before(tree, place):  # type: ignore[no-untyped-def]
    """The sum over the places before one."""
    total = 0.0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


@kernel("f8[2] f8[1] i8[1] i8[1] i8[1] i8[1] i8[1] f8[1]* f8[1]*")
def add_pairs(bounds, weight, earlier, later, rank, lower, upper, tree, sums):  # type: ignore[no-untyped-def]
    """Add to `sums` the weights of pairs whose first row has a greater, an equal and any risk.

    Rows `earlier` are sorted by falling upper bounds of their times, `later` by falling lower bounds (n, 2), those
    of equal lower bounds from inexact to exact times. Row i has the place `rank` in the order of the risks, and
    equals those of places from `lower` to `upper`. The tree (n + 1,) is 0.
    """
    n_later, total = 0, 0.0
    for i in earlier:
        while n_later < len(later):
            j = later[n_later]
            low, high = bounds[j]
            if low < bounds[i, 1] or (low == bounds[i, 1] and low == high):
                break
            add_at(tree, rank[j], weight[j])
            total += weight[j]
            n_later += 1
        below, up_to = sum_before(tree, lower[i]), sum_before(tree, upper[i])
        sums[0] += weight[i] * below
        sums[1] += weight[i] * (up_to - below)
        sums[2] += weight[i] * total
