"""Passes for second-order cosines: ``a cos(omega . x) + b sin(omega . x)`` on a sparse support of features.

A sample of rows is a block x (s, m), feature-major; g and h (C, m) are its weighted first and second derivatives.
For given frequencies the optimal a and b of each output follow in closed form from five sums over rows.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from .compile_options import INLINED, INNER, KERNEL
from .lbfgs import DONE, RUNNING, all_equal, initial_state, take_lbfgs_step
from .single_cosine import sine_cosine_in_place
from .tiles import correlate_tile, project_tile

# Number of rows that are summed in the precision of the sample before the sums are added in float64.
BLOCK = 2048


@numba.njit(**KERNEL)
def select_kth(values, k):  # type: ignore[no-untyped-def]
    """The k-th smallest value, from 1, by Hoare's selection, which reorders the values."""
    low, high, target = 0, len(values) - 1, k - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if target <= j:
            high = j
        elif target >= i:
            low = i
        else:
            break
    return values[target]


@numba.njit(**KERNEL)
def choose_supports(probability, largest, chance, dense, low, high, arrival, normal, sizes, features, omega):  # type: ignore[no-untyped-def]
    """Draw the supports and frequencies of M candidates from standard draws.

    Uniform draws chance (3, M) determine sizes (M,), equal to `largest` with probability `dense`, else log-uniform
    up to it, and kernel parameters, log-uniform between exp(low) and exp(high). Supports are drawn by an
    exponential race: features of the smallest arrival (M, d) divided by their probability are selected. Features
    of probability 0 are in full supports only. Ascending features are written to features (M, d), and scaled draws
    normal (M, d) to omega (M, d).
    """
    d = len(probability)
    times, octaves, possible = np.empty(d, arrival.dtype), math.log2(largest + 1.0), 0
    for f in range(d):
        possible += probability[f] > 0.0
    for j in range(len(sizes)):
        size = min(int(2.0 ** (chance[0, j] * octaves)), possible)
        if chance[1, j] < dense:
            size = d if largest == d else min(largest, possible)
        scale = normal.dtype.type(math.sqrt(2.0 * math.exp(low + (high - low) * chance[2, j]) / size))
        sizes[j] = size
        last = times.dtype.type(np.inf)
        if size < d:
            for f in range(d):
                arrival[j, f] = arrival[j, f] / probability[f] if probability[f] > 0.0 else np.inf
                times[f] = arrival[j, f]
            last = select_kth(times, size)
        k = 0
        for f in range(d):
            if arrival[j, f] <= last and k < size:
                features[j, k] = f
                omega[j, k] = normal[j, f] * scale
                k += 1


@numba.njit(**INNER)
def gather_block(tiles, rows, features, x):  # type: ignore[no-untyped-def]
    """Write the features (s,) of ascending rows (m,) of tiles (T, d, B) into x (s, m)."""
    _, d, size = tiles.shape
    flat = tiles.reshape(-1)
    where = np.empty(len(rows), rows.dtype)
    for i in range(len(rows)):
        tile = rows[i] // size
        where[i] = tile * d * size + (rows[i] - tile * size)
    for k in range(len(features)):
        shift = features[k] * size
        for i in range(len(rows)):
            x[k, i] = flat[where[i] + shift]


@numba.njit(**INNER)
def gather_weighted(values, least, weight, rows, out):  # type: ignore[no-untyped-def]
    """Write weighted values (n, C) of some rows to out (C, m), divided by a unit of their order, which is
    returned.

    Values are at least `least` (C,). The unit is a power of two, so that a row of weight 2 is exactly the row
    twice.
    """
    unit = 0.0
    for i in range(len(rows)):
        row, largest = values[rows[i]], 0.0
        for c in range(len(out)):
            largest = max(largest, abs(max(row[c], least[c])))
        unit = max(unit, largest * weight[rows[i]])
    unit = 2.0 ** math.floor(math.log2(unit)) if unit > 0.0 else 1.0
    for i in range(len(rows)):
        row, factor = values[rows[i]], weight[rows[i]] / unit
        for c in range(len(out)):
            out[c, i] = max(row[c], least[c]) * factor
    return unit


@numba.njit(**KERNEL)
def gather_sample(tiles, rows, features, gradient, hessian, least, weight, x, g, h):  # type: ignore[no-untyped-def]
    """Write features and weighted derivatives of some rows; return the units of the derivatives.

    Hessians are at least `least` (C,).
    """
    gather_block(tiles, rows, features, x)
    slope = gather_weighted(gradient, np.full(len(least), -np.inf), weight, rows, g)
    return slope, gather_weighted(hessian, least, weight, rows, h)


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


@numba.njit(**KERNEL)
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


