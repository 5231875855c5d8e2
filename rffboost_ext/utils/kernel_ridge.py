"""Kernel ridge regression, and kernel selection by its closed-form leave-one-out error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import TypeAlias

import numpy as np

from ..kernels import compiled
from .typing import Array

# Lower bound on the penalty, because kernels may come from products in single precision.
MIN_PENALTY = 1e-6
PenaltySearch: TypeAlias = Callable[[Array], tuple[float, float]]
"""From a kernel (m, m) to the leave-one-out error of the best penalty, and this penalty."""
GridIndex: TypeAlias = tuple[int, int]
"""Row and column in a grid of values of gamma by penalties."""
# Offsets of neighbours in the grid.
NEIGHBOURS = (-1, 0), (1, 0), (0, -1), (0, 1)


@dataclass(frozen=True)
class SelectedKernel:
    """A Gaussian kernel and a penalty.

    Parameters
    ----------
    error : float
        The leave-one-out error.
    gamma, l2 : float
        The kernel parameter and the penalty.
    scale : int
        The index of the scale of the features.
    """

    error: float
    gamma: float
    l2: float
    scale: int


def best_kernel(X: Array, gammas: Array, search: PenaltySearch) -> SelectedKernel:
    """The Gaussian kernel of least leave-one-out error, in the first scale.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Features in this scale.
    gammas : ndarray of shape (s,), ascending
        Candidates for the kernel ``1 + exp(-gamma |x - x'|^2 / d)``; the smoothest of equally good ones is taken.
    search : callable
        Returns the error and the penalty of a kernel.

    Returns
    -------
    SelectedKernel
    """
    candidates, distances = [], squared_distances(X)
    for gamma in gammas:
        error, l2 = search(gaussian_kernel(distances, gamma))
        candidates.append(SelectedKernel(error, float(gamma), l2, 0))
    return min(candidates, key=attrgetter("error"))


def best_ridge(
    scaled: Iterable[Array], target: Array, weight: Array, gammas: Array, penalties: Array
) -> SelectedKernel:
    """The kernel and the penalty of kernel ridge regression of least leave-one-out error.

    The grid is searched in full for the first scale, and locally from its optimum for the other scales.

    Parameters
    ----------
    scaled : iterable of ndarray of shape (m, d)
        Features in each scale.
    target, weight : ndarray of shape (m, C) and (m,)
    gammas, penalties : ndarray of shape (s,) and (t,), ascending
        Candidates.
    """
    first, *others = scaled
    best = best_kernel(first, gammas, lambda kernel: best_penalty(kernel, target, weight, penalties))
    start = int(np.abs(gammas - best.gamma).argmin()), int(np.abs(penalties - best.l2).argmin())
    for scale, X in enumerate(others, 1):
        error, (row, column) = search_loo_error(X, target, weight, gammas, penalties, start)
        if error < best.error:
            best = SelectedKernel(error, float(gammas[row]), float(penalties[column]), scale)
    return best


def search_loo_error(
    X: Array, target: Array, weight: Array, gammas: Array, penalties: Array, start: GridIndex
) -> tuple[float, GridIndex]:
    """The least leave-one-out error of kernel ridge regression on a local search of the grid, and its index."""
    distances = squared_distances(X)
    kernel = cache(lambda row: gaussian_kernel(distances, float(gammas[row])))
    return local_search(
        lambda row, column: ridge_loo_error(kernel(row), target, weight, penalties[column]),
        (len(gammas), len(penalties)),
        start,
    )


def local_search(
    cost: Callable[[int, int], float], shape: tuple[int, int], start: GridIndex
) -> tuple[float, GridIndex]:
    """A local minimum of a cost over a grid, and its index, by steepest descent from `start`."""
    cached, index = cache(cost), start
    while True:
        neighbours = ((index[0] + down, index[1] + right) for down, right in NEIGHBOURS)
        inside = (near for near in neighbours if 0 <= near[0] < shape[0] and 0 <= near[1] < shape[1])
        best = min(inside, key=lambda near: cached(*near), default=index)
        if cached(*best) >= cached(*index):
            return cached(*index), index
        index = best


def gaussian_kernel(distances: Array, gamma: float) -> Array:
    """The kernel ``1 + exp(-gamma D)`` of mean squared distances D (m, m)."""
    kernel = np.empty(distances.shape)
    compiled("vector_math").exp_array(np.ravel(-gamma * distances), np.ravel(kernel))
    kernel += 1.0
    return kernel


def best_penalty(kernel: Array, target: Array, weight: Array, penalties: Array) -> tuple[float, float]:
    """The first local minimum of the leave-one-out error over ascending penalties, and its penalty."""
    least, best = np.inf, float(penalties[0])
    for l2 in penalties:
        error = ridge_loo_error(kernel, target, weight, l2)
        if error > least:
            break
        least, best = error, float(l2)
    return least, best


def squared_distances(X: Array) -> Array:
    """The mean squared difference over features of each pair of rows, (m, m)."""
    lengths = np.einsum("ij,ij->i", X, X)
    distances: Array = lengths[:, None] + lengths
    distances -= 2.0 * (X @ X.T)
    return np.maximum(distances, 0.0, out=distances) / X.shape[1]


def ridge_loo_error(kernel: Array, target: Array, weight: Array, l2: float) -> float:
    """The weighted sum of squared leave-one-out residuals; infinite if the system is singular."""
    fit = fit_kernel_ridge(kernel, target, weight, l2)
    return np.inf if fit is None else float(weight @ np.square(fit.loo_residuals).sum(axis=1))


@dataclass(frozen=True)
class KernelRidgeFit:
    r"""Kernel ridge regression: :math:`\alpha = A^{-1} z` with :math:`A = K + \lambda \operatorname{diag}(1 / w)`.

    Parameters
    ----------
    dual : ndarray of shape (m, C)
        Dual weights, alpha.
    inverse : ndarray of shape (m,)
        The diagonal of the inverse of A.
    penalty : ndarray of shape (m,)
        The diagonal that is added to the kernel.
    """

    dual: Array
    inverse: Array
    penalty: Array

    @property
    def loo_residuals(self) -> Array:
        r"""Leave-one-out residuals, (m, C): :math:`\alpha_i / (A^{-1})_{ii}`.

        Rasmussen and Williams, Gaussian processes for machine learning, 2006, section 5.4.2.
        """
        return np.asarray(self.dual / self.inverse[:, None])

    @property
    def degrees_of_freedom(self) -> float:
        r"""Effective degrees of freedom, :math:`\operatorname{tr} K A^{-1}` (same book, section 2.6)."""
        return float(len(self.inverse) - self.penalty @ self.inverse)


def fit_kernel_ridge(kernel: Array, target: Array, weight: Array, l2: float) -> KernelRidgeFit | None:
    """Fit a target (m, C) with a kernel (m, m), weights (m,) and a penalty; None if the system is singular.

    The penalties of rows, ``l2 / weight``, are at least `MIN_PENALTY`.
    """
    from scipy.linalg.lapack import dpotrs

    penalty = np.maximum(l2 / weight, MIN_PENALTY)
    factor = cholesky(kernel, [penalty])
    if factor is None:
        return None
    dual, _ = dpotrs(factor, target, lower=1)
    return KernelRidgeFit(dual, inverse_diagonal(factor), penalty)


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
