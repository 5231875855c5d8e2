"""Passes for second-order cosines: ``a cos(omega . x) + b sin(omega . x)`` on a sparse support of features.

A sample of rows is a block x (s, m), feature-major; g and h (C, m) are its weighted first and second derivatives.
For given frequencies the best a and b of each output are known in closed form from five sums over rows.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from .cosine import sine_cosine_of
from .tiles import correlate_tile, project_tile

# Rows whose sums are taken in the precision of the block before they join the float64 ones.
CHUNK = 2048


@numba.njit(cache=True)
def choose_supports(probability, sizes, arrival, normal, scale, features, omega):  # type: ignore[no-untyped-def]
    """Draw supports of given sizes (M,) as an exponential race: the first to arrive are in.

    From standard draws arrival and normal (M, d): ascending features of candidate j go to features (M, d), their
    frequencies, normal times scale_j, to omega (M, d).
    """
    d = len(probability)
    for j in range(len(sizes)):
        arrival[j] /= probability
        last = np.inf if sizes[j] == d else np.partition(arrival[j], sizes[j] - 1)[sizes[j] - 1]
        k = 0
        for f in range(d):
            if arrival[j, f] <= last and k < sizes[j]:
                features[j, k] = f
                omega[j, k] = normal[j, f] * scale[j]
                k += 1


@numba.njit(cache=True, nogil=True)
def gather_block(tiles, rows, features, x):  # type: ignore[no-untyped-def]
    """Write the features (s,) of ascending rows (m,) of tiles (T, d, B) into x (s, m)."""
    _, d, size = tiles.shape
    flat = tiles.reshape(-1)
    where = np.empty(len(rows), dtype=np.int64)
    for i in range(len(rows)):
        tile = rows[i] // size
        where[i] = tile * d * size + (rows[i] - tile * size)
    for k in range(len(features)):
        shift = features[k] * size
        for i in range(len(rows)):
            x[k, i] = flat[where[i] + shift]


@numba.njit(cache=True)
def gather_weighted(values, weight, rows, out):  # type: ignore[no-untyped-def]
    """Write weighted values (n, C) of some rows into out (C, m), in a unit of their order that is returned.

    The unit is a power of two, so that a row of weight 2 is exactly the row twice.
    """
    unit = 0.0
    for i in range(len(rows)):
        for c in range(len(out)):
            unit = max(unit, abs(values[rows[i], c] * weight[rows[i]]))
    unit = 2.0 ** math.floor(math.log2(unit)) if unit > 0.0 else 1.0
    for c in range(len(out)):
        for i in range(len(rows)):
            out[c, i] = values[rows[i], c] * weight[rows[i]] / unit
    return unit


@numba.njit(fastmath=True, cache=True)
def project_support(x, features, omega, z):  # type: ignore[no-untyped-def]
    """Write ``sum_k omega_k x[features_k]`` to z (m,), four features at a time."""
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


@numba.njit(fastmath=True, cache=True)
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


@numba.njit(cache=True, error_model="numpy")
def best_pair(sums, l2):  # type: ignore[no-untyped-def]
    """The pair (a, b) that minimises the second-order expansion plus ``l2 (a^2 + b^2) / 2``, and what it gains."""
    gc, gs, cs = sums[0], sums[1], sums[4]
    cc, ss = sums[2] + l2, sums[3] + l2
    determinant = cc * ss - cs * cs
    # Collinear to rounding, as where only one row counts: a penalty far below the curvature decides.
    if determinant <= 1e-6 * cc * ss:
        cc, ss = 1.001 * cc, 1.001 * ss
        determinant = cc * ss - cs * cs
    if not determinant > 0.0:
        return 0.0, 0.0, 0.0
    a = (gs * cs - gc * ss) / determinant
    b = (gc * cs - gs * cc) / determinant
    return a, b, -0.5 * (gc * a + gs * b)


@numba.njit(cache=True, nogil=True)
def score_pass(x, sizes, features, omega, g, h, l2, gains, first, last):  # type: ignore[no-untyped-def]
    """Write what candidates first .. last-1 gain, summed over outputs.

    Candidate j has the first ``sizes[j]`` of its rows of features and omega (M, d).
    """
    z, cosine, sums = np.empty_like(x[0]), np.empty_like(x[0]), np.empty(5)
    for j in range(first, last):
        project_support(x, features[j, : sizes[j]], omega[j, : sizes[j]], z)
        sine_cosine_of(z, cosine)
        gains[j] = 0.0
        for c in range(len(g)):
            sums[:] = 0.0
            add_sums(cosine, z, g[c], h[c], sums)
            gains[j] += best_pair(sums, l2)[2]


@numba.njit(fastmath=True, cache=True)
def add_pull(cosine, sine, a, b, g, h, pull):  # type: ignore[no-untyped-def]
    """Add the derivative of one output's expansion by the angle, row by row, to pull (m,)."""
    for i in range(len(pull)):
        c, s = cosine[i], sine[i]
        pull[i] += (g[i] + h[i] * (a * c + b * s)) * (b * c - a * s)


@numba.njit(cache=True, nogil=True)
def profile_pass(x, omega, g, h, l2, pairs, gradient):  # type: ignore[no-untyped-def]
    """What the frequency omega (s,) gains with the best pairs, which go to pairs (C, 2), and its gradient (s,).

    At the best pair its own derivatives vanish, so the gradient is that at fixed pairs.
    """
    m, outputs = x.shape[1], len(g)
    sine, cosine = np.empty_like(x[0]), np.empty_like(x[0])
    sums, part, pull = np.zeros((outputs, 5)), np.empty_like(omega), np.empty_like(x[0, :CHUNK])
    for start in range(0, m, CHUNK):
        rows = slice(start, min(start + CHUNK, m))
        sine[rows] = 0
        project_tile(x[:, rows], omega, sine[rows])
        sine_cosine_of(sine[rows], cosine[rows])
        for c in range(outputs):
            add_sums(cosine[rows], sine[rows], g[c, rows], h[c, rows], sums[c])
    gain = 0.0
    for c in range(outputs):
        pairs[c, 0], pairs[c, 1], earned = best_pair(sums[c], l2)
        gain += earned
    gradient[:] = 0.0
    for start in range(0, m, CHUNK):
        rows = slice(start, min(start + CHUNK, m))
        slope = pull[: rows.stop - start]
        slope[:] = 0
        for c in range(outputs):
            a, b = omega.dtype.type(pairs[c, 0]), omega.dtype.type(pairs[c, 1])
            add_pull(cosine[rows], sine[rows], a, b, g[c, rows], h[c, rows], slope)
        correlate_tile(x[:, rows], slope, part)
        for k in range(len(omega)):
            gradient[k] -= part[k]
    return gain


@numba.njit(cache=True, nogil=True)
def output_pass(tiles, features, omega, pairs, out, first, last):  # type: ignore[no-untyped-def]
    """Write ``a cos + b sin`` of every row of tiles first .. last-1 to out (n, C)."""
    size = tiles.shape[2]
    sine, cosine = np.empty_like(tiles[0, 0]), np.empty_like(tiles[0, 0])
    for t in range(first, last):
        project_support(tiles[t], features, omega, sine)
        sine_cosine_of(sine, cosine)
        start = t * size
        for i in range(min(size, len(out) - start)):
            for c in range(len(pairs)):
                out[start + i, c] = pairs[c, 0] * cosine[i] + pairs[c, 1] * sine[i]
