"""Passes for second-order cosines: ``a cos(omega . x) + b sin(omega . x)`` on a sparse support of features.

A sample of rows is a block x (s, m), feature-major; g and h (C, m) are its weighted first and second derivatives.
For given frequencies the optimal a and b of each output follow in closed form from five sums over rows.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from .kernel import INLINED, INNER, kernel
from .single_cosine import sine_cosine_in_place
from .tiles import correlate_tile, project_tile

# Number of rows that are summed in the precision of the sample before the sums are added in float64.
BLOCK = 2048


@numba.njit(fastmath=True, **INLINED)
def project_support(x, features, omega, z):  # type: ignore[no-untyped-def]
    """Write ``sum_k omega_k x[features_k]`` to z (m,)."""
    z[:] = 0
    whole = len(features) - len(features) % 4
    for k in range(0, whole, 4):
        w0, w1, w2, w3 = omega[k], omega[k + 1], omega[k + 2], omega[k + 3]
        x0, x1, x2, x3 = x[features[k]], x[features[k + 1]], x[features[k + 2]], x[features[k + 3]]
        for i in range(len(z)):
            z[i] += (w0 * x0[i] + w1 * x1[i]) + (w2 * x2[i] + w3 * x3[i])
    for k in range(whole, len(features)):
        w, x0 = omega[k], x[features[k]]
        for i in range(len(z)):
            z[i] += w * x0[i]


@numba.njit(fastmath=True, **INLINED)
def add_sums(cosine, sine, g, h, sums):  # type: ignore[no-untyped-def]
    """Add the sums of g c, g s, h c^2, h s^2 and h c s over rows to sums (5,), for one output."""
    zero = g.dtype.type(0)
    gc, gs, cc, ss, cs = zero, zero, zero, zero, zero
    for i in range(len(g)):
        c, s = cosine[i], sine[i]
        gc += g[i] * c
        gs += g[i] * s
        cc += h[i] * c * c
        ss += h[i] * s * s
        cs += h[i] * c * s
    sums[0] += gc
    sums[1] += gs
    sums[2] += cc
    sums[3] += ss
    sums[4] += cs


@numba.njit(**INNER)
def best_pair(sums, l2):  # type: ignore[no-untyped-def]
    """The pair (a, b) that minimises the second-order expansion plus ``l2 (a^2 + b^2) / 2``, and its gain."""
    gc, gs, cs = sums[0], sums[1], sums[4]
    cc, ss = sums[2] + l2, sums[3] + l2
    determinant = cc * ss - cs * cs
    # Collinear up to rounding, as with a single row: a small penalty makes the system regular.
    if determinant <= 1e-6 * cc * ss:
        cc, ss = 1.001 * cc, 1.001 * ss
        determinant = cc * ss - cs * cs
    if not determinant > 0.0:
        return 0.0, 0.0, 0.0
    a = (gs * cs - gc * ss) / determinant
    b = (gc * cs - gs * cc) / determinant
    return a, b, -0.5 * (gc * a + gs * b)


@kernel("T[2]* f8[2] f8[1] f8")
def weigh(out, values, weight, least):  # type: ignore[no-untyped-def]
    """Write weighted values (m, C) to out (C, m), in a unit that is returned.

    The unit is a power of two of the order of the largest, and at least `least`. A row of weight 2 is therefore
    exactly the row twice.
    """
    largest = 0.0
    for i in range(len(weight)):
        for c in range(len(out)):
            largest = max(largest, abs(values[i, c] * weight[i]))
    unit = max(math.ldexp(1.0, math.frexp(largest)[1] - 1) if largest > 0.0 else 1.0, least)
    for c in range(len(out)):
        for i in range(len(weight)):
            out[c, i] = values[i, c] * weight[i] / unit
    return unit


@kernel("T[2] i8[1] i8[2] T[2] T[2] T[2] f8 f8[1]* i8 i8")
def score_pass(x, sizes, features, omega, g, h, l2, gains, first, last):  # type: ignore[no-untyped-def]
    """Write the gains of candidates `first` to `last`, summed over outputs.

    Candidate j has the first ``sizes[j]`` of its rows of features and omega (M, d).
    """
    m = x.shape[1]
    z, cosine, sums = np.empty(m, x.dtype), np.empty(m, x.dtype), np.empty(5, gains.dtype)
    for j in range(first, last):
        project_support(x, features[j, : sizes[j]], omega[j, : sizes[j]], z)
        sine_cosine_in_place(z, cosine)
        gains[j] = 0.0
        for c in range(len(g)):
            sums[:] = 0.0
            add_sums(cosine, z, g[c], h[c], sums)
            gains[j] += best_pair(sums, l2)[2]


@numba.njit(fastmath=True, **INLINED)
def add_angle_derivative(cosine, sine, a, b, g, h, slope):  # type: ignore[no-untyped-def]
    """Add the derivative of the expansion of one output by the angle of each row to slope (m,)."""
    for i in range(len(slope)):
        c, s = cosine[i], sine[i]
        slope[i] += (g[i] + h[i] * (a * c + b * s)) * (b * c - a * s)


@kernel("T[2] T[1] T[2] T[2] f8 f8[2]* f8[1]*")
def profile_pass(x, omega, g, h, l2, pairs, gradient):  # type: ignore[no-untyped-def]
    """The gain of the frequency omega (s,); optimal pairs (C, 2) and the gradient of the gain (s,) are written.

    The derivatives by the pair vanish at the optimum, so the gradient is that at fixed pairs.
    """
    m, outputs = x.shape[1], len(g)
    sine, cosine, slope = np.zeros(m, x.dtype), np.empty(m, x.dtype), np.zeros(m, x.dtype)
    part, sums = np.empty(len(omega), x.dtype), np.zeros(5, gradient.dtype)
    project_tile(x, omega, sine)
    sine_cosine_in_place(sine, cosine)
    gain = 0.0
    for c in range(outputs):
        sums[:] = 0.0
        for start in range(0, m, BLOCK):
            rows = slice(start, min(start + BLOCK, m))
            add_sums(cosine[rows], sine[rows], g[c, rows], h[c, rows], sums)
        pairs[c, 0], pairs[c, 1], output_gain = best_pair(sums, l2)
        gain += output_gain
        a, b = omega.dtype.type(pairs[c, 0]), omega.dtype.type(pairs[c, 1])
        add_angle_derivative(cosine, sine, a, b, g[c], h[c], slope)
    correlate_tile(x, slope, part)
    for k in range(len(omega)):
        gradient[k] = -part[k]
    return gain


@kernel("T[3] i8[1] T[1] f8[2] f8[2]* i8 i8")
def output_pass(tiles, features, omega, pairs, out, first, last):  # type: ignore[no-untyped-def]
    """Write ``a cos + b sin`` of every row of tiles first .. last-1 to out (n, C)."""
    size = tiles.shape[2]
    sine, cosine = np.empty(size, tiles.dtype), np.empty(size, tiles.dtype)
    for t in range(first, last):
        project_support(tiles[t], features, omega, sine)
        sine_cosine_in_place(sine, cosine)
        start = t * size
        for i in range(min(size, len(out) - start)):
            for c in range(len(pairs)):
                out[start + i, c] = pairs[c, 0] * cosine[i] + pairs[c, 1] * sine[i]
