"""Values and slopes of the built-in fit criteria over a tile.

Arrays p and q hold the derivatives of the loss and the sample weights. The value of a row is ``q exp(p h)`` if
kind is 0 (EXPONENTIAL), and ``(p + q h / 2) h`` if it is 1 (NEWTON).
"""

from __future__ import annotations

import numba

from .compile_options import INLINED
from .vector_math import exp, sincos

EXPONENTIAL = 0


@numba.njit(fastmath=True, **INLINED)
def criterion_value(kind, h, p, q):  # type: ignore[no-untyped-def]
    """The sum of values over a tile; h, p, q are (B,)."""
    total = h.dtype.type(0)
    half = h.dtype.type(0.5)
    # Sums over rows are finite, also in float32.
    limit = h.dtype.type(40.0 if h.itemsize == 4 else 500.0)
    if kind == EXPONENTIAL:
        for i in range(len(h)):
            total += q[i] * exp(min(p[i] * h[i], limit))
    else:
        for i in range(len(h)):
            total += (p[i] + half * q[i] * h[i]) * h[i]
    return total


@numba.njit(fastmath=True, **INLINED)
def exponential_row(h, p, q, limit):  # type: ignore[no-untyped-def]
    """Value and slope of one row of the exponential kind; exponents are clipped at limit."""
    value = q * exp(min(p * h, limit))
    return value, p * value


@numba.njit(fastmath=True, **INLINED)
def newton_row(h, p, q, half):  # type: ignore[no-untyped-def]
    """Value and slope of one row of the newton kind; half is 1/2 in the precision of the row."""
    curved = q * h
    return (p + half * curved) * h, p + curved


@numba.njit(fastmath=True, **INLINED)
def criterion_slope(kind, h, p, q, slope):  # type: ignore[no-untyped-def]
    """The sum of values over a tile; their derivatives by h are written to slope (B,)."""
    total = h.dtype.type(0)
    half = h.dtype.type(0.5)
    limit = h.dtype.type(40.0 if h.itemsize == 4 else 500.0)
    if kind == EXPONENTIAL:
        for i in range(len(h)):
            value, slope[i] = exponential_row(h[i], p[i], q[i], limit)
            total += value
    else:
        for i in range(len(h)):
            value, slope[i] = newton_row(h[i], p[i], q[i], half)
            total += value
    return total


@numba.njit(fastmath=True, **INLINED)
def criterion_cosine(kind, z, p, q, h):  # type: ignore[no-untyped-def]
    """The sum of values of ``h = cos(z)`` over a tile; h (B,) is written, and z (B,) becomes their derivatives by
    z.

    A single loop keeps intermediate values in registers.
    """
    total = z.dtype.type(0)
    half = z.dtype.type(0.5)
    limit = z.dtype.type(40.0 if z.itemsize == 4 else 500.0)
    if kind == EXPONENTIAL:
        for i in range(len(z)):
            sine, h[i] = sincos(z[i])
            value, slope = exponential_row(h[i], p[i], q[i], limit)
            total += value
            z[i] = -sine * slope
    else:
        for i in range(len(z)):
            sine, h[i] = sincos(z[i])
            value, slope = newton_row(h[i], p[i], q[i], half)
            total += value
            z[i] = -sine * slope
    return total
