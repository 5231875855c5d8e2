"""Many cosines at once, by one reweighted ridge regression per round."""

from __future__ import annotations

import numpy as np

from ...core import Round
from ...terms import Cosines
from ...utils.parallel import SINGLE_BLAS
from ...utils.typing import Array
from ..fourier.second_order import rate_within_full_step
from ..registry import LEARNERS
from ..subsampling import informative
from .base import KernelMachine
from .frequency_selection import frequencies
from .kernel_selection import KernelSelection
from .regularization_path import Basis, Curvature, RegularizationPath
from .ridge import features_of, newton_target, outputs_of, unit_of, with_intercept

# The penalty falls to this share from round to round. On the way to a kernel, where only the least error counts,
# steps are twice as long.
FALL = 0.5


@LEARNERS.register("rff_irls")
class RFFIRLS(KernelMachine):
    r"""K random Fourier features of one Gaussian kernel, fitted by iteratively reweighted least squares.

    From the gradient g and the hessian H of any loss, round t minimises, for each output c,

    .. math:: \sum_i w_i \left( g_{ic} f_c(x_i) + \tfrac{1}{2} H_{ic} f_c(x_i)^2 \right)
              + \tfrac{\kappa_c \lambda_t}{2} \Bigl( a_{c0}^2 + K \sum_k (a_{ck}^2 + b_{ck}^2) \Bigr), \qquad
              f_c(x) = a_{c0} + \sum_k a_{ck} \cos(\omega_k \cdot x) + b_{ck} \sin(\omega_k \cdot x),

    where :math:`\kappa_c` is the mean curvature along the gradient in the first round, and the penalty falls by
    half from round to round, :math:`\lambda_t = \lambda_0 2^{-t}`; a fit that goes on from a model begins anew.
    Each round is a step of Newton's method with a proximal penalty, so that rounds walk along the path of
    regularisation of a kernel machine, of kernel logistic regression with the log loss (Zhu and Hastie, Kernel
    logistic regression and the import vector machine, Journal of Computational and Graphical Statistics 2005), and
    early stopping picks a point on it. Where curvatures depend on scores, that of a row is at least what keeps its
    own step within five times the mean of the first round.

    :class:`RFFRidge` has one curvature for all rows, which makes its rounds cheap. Where classes can be told apart
    almost without error, rows near the border count and others hardly do: there this learner is far ahead, in far
    fewer rounds.

    The first round chooses the kernel parameter gamma by the loss of leaving one row out along such a path, and
    what features are multiplied by as :class:`RFFRidge` does. Frequencies are drawn and chosen then as there, and
    all rounds share them.

    Parameters
    ----------
    n_components : int, default=256
        Number of frequencies, K, beside the intercept.
    gamma : pair of float, default=(0.03, 3.0)
        Range of the kernel parameter gamma: frequencies are ``N(0, 2 gamma / d)`` per standardised feature, d of
        them, times the squares of what features are multiplied by.
    l2 : pair of float, default=(1e-6, 1.0)
        Range of the penalty, lambda: that of the first round is the larger one, and none is below the smaller one.
    n_values : int, default=4
        Number of values of gamma that are compared, spread evenly in proportion.
    n_scored : int, default=192
        About the most rows that they are compared on: a quarter of all, but at least 96.
    compare_scales : bool, default=True
        Whether features in the units in which they were given, and those by which a few trees gain, are compared
        with standardised ones, from 256 rows on.
    max_samples : int, default=3_000
        Most rows that a round is fitted to.
    n_directions : int, default=4
        Directions that are drawn for each frequency, of which the best is kept; with 1 they are random features.
    per_degree : float, optional
        Most frequencies for each effective degree of freedom of the kernel machine on the compared rows, but at
        least 64: one with a large penalty needs few. By default there are K whatever it is.
    relative_rate : float, default=10.0
        What the amplitudes are multiplied by: a step is so many times the learning rate, but a full one at most.
    """

    def __init__(
        self,
        n_components: int = 256,
        gamma: tuple[float, float] = (0.03, 3.0),
        l2: tuple[float, float] = (1e-6, 1.0),
        n_values: int = 4,
        n_scored: int = 192,
        compare_scales: bool = True,
        max_samples: int = 3_000,
        n_directions: int = 4,
        per_degree: float | None = None,
        relative_rate: float = 10.0,
    ) -> None:
        super().__init__(
            n_components,
            gamma,
            l2,
            n_values,
            n_scored,
            compare_scales,
            max_samples,
            n_directions,
            per_degree,
            relative_rate,
        )

    def fit(self, round: Round) -> Cosines:
        """The cosines of this round."""
        with SINGLE_BLAS:
            kernel = round.design.learner_state((*self._key, "kernel"), lambda: self._kernel(round))
            omega, curvature, done = kernel[0], Curvature(*kernel[1:3]), round.index - kernel[3]
            seen, rows = informative(round, self.max_samples)
            basis = self._basis(seen, rows, omega, learner_state=seen is round)
            amplitudes = self._amplitudes(seen, rows, basis, curvature, done)
            output = self._output(round, rows, omega, basis, amplitudes)
        rate = rate_within_full_step(self.relative_rate, round)
        term = with_intercept(omega, rate * amplitudes * unit_of(omega))
        round.design.cache_output(term, rate * output)
        return term

    def _kernel(self, round: Round) -> tuple[Array, Array, Array, int]:
        """The frequencies (K, d), the units of curvatures and steps, (C,) each, and the round that chose them."""
        target, _ = newton_target(round)
        search = KernelSelection.of(round, target, self.max_samples, self.n_scored, self.compare_scales)
        gammas, curvature = np.geomspace(*self.gamma, self.n_values), Curvature.of(round)
        if len(search.ways) > 1:
            search = search.among(search.by_squares(gammas, np.geomspace(1e-3, 1.0, 4)).scale)
        least, most = self.l2
        steps = np.arange(1 + int(np.log(least / most) / np.log(FALL**2)))
        path = path_of(round, search.rows, curvature, most * FALL ** (2 * steps))
        best = search.best(gammas, path.left_out)
        return frequencies(search, best, self._wanted), curvature.mean, curvature.reach, round.index

    def _basis(self, round: Round, rows: Array, omega: Array, learner_state: bool) -> Basis:
        """The features of the rows that this round is fitted to: those of the round before, if they can be."""

        def made() -> Basis:
            features = features_of(round, rows, omega).astype(np.float64)
            features *= unit_of(omega)[:, None]
            return Basis(features)

        if not learner_state:
            return made()
        known: dict[bytes, Basis] = round.design.cache((*self._key, "basis"), dict)
        # A mixture gives each round rows of its own.
        drawn = rows.tobytes()
        if drawn not in known:
            known.clear()
            known[drawn] = made()
        return known[drawn]

    def _amplitudes(self, round: Round, rows: Array, basis: Basis, curvature: Curvature, done: int) -> Array:
        """Coefficients (C, 1 + 2K) of the features in their units, `done` rounds after the kernel was chosen."""
        least, most = self.l2
        penalty = max(least, most * FALL ** min(done, 1_000))
        gradient, weight = round.gradient[rows], round.weight[rows, None]
        curvatures = weight * curvature.of_rows(gradient, round.hessian[rows])
        pull = -weight * gradient
        return np.array(
            [basis.solve(curvatures[:, c], pull[:, c], penalty * mean) for c, mean in enumerate(curvature.mean)]
        )

    def _output(self, round: Round, rows: Array, omega: Array, basis: Basis, amplitudes: Array) -> Array:
        """Outputs (n, C) on all rows of the design."""
        if len(rows) == len(round.raw):
            return np.asarray((amplitudes @ basis.features).T)
        return outputs_of(round, omega, amplitudes * unit_of(omega))


def path_of(round: Round, rows: Array, curvature: Curvature, penalties: Array) -> RegularizationPath:
    """The path of some rows from the scores of a round on."""
    loss, y, raw, weight = round.loss, round.y[rows], round.raw[rows], round.weight[rows]
    unit = np.asarray(loss.unit, dtype=np.float64)

    def derivatives(scores: Array) -> tuple[Array, Array]:
        gradient, hessian = loss.derivatives(y, raw + scores)
        return unit * gradient, unit * hessian

    def value(scores: Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            error = float(np.average(loss.value(y, raw + scores), weights=weight))
        return error if np.isfinite(error) else np.inf

    return RegularizationPath(derivatives, value, weight, curvature, penalties)
