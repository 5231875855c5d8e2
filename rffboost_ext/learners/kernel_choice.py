"""The choice of a Gaussian kernel and a penalty by the error of leaving one row out."""

from __future__ import annotations

import numpy as np

from ..core import Array
from .least_squares import cholesky

# A smaller share of the kernel's diagonal is lost where products are in single precision.
LEAST_PENALTY = 1e-6


def best_kernel(X: Array, target: Array, weight: Array, gammas: Array, penalties: Array) -> tuple[float, float]:
    """The kernel parameter and the penalty of the kernel ridge regression that best predicts left-out rows.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Standardised features.
    target : ndarray of shape (m, C)
        What C outputs aim at.
    weight : ndarray of shape (m,)
        Positive sample weights.
    gammas, penalties : ndarray of shape (s,) and (t,)
        What is compared; of equally good ones, the first is kept. The kernel is
        ``1 + exp(-gamma |x - x'|^2 / d)``.

    Returns
    -------
    gamma, l2 : float
    """
    distances = squared_distances(X)
    kernels = (1.0 + np.exp(-gamma * distances) for gamma in gammas)
    errors = [[left_out_error(kernel, target, weight, l2) for l2 in penalties] for kernel in kernels]
    narrowness, cost = np.unravel_index(np.argmin(errors), np.shape(errors))
    return float(gammas[narrowness]), float(penalties[cost])


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
