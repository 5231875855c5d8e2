"""Iteratively reweighted least squares on random Fourier features, and its regularisation path."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...core import CoupledLoss, Round
from ...losses.coupling import whole_groups
from ...terms.cosine_arrays import Projection
from ...utils.kernel_ridge import cholesky, inverse_diagonal
from ...utils.typing import Array
from ..registry import LEARNERS
from .base import N_VALUES, KernelMachine, Solved
from .least_squares import ReweightedLeastSquares
from .random_features import FittedFeatures, RandomFeatures, newton_target

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
        weight = (round.loss_weight if isinstance(loss, CoupledLoss) else round.weight)[whole]
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


# The penalty of a round as a share of that of the round before. Paths for kernel selection, which only need the
# least error, take two such steps at a time.
PENALTY_DECAY = 0.5


@LEARNERS.register("rff_irls")
@dataclass(eq=False, repr=False)
class RFFIRLS(KernelMachine):
    r"""K random Fourier features of one Gaussian kernel, fitted by iteratively reweighted least squares.

    From the gradient g and the Hessian H of any loss, round t minimises, for each output c,

    .. math:: \sum_i w_i \left( g_{ic} f_c(x_i) + \tfrac{1}{2} H_{ic} f_c(x_i)^2 \right)
              + \tfrac{\kappa_c \lambda_t}{2} \Bigl( a_{c0}^2 + K \sum_k (a_{ck}^2 + b_{ck}^2) \Bigr), \qquad
              f_c(x) = a_{c0} + \sum_k a_{ck} \cos(\omega_k \cdot x) + b_{ck} \sin(\omega_k \cdot x),

    where :math:`\kappa_c` is the mean curvature along the gradient in the first round. The penalty is halved from
    round to round, :math:`\lambda_t = \lambda_0 2^{-t}`; a fit that continues a model starts at :math:`\lambda_0`.
    Each round is a step of Newton's method with a proximal penalty. The rounds follow the regularisation path of a
    kernel machine, of kernel logistic regression with the log loss [1]_, and early stopping picks a point on it.
    If curvatures depend on scores, the curvature of a row is at least such that the row's own step is within five
    times the mean step of the first round.

    :class:`RFFRidge` has one curvature for all rows, which makes its rounds cheaper. This learner needs far fewer
    rounds and is more accurate if the classes are nearly separable, so that rows near the boundary dominate. By
    default early stopping therefore waits three rounds for a decrease by a thousandth of that so far.

    The first round chooses the kernel parameter gamma by the leave-one-out loss along such a path, and the scales
    of the features and the frequencies as :class:`RFFRidge` does. All rounds share them.

    Parameters
    ----------
    n_components, gamma, compare_scales, max_samples, n_directions, per_degree : optional
        As for :class:`RFFRidge`, with the same defaults.
    l2 : pair of float, default=(1e-6, 1.0)
        Range of the penalty, lambda: the first round has the larger value, and no round is below the smaller one.
    relative_rate : float, default=10.0
        Factor on the amplitudes: a step is this many times the learning rate, but at most a full one.

    References
    ----------
    .. [1] Zhu and Hastie, Kernel logistic regression and the import vector machine, Journal of Computational and
       Graphical Statistics 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostClassifier, RFFIRLS
    >>> X = np.linspace(-3.0, 3.0, 200)[:, None]
    >>> learner = RFFIRLS(n_components=32)
    >>> model = RFFBoostClassifier(learner=learner, n_estimators=5, early_stopping=False, random_state=0)
    >>> bool(model.fit(X, abs(X[:, 0]) > 1.0).score(X, abs(X[:, 0]) > 1.0) > 0.8)
    True
    """

    l2: tuple[float, float] = (1e-6, 1.0)
    relative_rate: float = 10.0

    def _select_kernel(self, round: Round) -> tuple[Array, Projection | None, Array, Array, int]:
        """Frequencies, projection, the fields of :class:`CurvatureBounds`, and the index of this round."""
        target, _ = newton_target(round)
        selection, bounds = self._kernel_selection(round, target), CurvatureBounds.from_round(round)
        gammas = np.geomspace(*self.gamma, N_VALUES)
        if len(selection.scales) > 1:
            best = selection.best_ridge(gammas, np.geomspace(1e-3, 1.0, 4))
            selection = replace(selection, scales=[selection.scales[best.scale]])
        low, high = self.l2
        steps = np.arange(1 + int(np.log(low / high) / np.log(PENALTY_DECAY**2)))
        penalties = high * PENALTY_DECAY ** (2 * steps)
        path = RegularizationPath.from_round(round, selection.scored, bounds, penalties)
        best = selection.best_kernel(gammas, path.best_penalty)
        return *self._select_frequencies(selection, best), bounds.mean, bounds.max_step, round.index

    def _select_penalty(self, round: Round, features: FittedFeatures) -> tuple[Array, Array, int]:
        """The fields of :class:`CurvatureBounds`, and the index of this round."""
        bounds = CurvatureBounds.from_round(round)
        return bounds.mean, bounds.max_step, round.index

    def _solve(
        self, round: Round, sample: Round, rows: Array, features: RandomFeatures | FittedFeatures, *kernel: Any
    ) -> Solved:
        mean, max_step, first_round = kernel
        norms = features.norms

        def build() -> ReweightedLeastSquares:
            values = features.values(sample, rows).astype(np.float64)
            values *= norms[:, None]
            return ReweightedLeastSquares(values)

        system = self._reuse_system(round, sample, features.key + rows.tobytes(), build)
        bounds, age, old = CurvatureBounds(mean, max_step), round.index - first_round, None
        if round.prior_weight and isinstance(features, FittedFeatures):
            old = self._old_amplitudes(round, features) / norms
        return Solved(system, self._coefficients(sample, rows, system, bounds, age, old), norms)

    def _coefficients(
        self,
        round: Round,
        rows: Array,
        system: ReweightedLeastSquares,
        bounds: CurvatureBounds,
        age: int,
        old: Array | None,
    ) -> Array:
        """Coefficients (C, 1 + 2K) of the scaled features, `age` rounds after the kernel was chosen.

        `old` are those of a fitted term, which have the prior weight of the round.
        """
        low, high = self.l2
        penalty = max(low, high * PENALTY_DECAY ** min(age, 1_000))
        gradient, weight = round.gradient[rows], round.weight[rows, None]
        curvature = weight * bounds.bounded(gradient, round.hessian[rows])
        negative_gradient = -weight * gradient
        start = np.zeros((len(bounds.mean), 1))
        if old is not None:
            start = round.prior_weight / (penalty + round.prior_weight) * old
            penalty += round.prior_weight
            negative_gradient = negative_gradient - curvature * system.predict(start)
        return np.array(
            [
                start[c] + system.solve(curvature[:, c], negative_gradient[:, c], penalty * mean)
                for c, mean in enumerate(bounds.mean)
            ]
        )
