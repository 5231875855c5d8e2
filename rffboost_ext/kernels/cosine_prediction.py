"""Prediction of a weighted sum of cosines, in blocks of rows that stay in cache."""

from __future__ import annotations

import math

import numba
import numpy as np

from .kernel import INLINED, INNER, kernel
from .landmark_cosines import add_scaled
from .vector_math import cospi

# Maximum number of rows per block: 30 features in float32 fill the first-level cache.
BLOCK = 256
# The size of a block is a multiple of this, so that vectorised loops have no remainder.
LANES = 32


@numba.njit(**INNER)
def rows_per_block(n):  # type: ignore[no-untyped-def]
    """The smallest number of rows B of a block for ``ceil(n / BLOCK)`` blocks."""
    whole = max(1, -(-n // BLOCK)) * LANES
    return -(-n // whole) * LANES


@numba.njit(**INNER)
def gather_rows(X, center, low, high, bend, means, start, stop, x):  # type: ignore[no-untyped-def]
    """Write rows start .. stop-1 of X, imputed, clipped to low .. high, log-transformed and centred, to x (d, B).

    Without means NaN stays NaN, because comparisons with it are false.
    """
    for i in range(start, stop):
        for f in range(X.shape[1]):
            value = np.float64(X[i, f])
            value = means[f] if math.isnan(value) else value
            value = low[f] if value < low[f] else value
            value = high[f] if value > high[f] else value
            if bend[f] == 0.0:
                x[f, i - start] = value - center[f]
            else:
                anchor = low[f] if bend[f] > 0.0 else high[f]
                x[f, i - start] = (anchor - center[f]) + bend[f] * math.log1p((value - anchor) / bend[f])


@numba.njit(fastmath=True, **INLINED)
def project_four(x, omega, z):  # type: ignore[no-untyped-def]
    """Add ``omega . x`` for four frequencies (4, d) to z (4, B), three features at a time.

    Each loaded feature is used by four cosines, so that the loop is bound by arithmetic.
    """
    d = omega.shape[1]
    z0, z1, z2, z3 = z[0], z[1], z[2], z[3]
    whole = d - d % 3
    for f in range(0, whole, 3):
        a0, a1, a2 = omega[0, f], omega[0, f + 1], omega[0, f + 2]
        b0, b1, b2 = omega[1, f], omega[1, f + 1], omega[1, f + 2]
        c0, c1, c2 = omega[2, f], omega[2, f + 1], omega[2, f + 2]
        d0, d1, d2 = omega[3, f], omega[3, f + 1], omega[3, f + 2]
        for i in range(len(z0)):
            x0, x1, x2 = x[f, i], x[f + 1, i], x[f + 2, i]
            z0[i] += a0 * x0 + a1 * x1 + a2 * x2
            z1[i] += b0 * x0 + b1 * x1 + b2 * x2
            z2[i] += c0 * x0 + c1 * x1 + c2 * x2
            z3[i] += d0 * x0 + d1 * x1 + d2 * x2
    for f in range(whole, d):
        for i in range(len(z0)):
            z0[i] += omega[0, f] * x[f, i]
            z1[i] += omega[1, f] * x[f, i]
            z2[i] += omega[2, f] * x[f, i]
            z3[i] += omega[3, f] * x[f, i]


@numba.njit(fastmath=True, **INLINED)
def cosines_of_half_turns(z):  # type: ignore[no-untyped-def]
    """Replace z (B,) by ``cos(pi z)``."""
    for i in range(len(z)):
        z[i] = cospi(z[i])


@numba.njit(**INNER)
def move_sums(sums, out, start, stop):  # type: ignore[no-untyped-def]
    """Add sums (C, B) to rows start .. stop-1 of out (n, C), and reset them to 0."""
    for i in range(start, stop):
        for c in range(len(sums)):
            out[i, c] += sums[c, i - start]
    sums[:] = 0


@kernel("T[2] f8[1] f8[1] f8[1] f8[1] f8[1] T[2] T[1] T[2] i8[1] f8[3]* i8 i8")
def predict_pass(X, center, low, high, bend, means, omega, phase, weight, term, out, first, last):  # type: ignore[no-untyped-def]
    """Add ``weight_m cos(pi (omega_m . (x - center) - phase_m))`` to ``out[term_m]`` of (T, n, C) for all m.

    Blocks first .. last-1 of X (n, d), float32 or float64. NaN is first replaced by means (d,), then X is clipped
    to low .. high (d,) and log-transformed if bend (d,) is not 0. omega (M, d), phase (M,) and weight (M, C) are
    in the precision of the computation; omega and phase are in half turns. M is a multiple of 4, and term (M,)
    ascends.
    """
    n, d = X.shape
    M, C = weight.shape
    size = rows_per_block(n)
    x = np.empty((d, size), omega.dtype)
    z = np.empty((4, size), omega.dtype)
    sums = np.zeros((C, size), omega.dtype)
    x[:] = 0
    for b in range(first, last):
        start = b * size
        stop = min(start + size, n)
        gather_rows(X, center, low, high, bend, means, start, stop, x)
        for m in range(0, M, 4):
            for j in range(4):
                z[j, :] = -phase[m + j]
            project_four(x, omega[m : m + 4], z)
            for j in range(4):
                if m + j > 0 and term[m + j] != term[m + j - 1]:
                    move_sums(sums, out[term[m + j - 1]], start, stop)
                cosines_of_half_turns(z[j])
                for c in range(C):
                    add_scaled(z[j], weight[m + j, c], sums[c])
        move_sums(sums, out[term[M - 1]], start, stop)
