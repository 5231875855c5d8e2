"""Kernel ridge regression with leave-one-out errors in closed form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import TypeAlias

import numpy as np

from ..kernels import compiled
from .linalg import cholesky, inverse_diagonal
from .typing import Array

# A smaller share of the kernel's diagonal is lost where products are in single precision.
LEAST_PENALTY = 1e-6
Judge: TypeAlias = Callable[[Array], tuple[float, float]]
"""From a kernel (m, m) to what leaving one row out misses with the best penalty, and that penalty."""
Place: TypeAlias = tuple[int, int]
"""A row and a column of a table of values of gamma by penalties."""
# Where a walk over the table can go from a place.
STEPS = (-1, 0), (1, 0), (0, -1), (0, 1)


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


def best_kernel(X: Array, gammas: Array, judge: Judge) -> Kernel:
    """The kernel of the first scale that best predicts left-out rows.

    Parameters
    ----------
    X : ndarray of shape (m, d)
        Features in this scale.
    gammas : ndarray of shape (s,), ascending
        What is compared; of equally good ones, the smoothest is kept. The kernel is
        ``1 + exp(-gamma |x - x'|^2 / d)``.
    judge : callable
        Finds the penalty and the error of a kernel.

    Returns
    -------
    Kernel
    """
    found, distances = [], squared_distances(X)
    for gamma in gammas:
        error, l2 = judge(gaussian(distances, gamma))
        found.append(Kernel(error, float(gamma), l2, 0))
    return min(found, key=attrgetter("error"))


def best_ridge(scaled: Iterable[Array], target: Array, weight: Array, gammas: Array, penalties: Array) -> Kernel:
    """The kernel and the penalty by which kernel ridge regression best predicts left-out rows.

    Scales but the first are searched from where that has come to: what suits one is changed little by others.
    Compared with a search of each as of the first, accuracy changes by 0.00 points (129 fits of 19 sets, standard
    error 0.01), the loss by 0.02 % (0.03), and fits of 1,000 to 3,000 rows take 0.89 of the time.

    Parameters
    ----------
    scaled : iterable of ndarray of shape (m, d)
        Features in each scale.
    target, weight : ndarray of shape (m, C) and (m,)
    gammas, penalties : ndarray of shape (s,) and (t,), ascending
        What is compared.
    """
    first, *others = scaled
    best = best_kernel(first, gammas, lambda kernel: best_penalty(kernel, target, weight, penalties))
    place = int(np.abs(gammas - best.gamma).argmin()), int(np.abs(penalties - best.l2).argmin())
    for scale, X in enumerate(others, 1):
        error, (row, column) = least_loo_error(X, target, weight, gammas, penalties, place)
        if error < best.error:
            best = Kernel(error, float(gammas[row]), float(penalties[column]), scale)
    return best


def least_loo_error(
    X: Array, target: Array, weight: Array, gammas: Array, penalties: Array, start: Place
) -> tuple[float, Place]:
    """What kernel ridge regression misses of left-out rows, the least on a walk, and where that ended."""
    distances = squared_distances(X)
    kernel = cache(lambda row: gaussian(distances, float(gammas[row])))
    return local_search(
        lambda row, column: left_out_error(kernel(row), target, weight, penalties[column]),
        (len(gammas), len(penalties)),
        start,
    )


def local_search(cost: Callable[[int, int], float], shape: tuple[int, int], start: Place) -> tuple[float, Place]:
    """A cost that none beside it in a table undercuts, and its place: from `start` on, the best one beside."""
    known, here = cache(cost), start
    while True:
        beside = [(here[0] + down, here[1] + right) for down, right in STEPS]
        within = (place for place in beside if is_within(place, shape))
        best = min(within, key=lambda place: known(*place), default=here)
        if known(*best) >= known(*here):
            return known(*here), here
        here = best


def is_within(place: Place, shape: tuple[int, int]) -> bool:
    """Whether a table of this shape has that place."""
    return 0 <= place[0] < shape[0] and 0 <= place[1] < shape[1]


def gaussian(distances: Array, gamma: float) -> Array:
    """The kernel of an intercept and of mean squared distances (m, m)."""
    kernel = np.empty(distances.shape)
    compiled("vector_math").exp_array(np.ravel(-gamma * distances), np.ravel(kernel))
    kernel += 1.0
    return kernel


def best_penalty(kernel: Array, target: Array, weight: Array, penalties: Array) -> tuple[float, float]:
    """The least error of kernel ridge regression before a larger penalty has a larger one, and that penalty.

    Penalties ascend.
    """
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
    """The weighted sum of squared errors, each in predicting a row from the others; infinite if A is singular."""
    solved = solution(kernel, target, weight, l2)
    return np.inf if solved is None else float(weight @ np.square(solved.left_out).sum(axis=1))


@dataclass(frozen=True)
class Solution:
    r"""Kernel ridge regression of some rows: :math:`\alpha = A^{-1} z`, where
    :math:`A = K + \lambda \operatorname{diag}(1 / w)`.

    Parameters
    ----------
    dual : ndarray of shape (m, C)
        Alpha: the function is the sum over rows of what they weigh, times the kernel.
    inverse : ndarray of shape (m,)
        The diagonal of the inverse of A.
    penalty : ndarray of shape (m,)
        What A has on its diagonal beside the kernel.
    """

    dual: Array
    inverse: Array
    penalty: Array

    @property
    def left_out(self) -> Array:
        r"""What the regression on all other rows misses of each, (m, C): :math:`\alpha_i / (A^{-1})_{ii}`.

        Rasmussen and Williams, Gaussian processes for machine learning, 2006, section 5.4.2.
        """
        return np.asarray(self.dual / self.inverse[:, None])

    @property
    def degrees(self) -> float:
        r"""Effective degrees of freedom, :math:`\operatorname{tr} K A^{-1}` (there, section 2.6)."""
        return float(len(self.inverse) - self.penalty @ self.inverse)


def solution(kernel: Array, target: Array, weight: Array, l2: float) -> Solution | None:
    """That of a kernel (m, m), a target (m, C), weights (m,) and a penalty; None where A is singular.

    Entries of the penalty are at least `LEAST_PENALTY`.
    """
    from scipy.linalg.lapack import dpotrs

    penalty = np.maximum(l2 / weight, LEAST_PENALTY)
    factor = cholesky(kernel, [penalty])
    if factor is None:
        return None
    dual, _ = dpotrs(factor, target, lower=1)
    return Solution(dual, inverse_diagonal(factor), penalty)
