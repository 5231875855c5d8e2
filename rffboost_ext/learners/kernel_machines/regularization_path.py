"""The regularisation path of iteratively reweighted least squares on a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...core import Round
from ...losses.coupling import is_coupled, whole_groups
from ...utils.kernel_ridge import cholesky, inverse_diagonal
from ...utils.typing import Array

# Lower bound on the curvature of a row, relative to the mean.
MIN_RELATIVE_CURVATURE = 1e-6
# Upper bound on the Newton step of a row, relative to the mean step in the first round: steps are unbounded where
# the loss of a row is flat.
MAX_RELATIVE_STEP = 5.0


@dataclass(frozen=True)
class CurvatureBounds:
    """Scales of curvatures and steps that are fixed in the first round, for each output.

    Parameters
    ----------
    mean : ndarray of shape (C,)
        The mean curvature along the gradient, positive.
    max_step : ndarray of shape (C,)
        The largest step of a row, positive; infinite if curvatures do not depend on scores.
    """

    mean: Array
    max_step: Array

    @classmethod
    def from_round(cls, round: Round) -> CurvatureBounds:
        """The bounds from the derivatives of a round; outputs without a gradient have curvature 1."""
        used = round.weight > 0.0
        weight, gradient, hessian = round.weight[used], np.abs(round.gradient[used]), round.hessian[used]
        size = gradient.max(axis=0)
        gradient = gradient / np.where(size > 0.0, size, 1.0)
        total, weighted = weight @ np.square(gradient), weight @ (np.square(gradient) * hessian)
        mean = np.divide(weighted, total, out=np.ones_like(weighted), where=(total > 0.0) & (weighted > 0.0))
        # If rows with large gradients have small weights, the other rows are almost certain, with curvatures near
        # 0 that will grow.
        unweighted, weighted = gradient.mean(axis=0), weight @ gradient / weight.sum()
        ratio = np.divide(unweighted, weighted, out=np.ones_like(unweighted), where=weighted > 0.0)
        mean = mean * np.maximum(1.0, ratio)
        mean_step = size * unweighted / mean
        max_step = MAX_RELATIVE_STEP * np.where(mean_step > 0.0, mean_step, 1.0)
        # In the direction of each row's step: losses of coupled rows may not depend on a shift of all scores.
        moved = round.raw + np.where(round.gradient > 0.0, -max_step, max_step)
        later = round.observations.derivatives(round.loss, moved)
        is_constant = (round.loss.scales.apply(later)[1] == round.hessian).all(axis=0)
        return cls(mean, np.where(is_constant, np.inf, max_step))

    def bounded(self, gradient: Array, hessian: Array) -> Array:
        """Curvatures of rows (m, C) from their derivatives, raised where the Newton step would be too long."""
        return np.maximum(
            hessian, np.maximum(np.abs(gradient) / self.max_step, MIN_RELATIVE_CURVATURE * self.mean)
        )


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
    curvature : CurvatureBounds
    penalties : ndarray of shape (t,)
        Falling, as multiples of the mean curvature.
    """

    derivatives: Callable[[Array], tuple[Array, Array]]
    value: Callable[[Array], float]
    weight: Array
    curvature: CurvatureBounds
    penalties: Array

    @classmethod
    def from_round(
        cls, round: Round, rows: Array, curvature: CurvatureBounds, penalties: Array
    ) -> RegularizationPath:
        """The path of some rows, starting at the scores of a round; those of rows coupled with them stay."""
        loss = round.loss
        whole = whole_groups(loss, round.y, rows)
        observations, raw = round.observations.take(whole), round.raw[whole]
        weight = (round.loss_weight if is_coupled(loss) else round.weight)[whole]
        place = np.searchsorted(whole, rows)

        def shifted(scores: Array) -> Array:
            total = raw.copy()
            total[place] += scores
            return total

        def derivatives(scores: Array) -> tuple[Array, Array]:
            gradient, hessian = loss.scales.apply(observations.derivatives(loss, shifted(scores)))
            return gradient[place], hessian[place]

        def value(scores: Array) -> float:
            with np.errstate(over="ignore", invalid="ignore"):
                error = float(np.average(observations.losses(loss, shifted(scores)), weights=weight))
            return error if np.isfinite(error) else np.inf

        return cls(derivatives, value, round.weight[rows], curvature, penalties)

    def best_penalty(self, kernel: Array) -> tuple[float, float]:
        r"""The least leave-one-out loss on the path, and its penalty; the path ends when the loss rises twice.

        Leave-one-out scores are those of the least squares of a round: they differ from its targets z by
        :math:`\alpha_i / (A^{-1})_{ii}`, where :math:`A = K + \lambda \operatorname{diag}(1 / h)` and
        :math:`\alpha = A^{-1} z` (Vehtari et al., Bayesian leave-one-out cross-validation approximations for
        Gaussian latent variable models, JMLR 2016, section 3).
        """
        least, best, rises = np.inf, float(self.penalties[0]), 0
        scores = np.zeros((len(kernel), len(self.curvature.mean)))
        for penalty in self.penalties:
            scores, loo_scores = self._step(kernel, scores, penalty)
            error = self.value(loo_scores)
            if error < least:
                least, best = error, float(penalty)
            else:
                rises += 1
            if rises == 2:
                break
        return least, best

    def _step(self, kernel: Array, scores: Array, penalty: float) -> tuple[Array, Array]:
        """Scores (m, C) after a round, and its leave-one-out scores."""
        gradient, hessian = self.derivatives(scores)
        curvature = self.curvature.bounded(gradient, hessian)
        fitted, loo_scores = np.empty_like(scores), np.empty_like(scores)
        for c, mean in enumerate(self.curvature.mean):
            target = scores[:, c] - gradient[:, c] / curvature[:, c]
            residual, loo_residual = ridge_residuals(kernel, target, self.weight * curvature[:, c], penalty * mean)
            fitted[:, c], loo_scores[:, c] = target - residual, target - loo_residual
        return fitted, loo_scores


def ridge_residuals(kernel: Array, target: Array, weight: Array, l2: float) -> tuple[Array, Array]:
    """Residuals and leave-one-out residuals of kernel ridge regression, (m,) each, of a target (m,)."""
    from scipy.linalg.lapack import dpotrs

    root = np.sqrt(weight)
    factor = cholesky(root[:, None] * kernel * root, [l2, l2 + 1e-12 * float(weight @ kernel.diagonal())])
    if factor is None:
        return target, np.full_like(target, np.inf)
    dual = dpotrs(factor, root * target, lower=1)[0] / root
    return l2 * dual, dual / inverse_diagonal(factor)
