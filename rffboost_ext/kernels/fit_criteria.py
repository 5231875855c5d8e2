"""Values and slopes of the built-in fit criteria over a tile.

Arrays p and q hold the derivatives of the loss and the sample weights. The value of a row is ``q exp(p h)`` if
kind is 0 (EXPONENTIAL), and ``(p + q h / 2) h`` if it is 1 (NEWTON).
"""

from __future__ import annotations

import numba

from .kernel import INLINED
from .vector_math import exp, sincos

EXPONENTIAL, NEWTON = 0, 1


@numba.njit(**INLINED)
def typed_constants(like):  # type: ignore[no-untyped-def]
    """1/2 and the largest exponent, with which sums over rows are finite, in the precision of an array."""
    return like.dtype.type(0.5), like.dtype.type(40.0 if like.itemsize == 4 else 500.0)


@numba.njit(fastmath=True, **INLINED)
def value_and_slope(kind, h, p, q, half, limit):  # type: ignore[no-untyped-def]
    """Value and slope of one row."""
    if kind == EXPONENTIAL:
        value = q * exp(min(p * h, limit))
        return value, p * value
    curved = q * h
    return (p + half * curved) * h, p + curved


@numba.njit(fastmath=True, **INLINED)
def criterion_value(kind, h, p, q):  # type: ignore[no-untyped-def]
    """The sum of values over a tile; h, p, q are (B,)."""
    total = h.dtype.type(0)
    half, limit = typed_constants(h)
    for i in range(len(h)):
        total += value_and_slope(kind, h[i], p[i], q[i], half, limit)[0]
    return total


@numba.njit(fastmath=True, **INLINED)
def criterion_slope(kind, h, p, q, slope):  # type: ignore[no-untyped-def]
    """The sum of values over a tile; their derivatives by h are written to slope (B,)."""
    total = h.dtype.type(0)
    half, limit = typed_constants(h)
    for i in range(len(h)):
        value, slope[i] = value_and_slope(kind, h[i], p[i], q[i], half, limit)
        total += value
    return total


@numba.njit(fastmath=True, **INLINED)
def criterion_cosine(kind, z, p, q, h):  # type: ignore[no-untyped-def]
    """The sum of values of ``h = cos(z)`` over a tile; h (B,) is written, and z (B,) becomes their derivatives.

    A single loop keeps intermediate values in registers. Each kind has its own, which fixes the order of the sums.
    """
    total = z.dtype.type(0)
    half, limit = typed_constants(z)
    if kind == EXPONENTIAL:
        for i in range(len(z)):
            sine, h[i] = sincos(z[i])
            value, slope = value_and_slope(EXPONENTIAL, h[i], p[i], q[i], half, limit)
            total += value
            z[i] = -sine * slope
    else:
        for i in range(len(z)):
            sine, h[i] = sincos(z[i])
            value, slope = value_and_slope(NEWTON, h[i], p[i], q[i], half, limit)
            total += value
            z[i] = -sine * slope
    return total
