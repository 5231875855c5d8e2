"""Passes for second-order cosines: ``a cos(omega . x) + b sin(omega . x)`` on a sparse support of features.

A sample of rows is a block x (s, m), feature-major; g and h (C, m) are its weighted first and second derivatives.
For given frequencies the best a and b of each output are known in closed form from five sums over rows.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from .compile_options import INLINED, INNER, KERNEL
from .lbfgs import DONE, RUNNING, advance, memory_of, same
from .single_cosine import sine_cosine_of
from .tiles import correlate_tile, project_tile

# Rows whose sums are taken in the precision of the block before they join the float64 ones.
CHUNK = 2048


@numba.njit(**KERNEL)
def smallest(values, k):  # type: ignore[no-untyped-def]
    """The k-th smallest of some values, from 1, which are put in another order: Hoare's selection."""
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
    """Draw the supports of M candidates, and their frequencies.

    A feature of probability 0 is in full supports only.

    From uniform draws chance (3, M) come sizes (M,), `largest` with probability `dense`, else log-uniform up to
    it, and the kernel parameter, log-uniform between exp(low) and exp(high). A support is an exponential race: the
    first of the standard draws arrival (M, d), divided by the probability of their feature, are in. Ascending
    features of candidate j go to features (M, d), their frequencies, standard draws normal (M, d) times a scale,
    to omega (M, d).
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
            last = smallest(times, size)
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
    """Write weighted values (n, C) of some rows into out (C, m), in a unit of their order that is returned.

    Values below those of least (C,) are raised to these. The unit is a power of two, so that a row of weight 2 is
    exactly the row twice.
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
    """Write features and weighted derivatives of some rows, as the two above; return the units of the latter.

    Hessians are at least those of least (C,).
    """
    gather_block(tiles, rows, features, x)
    slope = gather_weighted(gradient, np.full(len(least), -np.inf), weight, rows, g)
    return slope, gather_weighted(hessian, least, weight, rows, h)


@numba.njit(fastmath=True, **INLINED)
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
    """The pair (a, b) that minimises the second-order expansion plus ``l2 (a^2 + b^2) / 2``, and what it gains."""
    gc, gs, cs = sums[0], sums[1], sums[4]
    cc, ss = sums[2] + l2, sums[3] + l2
    determinant = cc * ss - cs * cs
    # Collinear up to rounding, as with a single row: a penalty far below the curvature makes it regular.
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
        sine_cosine_of(z, cosine)
        gains[j] = 0.0
        for c in range(len(g)):
            sums[:] = 0.0
            add_sums(cosine, z, g[c], h[c], sums)
            gains[j] += best_pair(sums, l2)[2]


@numba.njit(fastmath=True, **INLINED)
def add_pull(cosine, sine, a, b, g, h, pull):  # type: ignore[no-untyped-def]
    """Add the derivative of one output's expansion by the angle, row by row, to pull (m,)."""
    for i in range(len(pull)):
        c, s = cosine[i], sine[i]
        pull[i] += (g[i] + h[i] * (a * c + b * s)) * (b * c - a * s)


@numba.njit(**INLINED)
def profile_into(x, omega, g, h, l2, pairs, gradient, sine, cosine, pull, part, sums):  # type: ignore[no-untyped-def]
    """As :func:`profile_pass`, in buffers of the caller: three of m rows, one of s features, (C, 5) sums."""
    m, outputs = x.shape[1], len(g)
    sums[:] = 0.0
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


@numba.njit(**KERNEL)
def profile_pass(x, omega, g, h, l2, pairs, gradient):  # type: ignore[no-untyped-def]
    """The gain of the frequency omega (s,) with the best pairs, which go to pairs (C, 2), and its gradient (s,).

    At the best pair its own derivatives vanish, so the gradient is that at fixed pairs.
    """
    m = x.shape[1]
    sine, cosine, pull = np.empty(m, x.dtype), np.empty(m, x.dtype), np.empty(min(m, CHUNK), x.dtype)
    part, sums = np.empty(len(omega), x.dtype), np.empty((len(g), 5), gradient.dtype)
    return profile_into(x, omega, g, h, l2, pairs, gradient, sine, cosine, pull, part, sums)


