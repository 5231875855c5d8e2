"""Passes for K cosines around a landmark."""

from __future__ import annotations

import numba
import numpy as np

from .fit_criteria import criterion_slope, criterion_value
from .kernel import INLINED, kernel
from .single_cosine import cosines_in_place
from .vector_math import sincos


@numba.njit(fastmath=True, **INLINED)
def add_cosines(z, phase, sine, mean, share):  # type: ignore[no-untyped-def]
    """Write the sines of ``z - phase`` (B,), and add share times the cosines to mean (B,)."""
    for i in range(len(z)):
        sine[i], cosine = sincos(z[i] - phase)
        mean[i] += share * cosine


@numba.njit(fastmath=True, **INLINED)
def tile_product(a, b):  # type: ignore[no-untyped-def]
    """The sum of products of two tiles, (B,)."""
    total = a.dtype.type(0)
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@kernel("T[3] T[1] i8 T[2] T[2] f8[2]* i8 i8")
def landmark_pass(z, phases, kind, p, q, sums, first, last):  # type: ignore[no-untyped-def]
    """Fit criterion of the mean of K cosines and its gradient by their phases, summed over each tile.

    ``h = 1/K sum_k cos(z_k - phase_k)`` with z (T, K, B). Value and gradient are written to sums (T, 1 + K), in
    float64. The gradient by a landmark follows by the chain rule from ``phase_k = omega_k . x_t``.
    """
    _, K, size = z.shape
    share = z.dtype.type(1.0 / K)
    sines = np.empty((K, size), z.dtype)
    h, slope = np.empty(size, z.dtype), np.empty(size, z.dtype)
    for t in range(first, last):
        h[:] = 0
        for k in range(K):
            add_cosines(z[t, k], phases[k], sines[k], h, share)
        sums[t, 0] = criterion_slope(kind, h, p[t], q[t], slope)
        for k in range(K):
            sums[t, 1 + k] = share * tile_product(slope, sines[k])


@kernel("T[3]* T[1] i8 T[2] T[2] f8[2]* i8 i8")
def risk_pass(z, phases, kind, p, q, risks, first, last):  # type: ignore[no-untyped-def]
    """Fit criterion of each single cosine, summed over each tile: z becomes the cosines, risks are (T, K)."""
    for t in range(first, last):
        for k in range(z.shape[1]):
            cosines_in_place(z[t, k], phases[k])
            risks[t, k] = criterion_value(kind, z[t, k], p[t], q[t])


@kernel("T[3] T[1] T[2]* i8 i8")
def combine_pass(cosines, weight, outputs, first, last):  # type: ignore[no-untyped-def]
    """Weighted sums over k of cosines (T, K, B): outputs (T, B)."""
    for t in range(first, last):
        outputs[t] = 0
        for k in range(cosines.shape[1]):
            add_scaled(cosines[t, k], weight[k], outputs[t])


@numba.njit(fastmath=True, **INLINED)
def add_scaled(x, factor, out):  # type: ignore[no-untyped-def]
    """Add factor times x to out, (B,) each."""
    for i in range(len(x)):
        out[i] += factor * x[i]
