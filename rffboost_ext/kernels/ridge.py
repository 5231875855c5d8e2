"""Passes for several cosines at once, whose amplitudes one penalised Newton step gives in closed form.

A frequency omega_k stands for two features of a row x, ``cos(omega_k . x)`` and ``sin(omega_k . x)``: K of them
make 2K features, cosines first.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from .calls import INLINED, INNER, KERNEL
from .cosine import sine_cosine_of
from .landmark import add_scaled, dot
from .tiles import project_tile

# Rows whose products are summed in the precision of the features before they join the float64 sums.
CHUNK = 1024
# A pivot below this share of its diagonal entry is rounding: its feature is left out.
LEAST_PIVOT = 1e-7


@numba.njit(**KERNEL)
def features_pass(x, omega, features, first, last):  # type: ignore[no-untyped-def]
    """Write the features of frequencies first .. last-1 of omega (K, d) on rows x (d, m) to features (2K, m)."""
    K = len(omega)
    for k in range(first, last):
        sine = features[K + k]
        sine[:] = 0
        project_tile(x, omega[k], sine)
        sine_cosine_of(sine, features[k])


@numba.njit(fastmath=True, **INLINED)
def dot_four(one, p, q, r, s):  # type: ignore[no-untyped-def]
    """The inner products of a row with four others: each of its entries is loaded once."""
    zero = one.dtype.type(0)
    a, b, c, d = zero, zero, zero, zero
    for i in range(len(one)):
        value = one[i]
        a += value * p[i]
        b += value * q[i]
        c += value * r[i]
        d += value * s[i]
    return a, b, c, d


@numba.njit(fastmath=True, **INLINED)
def multiply(one, other, out):  # type: ignore[no-untyped-def]
    """Write the product of two rows entry by entry."""
    for i in range(len(out)):
        out[i] = one[i] * other[i]


@numba.njit(**INNER)
def add_products(features, g, h, start, stop, buffer, gram, slope):  # type: ignore[no-untyped-def]
    """Add ``F diag(h) F^T`` to the lower triangle of gram and ``F g`` to slope, by columns start .. stop-1."""
    weighted = buffer[: stop - start]
    for a in range(len(features)):
        slope[a] += dot(features[a, start:stop], g[start:stop])
        multiply(features[a, start:stop], h[start:stop], weighted)
        whole = (a + 1) - (a + 1) % 4
        for b in range(0, whole, 4):
            p, q, r, s = dot_four(
                weighted,
                features[b, start:stop],
                features[b + 1, start:stop],
                features[b + 2, start:stop],
                features[b + 3, start:stop],
            )
            gram[a, b] += p
            gram[a, b + 1] += q
            gram[a, b + 2] += r
            gram[a, b + 3] += s
        for b in range(whole, a + 1):
            gram[a, b] += dot(weighted, features[b, start:stop])


@numba.njit(**INNER)
def solve_in_place(gram, slope):  # type: ignore[no-untyped-def]
    """Replace slope by the x of ``gram x = slope``, and the lower triangle of gram by its Cholesky factor."""
    size = len(slope)
    for i in range(size):
        for j in range(i):
            gram[i, j] = (gram[i, j] - dot(gram[i, :j], gram[j, :j])) / gram[j, j]
        entry = gram[i, i]
        pivot = entry - dot(gram[i, :i], gram[i, :i])
        # Division by infinity leaves the feature out.
        gram[i, i] = math.sqrt(pivot) if pivot > LEAST_PIVOT * entry else np.inf
    for i in range(size):
        slope[i] = (slope[i] - dot(gram[i, :i], slope[:i])) / gram[i, i]
    for i in range(size - 1, -1, -1):
        slope[i] /= gram[i, i]
        add_scaled(gram[i, :i], -slope[i], slope[:i])


@numba.njit(**KERNEL)
def ridge_pass(features, g, h, penalty, amplitudes):  # type: ignore[no-untyped-def]
    """Write the amplitudes (C, 2K) that minimise the second-order expansion plus ``penalty |a_c|^2 / 2``.

    Weighted first and second derivatives of the rows are in g and h (C, m).
    """
    size, m = features.shape
    gram, buffer = np.empty((size, size), amplitudes.dtype), np.empty(min(m, CHUNK), features.dtype)
    for c in range(len(g)):
        slope = amplitudes[c]
        gram[:] = 0.0
        slope[:] = 0.0
        for start in range(0, m, CHUNK):
            add_products(features, g[c], h[c], start, min(start + CHUNK, m), buffer, gram, slope)
        for a in range(size):
            gram[a, a] += penalty
            slope[a] = -slope[a]
        solve_in_place(gram, slope)


@numba.njit(**KERNEL)
def combine_pass(features, amplitudes, out):  # type: ignore[no-untyped-def]
    """Write the outputs of rows whose features (2K, m) are known to out (m, C)."""
    sums = np.empty(features.shape[1], amplitudes.dtype)
    for c in range(len(amplitudes)):
        sums[:] = 0.0
        for a in range(len(features)):
            add_scaled(features[a], amplitudes[c, a], sums)
        for i in range(len(sums)):
            out[i, c] = sums[i]


@numba.njit(**KERNEL)
def output_pass(tiles, omega, amplitudes, out, first, last):  # type: ignore[no-untyped-def]
    """Write the outputs of every row of tiles first .. last-1 to out (n, C)."""
    K, size = len(omega), tiles.shape[2]
    sine, cosine = np.empty(size, tiles.dtype), np.empty(size, tiles.dtype)
    sums = np.empty((len(amplitudes), size), amplitudes.dtype)
    for t in range(first, last):
        sums[:] = 0.0
        for k in range(K):
            sine[:] = 0
            project_tile(tiles[t], omega[k], sine)
            sine_cosine_of(sine, cosine)
            for c in range(len(amplitudes)):
                add_scaled(cosine, amplitudes[c, k], sums[c])
                add_scaled(sine, amplitudes[c, K + k], sums[c])
        start = t * size
        for i in range(min(size, len(out) - start)):
            for c in range(len(amplitudes)):
                out[start + i, c] = sums[c, i]
