"""Cholesky factors and diagonals of inverses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import compiled
from .typing import Array


def cholesky(system: Array, penalties: Sequence[float | Array]) -> Array | None:
    """The lower Cholesky factor of a symmetric system plus the first of the penalties with which it is definite.

    A penalty is added to the diagonal: a number, or one for each row.

    None if there is none. What lies above the diagonal is not to be read.
    """
    from scipy.linalg.lapack import dpotrf

    for penalty in penalties:
        penalised = system.copy()
        np.einsum("ii->i", penalised)[:] += penalty
        # LAPACK works on columns: what it is handed is the transpose, which is the same matrix.
        factor, failed = dpotrf(penalised.T, lower=1, clean=0, overwrite_a=1)
        if not failed:
            return np.asarray(factor)
    return None


def inverse_diagonal(factor: Array) -> Array:
    """The diagonal (m,) of the inverse of a system, given its Cholesky factor."""
    diagonal = np.empty(len(factor))
    compiled("linalg").inverse_diagonal(factor, np.empty(factor.shape), diagonal)
    return diagonal
