"""The nearest training values below the thresholds of trees."""

from __future__ import annotations

import numba
import numpy as np

from .compile_options import INNER, KERNEL


@numba.njit(**KERNEL)
def nearest_below(x, threshold, start, place, below, largest):  # type: ignore[no-untyped-def]
    """Raise `below` to the largest value less than each threshold, and `largest` to the largest of each column.

    Thresholds (k,), distinct and ascending within a column: those of column f are ``start[f]`` to ``start[f + 1]``
    of them. `below` (k,) and `largest` (d,), of absolute values, are kept where x (d, m), feature-major, has
    nothing above them, so that several blocks of rows add up. NaN counts as nothing. `place` (m,) is overwritten.
    """
    for f in range(len(x)):
        first, end = start[f], start[f + 1]
        if first < end:
            find_above(x[f], threshold[first:end], place)
            for i in range(len(place)):
                value = x[f, i]
                largest[f] = max(largest[f], abs(value)) if value == value else largest[f]
                if first + place[i] < end and value > below[first + place[i]]:
                    below[first + place[i]] = value
            for j in range(first + 1, end):
                below[j] = max(below[j], below[j - 1])


@numba.njit(**INNER)
def find_above(x, threshold, place):  # type: ignore[no-untyped-def]
    """Write the index of the first threshold above each x (m,) to place (m,), for all rows a step at a time."""
    place[:] = 0
    count = np.uint32(len(threshold))
    while count > 0:
        half = (count + np.uint32(1)) >> np.uint32(1)
        for i in range(len(x)):
            place[i] += half if threshold[place[i] + half - np.uint32(1)] <= x[i] else np.uint32(0)
        count -= half
