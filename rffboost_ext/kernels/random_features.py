"""Passes for several cosines at once.

A frequency omega_k stands for two features of a row x, ``cos(omega_k . x)`` and ``sin(omega_k . x)``: K of them
make 2K features, cosines first.
"""

from __future__ import annotations

import numba
import numpy as np

from .compile_options import INLINED, KERNEL
from .landmark_cosines import add_scaled
from .single_cosine import sine_cosine_of
from .tiles import project_tile


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
def squared_length(cosine, sine, weight):  # type: ignore[no-untyped-def]
    """The square of ``|sum_i weight_i exp(i z_i)|``, of cosines and sines of angles z (m,)."""
    zero = weight.dtype.type(0)
    real, imaginary = zero, zero
    for i in range(len(weight)):
        real += weight[i] * cosine[i]
        imaginary += weight[i] * sine[i]
    return real * real + imaginary * imaginary


@numba.njit(**KERNEL)
def amplitude_pass(x, omega, dual, out, first, last):  # type: ignore[no-untyped-def]
    """Write to out (M,) how much of a kernel machine is at frequencies first .. last-1 of omega (M, d).

    That of rows x (d, m) and dual weights (C, m): the sum over outputs of the squared length of its Fourier
    transform.
    """
    sine, cosine = np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)
    for k in range(first, last):
        sine[:] = 0
        project_tile(x, omega[k], sine)
        sine_cosine_of(sine, cosine)
        total = 0.0
        for c in range(len(dual)):
            total += squared_length(cosine, sine, dual[c])
        out[k] = total


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
