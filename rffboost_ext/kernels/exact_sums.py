"""Derivatives as multiples of one number, so that their sums are exact in any order."""

from __future__ import annotations

import math

import numba
import numpy as np

from .kernel import INNER, kernel

TINY = float(np.finfo(np.float64).tiny)
# With a larger total weight values keep their leading bits, and weights are numbers of rows up to rounding.
MAX_REPEATED = 2.0**26


@numba.njit(**INNER)
def least_bit(most):  # type: ignore[no-untyped-def]
    """A number whose last bit is that of 52 bits below the next power of two above `most`."""
    return math.ldexp(1.5, math.frexp(most)[1])


@numba.njit(**INNER)
def power_of_two(number):  # type: ignore[no-untyped-def]
    """The next power of two above a number."""
    return math.ldexp(1.0, math.frexp(number)[1])


@numba.njit(fastmath={"nnan", "nsz"}, **INNER)
def largest(values, s):  # type: ignore[no-untyped-def]
    """The largest size in column s of values (n, columns)."""
    most = 0.0
    for i in range(len(values)):
        size = abs(values[i, s])
        most = size if size > most else most
    return most


@kernel("f8[2] f8[1] f8 f8[2]* i8")
def exact_products(values, weight, total, out, place):  # type: ignore[no-untyped-def]
    """Weighted values (n, s), rounded to multiples of a power of two, so that sums of each column are exact.

    They are columns `place` to ``place + s`` of `out`. Sums do not depend on an order then, and a row of weight 2
    counts as two rows to the last bit, up to a `total` weight of `MAX_REPEATED`.
    """
    for s in range(values.shape[1]):
        size = largest(values, s)
        first, last = least_bit(size * min(max(total, 1.0), MAX_REPEATED)), least_bit(size * total)
        for i in range(len(values)):
            rounded = (values[i, s] + first) - first
            out[i, place + s] = (weight[i] * rounded + last) - last


@numba.njit(**INNER)
def find_sizes(derivatives, begin, end, size):  # type: ignore[no-untyped-def]
    """Write the sums of the absolute values of some rows of derivatives (n, s) to size (s,)."""
    for s in range(len(size)):
        size[s] = 0.0
        for i in range(begin, end):
            size[s] += abs(derivatives[i, s])


@numba.njit(**INNER)
def set_units(size, units):  # type: ignore[no-untyped-def]
    """Write units (2,), the next powers of two of sizes (s,), and return the largest possible gain in them."""
    largest, last = 0.0, len(size) - 1
    for s in range(last):
        largest = max(largest, size[s])
    units[0], units[1] = power_of_two(largest), power_of_two(size[last])
    gain = 0.0
    for s in range(last):
        gain += (size[s] / units[0]) ** 2
    return gain / max(size[last] / units[1], TINY)


@numba.njit(**INNER)
def take_rows(derivatives, begin, end, units, rows, sums):  # type: ignore[no-untyped-def]
    """Write the rows from `begin` to `end` of derivatives (n, s) that have any entry but 0, in given units.

    Their numbers go to `rows` and their derivatives to `sums`, of which as many are filled as the function
    returns. The first of the `units` (2,), powers of two, is that of all columns but the last, the second that of
    the last.
    """
    used, n_sums = 0, derivatives.shape[1]
    for i in range(begin, end):
        is_used = False
        for s in range(n_sums):
            is_used |= derivatives[i, s] != 0.0
            sums[used, s] = derivatives[i, s] / units[int(s == n_sums - 1)]
        rows[used] = i
        used += int(is_used)
    return used


@kernel("f8[2] u4[1]* f8[2]* f8[1]* f8[1]*")
def take_in_units(derivatives, rows, sums, size, units):  # type: ignore[no-untyped-def]
    """As :func:`take_rows`, of all rows, in units in which no square of a sum overflows.

    `size` (s,) and `units` (2,) are written: the sums of absolute values, and the units. The result is the largest
    gain that is possible, and the number of rows.
    """
    find_sizes(derivatives, 0, len(derivatives), size)
    return set_units(size, units), take_rows(derivatives, 0, len(derivatives), units, rows, sums)
