"""Kernels for features in tiles of rows, feature-major inside a tile, (n / B, d, B).

A pass visits a tile once: products of features and frequencies, the elementwise part, and products of features and
coefficients are computed while the tile is in cache. The last tile is padded with zeros of weight 0.
"""

from __future__ import annotations

import numba
import numpy as np

from .kernel import INLINED, kernel


@numba.njit(**INLINED)
def empty_aligned_row(like):  # type: ignore[no-untyped-def]
    """An uninitialised array like one row (B,), aligned to a cache line of 64 bytes."""
    memory = np.empty(len(like) + 64 // like.itemsize, like.dtype)
    start = (-memory.ctypes.data % 64) // like.itemsize
    return memory[start : start + len(like)]


@numba.njit(fastmath=True, **INLINED)
def project_tile(x, omega, z):  # type: ignore[no-untyped-def]
    """Add ``omega . x`` to z (B,) for one tile x (d, B) that is in cache, several features at a time."""
    d = len(omega)
    whole = d - d % 4
    for f in range(0, whole, 4):
        w0, w1, w2, w3 = omega[f], omega[f + 1], omega[f + 2], omega[f + 3]
        for i in range(len(z)):
            z[i] += (w0 * x[f, i] + w1 * x[f + 1, i]) + (w2 * x[f + 2, i] + w3 * x[f + 3, i])
    for f in range(whole, d):
        w = omega[f]
        for i in range(len(z)):
            z[i] += w * x[f, i]


@numba.njit(fastmath=True, **INLINED)
def stream_tile(x, omega, z):  # type: ignore[no-untyped-def]
    """Add ``omega . x`` to z (B,) for one tile x (d, B) that is not in cache yet.

    One feature at a time reads memory as one stream, which is faster than the streams of :func:`project_tile`.
    """
    for f in range(len(omega)):
        w = omega[f]
        for i in range(len(z)):
            z[i] += w * x[f, i]


@numba.njit(fastmath=True, **INLINED)
def correlate_tile(x, coefficient, out):  # type: ignore[no-untyped-def]
    """Write the sums over rows of ``coefficient * x``, (d,), for one tile x (d, B), four features at a time.

    From the last feature to the first: of a tile that has just been read, the last are in the nearest cache.
    """
    d = len(out)
    whole = d - d % 4
    zero = coefficient.dtype.type(0)
    for f in range(d - 1, whole - 1, -1):
        s = zero
        for i in range(len(coefficient)):
            s += coefficient[i] * x[f, i]
        out[f] = s
    for f in range(whole - 4, -1, -4):
        s0, s1, s2, s3 = zero, zero, zero, zero
        for i in range(len(coefficient)):
            c = coefficient[i]
            s0 += c * x[f, i]
            s1 += c * x[f + 1, i]
            s2 += c * x[f + 2, i]
            s3 += c * x[f + 3, i]
        out[f], out[f + 1], out[f + 2], out[f + 3] = s0, s1, s2, s3


@kernel("T[3] T[2] T[3]* i8 i8")
def project_pass(tiles, omega, z, first, last):  # type: ignore[no-untyped-def]
    """Write ``omega . x`` for K frequencies (K, d) into z (T, K, B), tiles first .. last-1."""
    for t in range(first, last):
        z[t] = 0
        # The first frequency loads the tile into cache.
        stream_tile(tiles[t], omega[0], z[t, 0])
        for k in range(1, omega.shape[0]):
            project_tile(tiles[t], omega[k], z[t, k])


@kernel("T[3] i8[1] i8[1] T[2]* i8 i8")
def gather(tiles, rows, features, x, first, last):  # type: ignore[no-untyped-def]
    """Write features `first` to `last` of some (s,) of some rows (m,) of tiles (T, d, B) to x (s, m)."""
    _, d, size = tiles.shape
    flat, place = tiles.reshape(-1), np.empty(len(rows), np.int64)
    for i in range(len(rows)):
        place[i] = rows[i] // size * (d * size) + rows[i] % size
    for k in range(first, last):
        start = features[k] * size
        for i in range(len(rows)):
            x[k, i] = flat[start + place[i]]
