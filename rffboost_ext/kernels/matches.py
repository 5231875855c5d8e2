"""The built-in matches, elementwise over a tile: values and slopes of 'h resembles the residual'.

Each is given by two arrays p and q that carry the derivatives of the loss and the sample weights: the value of
a row is ``q exp(p h)`` where kind is 0 (EXPONENTIAL), and ``(p + q h / 2) h`` where it is 1 (NEWTON).
"""

from __future__ import annotations

import numba

from .elementary import exp

EXPONENTIAL = 0


@numba.njit(fastmath=True, cache=True)
def match_value(kind, h, p, q):  # type: ignore[no-untyped-def]
    """The sum of values over a tile; h, p, q are (B,)."""
    total = h.dtype.type(0)
    half = h.dtype.type(0.5)
    # Sums over rows must stay finite, also in float32.
    limit = h.dtype.type(40.0 if h.itemsize == 4 else 500.0)
    if kind == EXPONENTIAL:
        for i in range(len(h)):
            total += q[i] * exp(min(p[i] * h[i], limit))
    else:
        for i in range(len(h)):
            total += (p[i] + half * q[i] * h[i]) * h[i]
    return total


@numba.njit(fastmath=True, cache=True)
def match_slope(kind, h, p, q, slope):  # type: ignore[no-untyped-def]
    """The sum of values over a tile; their derivatives by h go into slope (B,)."""
    total = h.dtype.type(0)
    half = h.dtype.type(0.5)
    limit = h.dtype.type(40.0 if h.itemsize == 4 else 500.0)
    if kind == EXPONENTIAL:
        for i in range(len(h)):
            value = q[i] * exp(min(p[i] * h[i], limit))
            total += value
            slope[i] = p[i] * value
    else:
        for i in range(len(h)):
            curved = q[i] * h[i]
            total += (p[i] + half * curved) * h[i]
            slope[i] = p[i] + curved
    return total
