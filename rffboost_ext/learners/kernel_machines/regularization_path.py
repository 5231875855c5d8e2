"""Least squares on fixed features whose weights change from round to round."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...core import Round
from ...utils.linalg import cholesky, inverse_diagonal
from ...utils.typing import Array

# Curvatures of rows are at least this share of the mean: what is certain hardly counts.
LEAST_SHARE = 1e-6
# Where curvatures depend on scores, a row that is far from its minimum, where its loss is flat, would ask for a
# step without bounds. It asks for at most so many of those that rows ask for on average before the first round.
REACH = 5.0


@dataclass(frozen=True)
class Curvature:
    """What a fit takes from its first round, for each output: units of curvatures and of steps.

    Parameters
    ----------
    mean : ndarray of shape (C,)
        The mean curvature along the gradient, positive.
    reach : ndarray of shape (C,)
        The longest step of a row, positive; infinite where curvatures are the same at all scores.
    """

    mean: Array
    reach: Array

    @classmethod
    def of(cls, round: Round) -> Curvature:
        """That of a round; outputs without a gradient have a curvature of 1."""
        used = round.weight > 0.0
        weight, gradient, hessian = round.weight[used], np.abs(round.gradient[used]), round.hessian[used]
        size = gradient.max(axis=0)
        gradient = gradient / np.where(size > 0.0, size, 1.0)
        share, bent = weight @ np.square(gradient), weight @ (np.square(gradient) * hessian)
        mean = np.divide(bent, share, out=np.ones_like(bent), where=(share > 0.0) & (bent > 0.0))
        # Where rows of large gradients weigh little, the others are almost certain: curvatures, which vanish
        # there, will be larger.
        plain, weighted = gradient.mean(axis=0), weight @ gradient / weight.sum()
        mean = mean * np.maximum(1.0, np.divide(plain, weighted, out=np.ones_like(plain), where=weighted > 0.0))
        asked = size * plain / mean
        reach = REACH * np.where(asked > 0.0, asked, 1.0)
        _, later = round.loss.derivatives(round.y, round.raw + reach)
        same = (np.asarray(round.loss.unit) * later == round.hessian).all(axis=0)
        return cls(mean, np.where(same, np.inf, reach))

    def of_rows(self, gradient: Array, hessian: Array) -> Array:
        """Positive curvatures of rows (m, C), which let none of them ask for too long a step."""
        return np.maximum(hessian, np.maximum(np.abs(gradient) / self.reach, LEAST_SHARE * self.mean))


@dataclass(frozen=True)
class Basis:
    r"""Fixed features of some rows, for a penalty of 1 on each.

    Parameters
    ----------
    features : ndarray of shape (p, m)
    """

    features: Array

    @cached_property
    def kernel(self) -> Array:
        """Products of the features of each two rows, (m, m)."""
        return np.asarray(self.features.T @ self.features)

    @property
    def by_rows(self) -> bool:
        """Whether the system with a row for each row of the data takes less time: its products are known."""
        n_features, n_rows = self.features.shape
        return 3 * n_rows < 5 * n_features

    def solve(self, curvature: Array, pull: Array, penalty: float) -> Array:
        r"""The coefficients b, (p,), that minimise :math:`\sum_i (h_i f_i^2 / 2 - u_i f_i) + \lambda |b|^2 / 2`.

        Parameters
        ----------
        curvature, pull : ndarray of shape (m,)
            Positive h, and u.
        penalty : float
            Lambda, positive.
        """
        from scipy.linalg.lapack import dpotrs

        root = np.sqrt(curvature)
        if self.by_rows:
            system, aim = root[:, None] * self.kernel, pull / root
            system *= root
        else:
            scaled = self.features * root
            system, aim = scaled @ scaled.T, self.features @ pull
        rounding = float(np.finfo(np.float64).eps) * float(np.trace(system))
        factor = cholesky(system, [penalty, penalty + rounding, penalty + len(system) * rounding])
        if factor is None:
            raise ValueError("sample_weight must be less far apart for the cosines to be fitted together")
        found = dpotrs(factor, aim, lower=1)[0]
        return np.asarray(self.features @ (root * found) if self.by_rows else found)


@dataclass(frozen=True)
class RegularizationPath:
    """Rounds of reweighted least squares with falling penalties, on a kernel.

    Parameters
    ----------
    derivatives : callable
        From scores (m, C) to the derivatives of the loss, (m, C) each.
    value : callable
        From scores (m, C) to the mean loss.
    weight : ndarray of shape (m,)
        Positive sample weights.
    curvature : Curvature
    penalties : ndarray of shape (t,)
        Falling, as multiples of the mean curvature.
    """

    derivatives: Callable[[Array], tuple[Array, Array]]
    value: Callable[[Array], float]
    weight: Array
    curvature: Curvature
    penalties: Array

    def left_out(self, kernel: Array) -> tuple[float, float]:
        r"""The least mean loss of rows predicted from the others, and its penalty; the second rise ends the path.

        Scores of left-out rows are those of leaving a row out of the least squares of a round: they differ from
        its targets z by :math:`\alpha_i / (A^{-1})_{ii}`, where :math:`A = K + \lambda \operatorname{diag}(1 / h)`
        and :math:`\alpha = A^{-1} z` (Vehtari et al., Bayesian leave-one-out cross-validation approximations for
        Gaussian latent variable models, JMLR 2016, section 3).
        """
        least, best, rises = np.inf, float(self.penalties[0]), 0
        scores = np.zeros((len(kernel), len(self.curvature.mean)))
        for penalty in self.penalties:
            scores, left = self._round(kernel, scores, penalty)
            error = self.value(left)
            if error < least:
                least, best = error, float(penalty)
            else:
                rises += 1
            if rises == 2:
                break
        return least, best

    def _round(self, kernel: Array, scores: Array, penalty: float) -> tuple[Array, Array]:
        """Scores (m, C) after a round, and those of rows that are left out of it."""
        gradient, hessian = self.derivatives(scores)
        curvature = self.curvature.of_rows(gradient, hessian)
        after, left = np.empty_like(scores), np.empty_like(scores)
        for c, mean in enumerate(self.curvature.mean):
            target = scores[:, c] - gradient[:, c] / curvature[:, c]
            missed, missed_left = residuals(kernel, target, self.weight * curvature[:, c], penalty * mean)
            after[:, c], left[:, c] = target - missed, target - missed_left
        return after, left


def residuals(kernel: Array, target: Array, weight: Array, l2: float) -> tuple[Array, Array]:
    """What kernel ridge regression misses of a target (m,), with all rows, and with all others than each."""
    from scipy.linalg.lapack import dpotrs

    root = np.sqrt(weight)
    factor = cholesky(root[:, None] * kernel * root, [l2, l2 + 1e-12 * float(weight @ kernel.diagonal())])
    if factor is None:
        return target, np.full_like(target, np.inf)
    solved = dpotrs(factor, root * target, lower=1)[0] / root
    return l2 * solved, solved / inverse_diagonal(factor)
