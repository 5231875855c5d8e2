"""The choice of a Gaussian kernel and a penalty by the error of leaving one row out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from ..core import Array
from .least_squares import cholesky

# A smaller share of the kernel's diagonal is lost where products are in single precision.
LEAST_PENALTY = 1e-6


@dataclass(frozen=True)
class Kernel:
    """A Gaussian kernel and a penalty.

    Parameters
    ----------
    error : float
        What leaving one row out misses with them.
    gamma, l2 : float
        The kernel parameter, and the penalty.
    scale : int
        The index of what features are multiplied by.
    """

    error: float
    gamma: float
    l2: float
    scale: int


def best_kernel(
    X: Array, target: Array, weight: Array, scales: Sequence[Array], gammas: Array, penalties: Array
) -> Kernel:
    """The kernel and the penalty of the kernel ridge regression that best predicts left-out rows.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Standardised features.
    target : ndarray of shape (m, C)
        What C outputs aim at.
    weight : ndarray of shape (m,)
        Positive sample weights.
    scales : sequence of ndarray of shape (d,)
        What features are multiplied by, of mean square 1.
    gammas, penalties : ndarray of shape (s,) and (t,), ascending
        What is compared; of equally good ones, the smoothest of the first scale is kept. The kernel is
        ``1 + exp(-gamma |s * (x - x')|^2 / d)``. For a kernel, penalties are compared from the least one on until
        the error grows.
    """
    found = []
    for index, scale in enumerate(scales):
        distances = squared_distances(scale * X)
        for gamma in gammas:
            error, l2 = best_penalty(1.0 + np.exp(-gamma * distances), target, weight, penalties)
            found.append(Kernel(error, float(gamma), l2, index))
    return min(found, key=attrgetter("error"))


def best_penalty(kernel: Array, target: Array, weight: Array, penalties: Array) -> tuple[float, float]:
    """The least error before a larger penalty, of ascending ones, has a larger error, and that penalty."""
    least, best = np.inf, float(penalties[0])
    for l2 in penalties:
        error = left_out_error(kernel, target, weight, l2)
        if error > least:
            break
        least, best = error, float(l2)
    return least, best


def squared_distances(X: Array) -> Array:
    """The mean over features of the squared differences of each two rows, (m, m)."""
    lengths = np.einsum("ij,ij->i", X, X)
    found: Array = lengths[:, None] + lengths
    found -= 2.0 * (X @ X.T)
    return np.maximum(found, 0.0, out=found) / X.shape[1]


def left_out_error(kernel: Array, target: Array, weight: Array, l2: float) -> float:
    r"""The weighted sum of squared errors, each in predicting a row from the others.

    Kernel ridge regression on all other rows misses the target of row i by :math:`\alpha_i / (A^{-1})_{ii}`, where
    :math:`A = K + \lambda \operatorname{diag}(1 / w)` and :math:`\alpha = A^{-1} z` (Rasmussen and Williams,
    Gaussian processes for machine learning, 2006, section 5.4.2). Entries of the penalty are at least
    `LEAST_PENALTY`. Infinite where A is singular.
    """
    from scipy.linalg.lapack import dpotrs, dtrtri

    factor = cholesky(kernel, [np.maximum(l2 / weight, LEAST_PENALTY)], clean=True)
    if factor is None:
        return np.inf
    alpha, _ = dpotrs(factor, target, lower=1)
    root, _ = dtrtri(factor, lower=1, overwrite_c=1)
    diagonal = np.einsum("ji,ji->i", root, root)
    return float(weight @ np.square(alpha / diagonal[:, None]).sum(axis=1))