@numba.njit(**KERNEL)
def score_pass(x, sizes, features, omega, g, h, l2, gains, first, last):  # type: ignore[no-untyped-def]
    """Write the gains of candidates first .. last-1, summed over outputs.

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


@numba.njit(**INLINED)
def profile_into(x, omega, g, h, l2, pairs, gradient, sine, cosine, pull, part, sums):  # type: ignore[no-untyped-def]
    """As :func:`profile_pass`, with buffers: three of m rows, one of s features, (C, 5) sums."""
    m, outputs = x.shape[1], len(g)
    sums[:] = 0.0
    for start in range(0, m, BLOCK):
        rows = slice(start, min(start + BLOCK, m))
        sine[rows] = 0
        project_tile(x[:, rows], omega, sine[rows])
        sine_cosine_in_place(sine[rows], cosine[rows])
        for c in range(outputs):
            add_sums(cosine[rows], sine[rows], g[c, rows], h[c, rows], sums[c])
    gain = 0.0
    for c in range(outputs):
        pairs[c, 0], pairs[c, 1], output_gain = best_pair(sums[c], l2)
        gain += output_gain
    gradient[:] = 0.0
    for start in range(0, m, BLOCK):
        rows = slice(start, min(start + BLOCK, m))
        slope = pull[: rows.stop - start]
        slope[:] = 0
        for c in range(outputs):
            a, b = omega.dtype.type(pairs[c, 0]), omega.dtype.type(pairs[c, 1])
            add_angle_derivative(cosine[rows], sine[rows], a, b, g[c, rows], h[c, rows], slope)
        correlate_tile(x[:, rows], slope, part)
        for k in range(len(omega)):
            gradient[k] -= part[k]
    return gain


@numba.njit(**KERNEL)
def profile_pass(x, omega, g, h, l2, pairs, gradient):  # type: ignore[no-untyped-def]
    """The gain of the frequency omega (s,); optimal pairs (C, 2) and the gradient of the gain (s,) are written.

    The derivatives by the pair vanish at the optimum, so the gradient is that at fixed pairs.
    """
    m = x.shape[1]
    sine, cosine, pull = np.empty(m, x.dtype), np.empty(m, x.dtype), np.empty(min(m, BLOCK), x.dtype)
    part, sums = np.empty(len(omega), x.dtype), np.empty((len(g), 5), gradient.dtype)
    return profile_into(x, omega, g, h, l2, pairs, gradient, sine, cosine, pull, part, sums)


@numba.njit(**KERNEL)
def refine_pass(x, omega, g, h, l2, state, flags, vectors, moves, changes, max_iter, tol, rel_tol, pairs):  # type: ignore[no-untyped-def]
    """Refine the frequency omega (s,), float64, in place by L-BFGS; return its gain and write its pairs (C, 2).

    Gains are relative to the first one, so that tolerances have the same meaning for any sample.
    """
    s, m = x.shape
    sine, cosine, pull = np.empty(m, x.dtype), np.empty(m, x.dtype), np.empty(min(m, BLOCK), x.dtype)
    part, point, sums = np.empty(s, x.dtype), np.empty(s, x.dtype), np.empty((len(g), 5), omega.dtype)
    slope, tried, first = np.empty(s, omega.dtype), np.empty(s, omega.dtype), 0.0
    status, is_evaluated = RUNNING, False
    while not is_evaluated:
        for k in range(len(omega)):
            tried[k], point[k] = omega[k], omega[k]
        gain = profile_into(x, point, g, h, l2, pairs, slope, sine, cosine, pull, part, sums)
        if status == DONE:
            break
        if first == 0.0:
            first = gain if gain != 0.0 else 1.0
        for k in range(len(slope)):
            slope[k] = -slope[k] / first
        limits = max_iter, tol, rel_tol
        status = take_lbfgs_step(state, flags, vectors, moves, changes, omega, -gain / first, slope, *limits)
        # A search that returns to the start of its last line does not end at the last evaluated point.
        is_evaluated = status == DONE and all_equal(tried, omega)
    return gain


def refine(x, omega, g, h, l2, memory, max_iter, tol, rel_tol, pairs):  # type: ignore[no-untyped-def]
    """As :func:`refine_pass`; the state is created in Python, because this takes long to compile."""
    state = initial_state(len(omega), min(memory, max_iter))
    return refine_pass(x, omega, g, h, l2, *state, max_iter, tol, rel_tol, pairs)


@numba.njit(**KERNEL)
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


@numba.njit(**KERNEL)
def step_gain(gradient, hessian, weight, output, counted):  # type: ignore[no-untyped-def]
    """Weighted sums over the rows of the mask `counted`, and over outputs.

    The summands are ``-(g f + H f^2 / 2)`` for f = output, ``g^2 / 2``, the mean of H over outputs, and 1.
    """
    outputs = output.shape[1]
    gain, possible, curvature, total = 0.0, 0.0, 0.0, 0.0
    for i in range(len(weight)):
        if not counted[i]:
            continue
        expansion, square, row_curvature = 0.0, 0.0, 0.0
        for c in range(outputs):
            g, f = gradient[i, c], output[i, c]
            expansion += (g + 0.5 * hessian[i, c] * f) * f
            square += g * g
            row_curvature += hessian[i, c]
        gain -= weight[i] * expansion
        possible += 0.5 * weight[i] * square
        curvature += weight[i] * row_curvature / outputs
        total += weight[i]
    return gain, possible, curvature, total
