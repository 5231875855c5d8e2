"""Passes for the phase and the frequency of one cosine."""

from __future__ import annotations

import numba
import numpy as np

from .fit_criteria import criterion_cosine, criterion_value
from .kernel import INLINED, kernel
from .tiles import correlate_tile, empty_aligned_row, stream_tile
from .vector_math import cosine, sincos


@numba.njit(fastmath=True, **INLINED)
def cosines_in_place(z, phase):  # type: ignore[no-untyped-def]
    """Replace z (B,) by ``cos(z - phase)``; aliased arguments would prevent vectorisation."""
    for i in range(len(z)):
        z[i] = cosine(z[i] - phase)


@kernel("T[2] T[1] i8 T[2] T[2] f8[2]* i8 i8")
def phase_pass(z, phase, kind, p, q, sums, first, last):  # type: ignore[no-untyped-def]
    """Fit criterion of ``cos(z - phase)`` summed over each tile: sums (T, 1); z, p, q (T, B); phase (1,)."""
    h = np.empty(z.shape[1], z.dtype)
    for t in range(first, last):
        # A loop compiles faster than the assignment of an array to a slice.
        for i in range(len(h)):
            h[i] = z[t, i]
        cosines_in_place(h, phase[0])
        sums[t, 0] = criterion_value(kind, h, p[t], q[t])


@numba.njit(fastmath=True, **INLINED)
def sine_cosine_in_place(z, out):  # type: ignore[no-untyped-def]
    """Write the cosine of a tile z (B,), and replace z by the sine."""
    for i in range(len(z)):
        z[i], out[i] = sincos(z[i])


@kernel("T[3] T[1] T i8 T[2] T[2] T[2]* i8 f8[2]* i8 i8")
def frequency_pass(tiles, omega, phase, kind, p, q, outputs, every, sums, first, last):  # type: ignore[no-untyped-def]
    """Fit criterion of ``h = cos(omega . x - phase)`` and its gradient by omega, summed over each tile.

    S tiles are visited: 0, every, 2 every, ...; first and last count these. h is written to outputs (T, B), the
    sums to sums (S, 1 + d), in float64.
    """
    z = empty_aligned_row(p[0])
    gradient = np.empty(len(omega), omega.dtype)
    for s in range(first, last):
        t = s * every
        z[:] = -phase
        stream_tile(tiles[t], omega, z)
        sums[s, 0] = criterion_cosine(kind, z, p[t], q[t], outputs[t])
        correlate_tile(tiles[t], z, gradient)
        for f in range(len(gradient)):
            sums[s, 1 + f] = gradient[f]
