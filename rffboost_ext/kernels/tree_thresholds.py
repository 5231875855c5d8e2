"""The nearest training values below the thresholds of trees."""

from __future__ import annotations

import numba
import numpy as np

from .compile_options import INNER
from .kernel import kernel


@kernel("f4[2] f4[1] i8[1] u4[1]* f4[1]* f4[1]*")
def nearest_below(x, threshold, start, place, below, largest):  # type: ignore[no-untyped-def]
    """Update the largest value below each threshold, and the largest absolute value of each column.

    Thresholds (k,) are distinct and ascending within a column; column f has ``threshold[start[f]:start[f + 1]]``.
    `below` (k,) and `largest` (d,) are running maxima over blocks x (d, m) of rows, feature-major. NaN is ignored.
    `place` (m,) is a buffer.
    """
    for f in range(len(x)):
        first, end = start[f], start[f + 1]
        if first < end:
            index_of_next_threshold(x[f], threshold[first:end], place)
            for i in range(len(place)):
                value = x[f, i]
                largest[f] = max(largest[f], abs(value)) if value == value else largest[f]
                if first + place[i] < end and value > below[first + place[i]]:
                    below[first + place[i]] = value
            for j in range(first + 1, end):
                below[j] = max(below[j], below[j - 1])


@numba.njit(**INNER)
def index_of_next_threshold(x, threshold, place):  # type: ignore[no-untyped-def]
    """Write the index of the first threshold above each x (m,) to place (m,), by a branchless binary search."""
    place[:] = 0
    count = np.uint32(len(threshold))
    while count > 0:
        half = (count + np.uint32(1)) >> np.uint32(1)
        for i in range(len(x)):
            place[i] += half if threshold[place[i] + half - np.uint32(1)] <= x[i] else np.uint32(0)
        count -= half
