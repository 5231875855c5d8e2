"""Iteratively reweighted least squares on random Fourier features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core import Round
from ...terms.projection import Projection
from ...utils.typing import Array
from ..registry import LEARNERS
from .base import KernelMachine, Solved
from .least_squares import ReweightedLeastSquares
from .random_features import RandomFeatures, newton_target
from .regularization_path import CurvatureBounds, RegularizationPath

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
    n_components, gamma, n_scored, compare_scales, max_samples, n_directions, per_degree : optional
        As for :class:`RFFRidge`, with the same defaults.
    l2 : pair of float, default=(1e-6, 1.0)
        Range of the penalty, lambda: the first round has the larger value, and no round is below the smaller one.
    n_values : int, default=4
        Number of values of gamma that are compared, on a logarithmic grid.
    relative_rate : float, default=10.0
        Factor on the amplitudes: a step is this many times the learning rate, but at most a full one.

    References
    ----------
    .. [1] Zhu and Hastie, Kernel logistic regression and the import vector machine, Journal of Computational and
       Graphical Statistics 2005.
    """

    l2: tuple[float, float] = (1e-6, 1.0)
    relative_rate: float = 10.0

    def _select_kernel(self, round: Round) -> tuple[Array, Projection | None, Array, Array, int]:
        """Frequencies, projection, the fields of :class:`CurvatureBounds`, and the index of this round."""
        target, _ = newton_target(round)
        selection, bounds = self._kernel_selection(round, target), CurvatureBounds.from_round(round)
        gammas = np.geomspace(*self.gamma, self.n_values)
        if len(selection.scales) > 1:
            selection = selection.with_scale(selection.best_ridge(gammas, np.geomspace(1e-3, 1.0, 4)).scale)
        low, high = self.l2
        steps = np.arange(1 + int(np.log(low / high) / np.log(PENALTY_DECAY**2)))
        penalties = high * PENALTY_DECAY ** (2 * steps)
        path = RegularizationPath.from_round(round, selection.scored, bounds, penalties)
        best = selection.best_kernel(gammas, path.best_penalty)
        return *self._select_frequencies(selection, best), bounds.mean, bounds.max_step, round.index

    def _solve(self, round: Round, sample: Round, rows: Array, features: RandomFeatures, *kernel: Any) -> Solved:
        mean, max_step, first_round = kernel
        norms = features.norms

        def build() -> ReweightedLeastSquares:
            values = features.values(sample, rows).astype(np.float64)
            values *= norms[:, None]
            return ReweightedLeastSquares(values)

        system = self._reuse_system(round, sample, rows.tobytes(), build)
        bounds, age = CurvatureBounds(mean, max_step), round.index - first_round
        return Solved(system, self._coefficients(sample, rows, system, bounds, age), norms)

    def _coefficients(
        self, round: Round, rows: Array, system: ReweightedLeastSquares, bounds: CurvatureBounds, age: int
    ) -> Array:
        """Coefficients (C, 1 + 2K) of the scaled features, `age` rounds after the kernel was chosen."""
        low, high = self.l2
        penalty = max(low, high * PENALTY_DECAY ** min(age, 1_000))
        gradient, weight = round.gradient[rows], round.weight[rows, None]
        curvature = weight * bounds.bounded(gradient, round.hessian[rows])
        negative_gradient = -weight * gradient
        return np.array(
            [
                system.solve(curvature[:, c], negative_gradient[:, c], penalty * mean)
                for c, mean in enumerate(bounds.mean)
            ]
        )
