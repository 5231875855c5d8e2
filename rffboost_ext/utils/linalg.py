"""Cholesky factors and diagonals of inverses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..kernels import compiled
from .typing import Array


def cholesky(system: Array, penalties: Sequence[float | Array]) -> Array | None:
    """The lower Cholesky factor of a symmetric system plus a penalty on the diagonal, a number or an array (m,).

    The first penalty that makes the system positive definite is taken; None if no one does. The upper triangle of
    the result is undefined.
    """
    from scipy.linalg.lapack import dpotrf

    for penalty in penalties:
        penalised = system.copy()
        np.einsum("ii->i", penalised)[:] += penalty
        # LAPACK is column-major; the transpose is the same matrix.
        factor, failed = dpotrf(penalised.T, lower=1, clean=0, overwrite_a=1)
        if not failed:
            return np.asarray(factor)
    return None


def inverse_diagonal(factor: Array) -> Array:
    """The diagonal (m,) of the inverse of a system, given its Cholesky factor."""
    diagonal = np.empty(len(factor))
    compiled("linalg").inverse_diagonal_pass(np.ascontiguousarray(factor.T), np.empty(factor.shape), diagonal)
    return diagonal
