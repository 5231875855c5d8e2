"""The orders of the levels of categories, by the derivatives of their rows."""

from __future__ import annotations

import numpy as np

from .exact_sums import TINY
from .kernel import kernel


@kernel("f8[2] f8[2] f8[1] f8[1] u4[1]* f8[2]*")
def take_weighted(gradient, hessian, weight, mixing, rows, out):  # type: ignore[no-untyped-def]
    """Write the rows of any weight, and their weighted derivatives, and return how many there are.

    The derivatives are sums of gradients (n, C) by a mixing (C,) of the outputs, and the mean hessians (n, C). As
    many of the `rows` (n,) and of `out` (n, 2) are filled as the function returns.
    """
    used, n_outputs = 0, gradient.shape[1]
    for i in range(len(weight)):
        mixed = curvature = 0.0
        for c in range(n_outputs):
            mixed += gradient[i, c] * mixing[c]
            curvature += hessian[i, c]
        rows[used], out[used, 0], out[used, 1] = i, weight[i] * mixed, weight[i] * (curvature / n_outputs)
        used += int(weight[i] != 0.0)
    return used


@kernel("u4[2] i8[1] u4[1] f8[2] f8 f8[2]* f8[1]* i8[1]* i8 i8")
def find_quotients(  # type: ignore[no-untyped-def]
    place, begin, rows, derivatives, smoothing, sums, quotient, below, first, last
):
    """Write the quotients that levels of categories `first` to `last` are ordered by.

    Category k has the places from ``begin[k]`` to ``begin[k + 1]``: that of missing values, whose quotient is
    negative infinity, then its levels. ``place[k]`` (n,) are those of the rows. Derivatives (m, 2) are of some
    `rows` (m,); `sums` (places, 2) is memory. The number of places below the mean of all rows goes to `below`.
    """
    for k in range(first, last):
        own, ratio, levels = sums[begin[k] : begin[k + 1]], quotient[begin[k] : begin[k + 1]], place[k]
        for p in range(len(own)):
            own[p, 0] = own[p, 1] = 0.0
        for i in range(len(rows)):
            p = levels[rows[i]]
            own[p, 0] += derivatives[i, 0]
            own[p, 1] += derivatives[i, 1]
        total = bend = 0.0
        for p in range(len(own)):
            total += own[p, 0]
            bend += own[p, 1]
        # Levels without such rows have the mean of all.
        mean = total / max(bend, TINY)
        ratio[0], below[k] = -np.inf, 1
        for p in range(1, len(own)):
            ratio[p] = (own[p, 0] + smoothing * mean) / (own[p, 1] + smoothing)
            below[k] += int(ratio[p] < mean)


@kernel("u4[2] i8[1] u1[1] i8[1] u1[2]* i8 i8")
def write_codes(place, begin, code_of_place, columns, codes, first, last):  # type: ignore[no-untyped-def]
    """Write the codes of the places of categories `first` to `last` to their `columns` of codes (d, n)."""
    for k in range(first, last):
        own, levels, out = code_of_place[begin[k] : begin[k + 1]], place[k], codes[columns[k]]
        for i in range(len(levels)):
            out[i] = own[levels[i]]
