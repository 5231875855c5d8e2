"""Passes for K cosines and sines.

The 2K features of a row x are ``cos(omega_k . x)`` for each frequency, then ``sin(omega_k . x)``.
"""

from __future__ import annotations

import numba
import numpy as np

from .kernel import INLINED, kernel
from .landmark_cosines import add_scaled
from .single_cosine import sine_cosine_in_place
from .tiles import project_tile


@kernel("T[2] T[2] T[2]* i8 i8")
def features_pass(x, omega, features, first, last):  # type: ignore[no-untyped-def]
    """Write the features of frequencies first .. last-1 of omega (K, d) on rows x (d, m) to features (2K, m)."""
    K = len(omega)
    for k in range(first, last):
        sine = features[K + k]
        sine[:] = 0
        project_tile(x, omega[k], sine)
        sine_cosine_in_place(sine, features[k])


@numba.njit(fastmath=True, **INLINED)
def squared_modulus(cosine, sine, weight):  # type: ignore[no-untyped-def]
    """The square of ``|sum_i weight_i exp(i z_i)|`` from cosines and sines of angles z (m,)."""
    zero = weight.dtype.type(0)
    real, imaginary = zero, zero
    for i in range(len(weight)):
        real += weight[i] * cosine[i]
        imaginary += weight[i] * sine[i]
    return real * real + imaginary * imaginary


@kernel("T[2] T[2] T[2] f8[1]* i8 i8")
def amplitude_pass(x, omega, dual, out, first, last):  # type: ignore[no-untyped-def]
    """Write squared Fourier amplitudes of a kernel machine at some frequencies of omega (M, d) to out (M,).

    They are first .. last-1. The kernel machine has rows x (d, m) and dual weights (C, m); squared amplitudes are
    summed over outputs.
    """
    sine, cosine = np.empty(x.shape[1], x.dtype), np.empty(x.shape[1], x.dtype)
    for k in range(first, last):
        sine[:] = 0
        project_tile(x, omega[k], sine)
        sine_cosine_in_place(sine, cosine)
        total = 0.0
        for c in range(len(dual)):
            total += squared_modulus(cosine, sine, dual[c])
        out[k] = total


@kernel("T[3] T[2] f8[2] f8[2]* i8 i8")
def random_features_output_pass(tiles, omega, amplitudes, out, first, last):  # type: ignore[no-untyped-def]
    """Write the outputs of every row of tiles first .. last-1 to out (n, C)."""
    K, size = len(omega), tiles.shape[2]
    sine, cosine = np.empty(size, tiles.dtype), np.empty(size, tiles.dtype)
    sums = np.empty((len(amplitudes), size), amplitudes.dtype)
    for t in range(first, last):
        sums[:] = 0.0
        for k in range(K):
            sine[:] = 0
            project_tile(tiles[t], omega[k], sine)
            sine_cosine_in_place(sine, cosine)
            for c in range(len(amplitudes)):
                add_scaled(cosine, amplitudes[c, k], sums[c])
                add_scaled(sine, amplitudes[c, K + k], sums[c])
        start = t * size
        for i in range(min(size, len(out) - start)):
            for c in range(len(amplitudes)):
                out[start + i, c] = sums[c, i]
