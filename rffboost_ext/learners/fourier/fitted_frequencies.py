"""Cosines of given frequencies as terms, and the frequencies of a fitted term on other rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core import Term
from ...terms import Cosines
from ...utils.typing import Array
from ..design import Design


def of_single_frequency(term: Term) -> Cosines:
    """The term itself; a ValueError unless it is a sum of cosines of one frequency for each output."""
    cosines = Cosines.of(term)
    if len(cosines.omega) > min(2, cosines.weight.shape[1]):
        raise ValueError(f"replay must have cosines of a single frequency in each round, got {term!r:.60}")
    return cosines


def coordinates(cosines: Cosines, design: Design) -> Array:
    """What the frequencies multiply on the rows of a design, (d, n), in its precision."""
    center, clipping, projection = cosines.center, cosines.clipping, cosines.projection
    space = center is not None and center.tobytes(), clipping and clipping.key, projection and projection.key
    dtype = np.dtype(design.precision)
    return design.cache(
        (Cosines, *space), lambda: np.ascontiguousarray(cosines.coordinates(design.imputed).T, dtype)
    )


def angles(cosines: Cosines, design: Design, rows: Array | slice = slice(None)) -> Array:
    """The arguments of the cosines on some rows of a design, without phases: (M, m), in its precision."""
    columns, used = coordinates(cosines, design), np.flatnonzero(cosines.omega.any(axis=0))
    return np.asarray(cosines.omega[:, used].astype(columns.dtype) @ columns[:, rows][used])


def with_amplitudes(cosines: Cosines, frequencies: slice, amplitudes: Array) -> Cosines:
    """Cosines and sines of K of the frequencies, with amplitudes (C, 2K) of the cosines, then of the sines."""
    made = cosine_term(cosines.omega[frequencies], amplitudes)
    return replace(cosines, omega=made.omega, phase=made.phase, weight=made.weight)


def cosine_term(omega: Array, amplitudes: Array) -> Cosines:
    """``f_c(x) = sum_k a_ck cos(omega_k . x) + b_ck sin(omega_k . x)`` as a term.

    Parameters
    ----------
    omega : ndarray of shape (K, d)
        Frequencies.
    amplitudes : ndarray of shape (C, 2K)
        Amplitudes a of the cosines, then b of the sines.
    """
    half = amplitudes.shape[1] // 2
    a, b = amplitudes[:, :half], amplitudes[:, half:]
    if len(amplitudes) == 1:
        return Cosines(omega, np.arctan2(b[0], a[0]), np.hypot(a, b).T.copy())
    phase = np.repeat([0.0, 0.5 * np.pi], len(omega))
    return Cosines(np.concatenate([omega, omega]), phase, amplitudes.T.copy())