@numba.njit(**KERNEL)
def refine_pass(x, omega, g, h, l2, state, flags, vectors, moves, changes, max_iter, tol, rel_tol, pairs):  # type: ignore[no-untyped-def]
    """Refine the frequency omega (s,), float64, in its place by L-BFGS; its gain, and its pairs to pairs (C, 2).

    The optimizer, whose state is that of :func:`.search.advance`, sees gains as a share of the first, so that its
    tolerances mean the same for any sample.
    """
    s, m = x.shape
    sine, cosine, pull = np.empty(m, x.dtype), np.empty(m, x.dtype), np.empty(min(m, CHUNK), x.dtype)
    part, at, sums = np.empty(s, x.dtype), np.empty(s, x.dtype), np.empty((len(g), 5), omega.dtype)
    slope, tried, first = np.empty(s, omega.dtype), np.empty(s, omega.dtype), 0.0
    running, known = RUNNING, False
    while not known:
        for k in range(len(omega)):
            tried[k], at[k] = omega[k], omega[k]
        gain = profile_into(x, at, g, h, l2, pairs, slope, sine, cosine, pull, part, sums)
        if running == DONE:
            break
        if first == 0.0:
            first = gain if gain != 0.0 else 1.0
        for k in range(len(slope)):
            slope[k] = -slope[k] / first
        limits = max_iter, tol, rel_tol
        running = advance(state, flags, vectors, moves, changes, omega, -gain / first, slope, *limits)
        # A search that returns to the start of its last line ends at another point than the last one tried.
        known = running == DONE and same(tried, omega)
    return gain


def refine(x, omega, g, h, l2, memory, max_iter, tol, rel_tol, pairs):  # type: ignore[no-untyped-def]
    """As :func:`refine_pass`, with a state made for it: NumPy's functions for that would take long to compile."""
    state = memory_of(len(omega), min(memory, max_iter))
    return refine_pass(x, omega, g, h, l2, *state, max_iter, tol, rel_tol, pairs)


@numba.njit(**KERNEL)
def output_pass(tiles, features, omega, pairs, out, first, last):  # type: ignore[no-untyped-def]
    """Write ``a cos + b sin`` of every row of tiles first .. last-1 to out (n, C)."""
    size = tiles.shape[2]
    sine, cosine = np.empty(size, tiles.dtype), np.empty(size, tiles.dtype)
    for t in range(first, last):
        project_support(tiles[t], features, omega, sine)
        sine_cosine_of(sine, cosine)
        start = t * size
        for i in range(min(size, len(out) - start)):
            for c in range(len(pairs)):
                out[start + i, c] = pairs[c, 0] * cosine[i] + pairs[c, 1] * sine[i]


@numba.njit(**KERNEL)
def gain_of_step(gradient, hessian, weight, output, counted):  # type: ignore[no-untyped-def]
    """Weighted sums over the rows that are `counted`, and over outputs.

    They are ``-(g f + H f^2 / 2)`` for f = output, ``g^2 / 2``, the mean of H over outputs, and 1.
    """
    outputs = output.shape[1]
    gain, possible, curvature, total = 0.0, 0.0, 0.0, 0.0
    for i in range(len(weight)):
        if not counted[i]:
            continue
        won, square, bend = 0.0, 0.0, 0.0
        for c in range(outputs):
            g, f = gradient[i, c], output[i, c]
            won += (g + 0.5 * hessian[i, c] * f) * f
            square += g * g
            bend += hessian[i, c]
        gain -= weight[i] * won
        possible += 0.5 * weight[i] * square
        curvature += weight[i] * bend / outputs
        total += weight[i]
    return gain, possible, curvature, total
