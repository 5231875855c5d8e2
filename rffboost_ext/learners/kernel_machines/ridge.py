"""Many cosines at once, by one ridge regression of second order."""

from __future__ import annotations

import numpy as np

from ...core import Round
from ...kernels import compiled
from ...terms import Cosines
from ...utils.parallel import SINGLE_BLAS
from ...utils.typing import Array
from ..fourier.second_order import LEAST_CURVATURE, cosines_of, rate_within_full_step
from ..registry import LEARNERS
from ..subsampling import informative
from .base import KernelMachine
from .feature_scales import columns_of
from .frequency_selection import frequencies
from .kernel_selection import KernelSelection
from .least_squares import LeastSquares


@LEARNERS.register("rff_ridge")
class RFFRidge(KernelMachine):
    r"""K random Fourier features of one Gaussian kernel, whose amplitudes are fitted together: a kernel machine.

    From the gradient g and the hessian H of any loss, the term of output c minimises

    .. math:: \sum_i w_i \left( g_{ic} f_c(x_i) + \tfrac{\kappa_c}{2} f_c(x_i)^2 \right)
              + \tfrac{\kappa_c \lambda}{2} \Bigl( a_{c0}^2 + K \sum_k (a_{ck}^2 + b_{ck}^2) \Bigr), \qquad
              f_c(x) = a_{c0} + \sum_k a_{ck} \cos(\omega_k \cdot x) + b_{ck} \sin(\omega_k \cdot x),

    where :math:`\kappa_c = \sum_i w_i H_{ic} g_{ic}^2 / \sum_i w_i g_{ic}^2` is the mean curvature along the
    gradient (Rahimi and Recht, Random features for large-scale kernel machines, NIPS 2007). The penalty is the
    squared norm in the space of the kernel, which is 1, for the intercept, plus a Gaussian: what lies apart from
    all rows need not be like their mean. With the squared loss and a full step that is kernel ridge regression;
    over several rounds every loss has its kernel machine. One curvature for all rows is what makes a round cheap:
    the system is factored once for as long as the rows stay the same.

    The first round chooses the kernel parameter gamma and the penalty by the error of leaving one row out, which
    has a closed form, and with them what features are multiplied by, of mean square 1: all by 1, by their standard
    deviations, as in the units in which they were given, or by the square roots of what a few trees gain by each.
    Frequencies are drawn then, each in several directions, of which the one is kept where the kernel machine of
    the compared rows, of dual weights :math:`\alpha_{ic}`, has most of its Fourier transform,
    :math:`\sum_c |\sum_i \alpha_{ic} e^{i \omega_k \cdot x_i}|^2`. Random features that the target chooses are
    those of a kernel that is learned (Sinha and Duchi, Learning kernels with random features, NIPS 2016); that
    their lengths are not chosen keeps it as smooth as the one that was. All rounds of a fit share them: an
    estimator has K of them for each model that it is the average of, and one intercept, a cosine of frequency 0.

    Parameters
    ----------
    n_components : int, default=256
        Number of frequencies, K, beside the intercept.
    gamma : pair of float, default=(0.03, 3.0)
        Range of the kernel parameter gamma: frequencies are ``N(0, 2 gamma / d)`` per standardised feature, d of
        them, times the squares of what features are multiplied by.
    l2 : pair of float, default=(0.001, 1.0)
        Range of the penalty, lambda.
    n_values : int, default=4
        Number of values of gamma, and of the penalty, that are compared, spread evenly in proportion.
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
    relative_rate : float, default=1.0
        What the amplitudes are multiplied by: a step is so many times the learning rate, but a full one at most.
    """

    def __init__(
        self,
        n_components: int = 256,
        gamma: tuple[float, float] = (0.03, 3.0),
        l2: tuple[float, float] = (0.001, 1.0),
        n_values: int = 4,
        n_scored: int = 192,
        compare_scales: bool = True,
        max_samples: int = 3_000,
        n_directions: int = 4,
        per_degree: float | None = None,
        relative_rate: float = 1.0,
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
        target, size = newton_target(round)
        with SINGLE_BLAS:
            omega, l2 = round.design.learner_state((*self._key, "kernel"), lambda: self._kernel(round, target))
            squares = self._squares(round, omega, l2)
            amplitudes = squares.solve(target[squares.rows])
            output = self._output(round, squares, omega, amplitudes)
        rate = size * rate_within_full_step(self.relative_rate, round)
        term = with_intercept(omega, rate * amplitudes)
        round.design.cache_output(term, rate * output)
        return term

    def _kernel(self, round: Round, target: Array) -> tuple[Array, float]:
        """The frequencies (K, d) and the penalty that leaving one row out prefers."""
        search = KernelSelection.of(round, target, self.max_samples, self.n_scored, self.compare_scales)
        # The smoothest first: it is the one that is kept where none is better.
        best = search.by_squares(np.geomspace(*self.gamma, self.n_values), np.geomspace(*self.l2, self.n_values))
        return frequencies(search, best, self._wanted), best.l2

    def _squares(self, round: Round, omega: Array, l2: float) -> LeastSquares:
        """The factored system of the rows that this round is fitted to: that of the round before, if it can be."""
        seen, used = informative(round, self.max_samples)
        if seen is not round:
            return squares_of(seen, used, omega, l2)
        known: dict[bytes, LeastSquares] = round.design.cache((*self._key, "squares"), dict)
        # A mixture gives each round weights of its own.
        weights = round.weight.tobytes()
        if weights not in known:
            known.clear()
            known[weights] = squares_of(round, used, omega, l2)
        return known[weights]

    def _output(self, round: Round, squares: LeastSquares, omega: Array, amplitudes: Array) -> Array:
        """Outputs (n, C) on all rows of the design."""
        if len(squares.rows) == len(round.raw):
            return squares.outputs(amplitudes)
        return outputs_of(round, omega, amplitudes)


def newton_target(round: Round) -> tuple[Array, float]:
    """What a full step aims at, ``-g_ic / kappa_c``, (n, C), at most 1 in size, and the unit that it is in."""
    gradient = round.gradient / max(float(np.abs(round.gradient).max()), LEAST_CURVATURE)
    weighted = round.weight[:, None] * np.square(gradient)
    total, curvature = weighted.sum(axis=0), (weighted * round.hessian).sum(axis=0)
    curvature = np.divide(curvature, total, out=np.ones_like(total), where=total > 0.0)
    target = -round.gradient / np.maximum(curvature, LEAST_CURVATURE)
    size = float(np.abs(target).max())
    return (target / size, size) if size > 0.0 else (target, 1.0)


def squares_of(round: Round, rows: Array, omega: Array, l2: float) -> LeastSquares:
    """The system of some rows, ascending, for the intercept, and cosines and sines of frequencies (K, d)."""
    return LeastSquares.of(rows, features_of(round, rows, omega), round.weight[rows], unit_of(omega), l2)


def features_of(round: Round, rows: Array, omega: Array) -> Array:
    """The intercept, and cosines and sines of frequencies (K, d), on some rows, (1 + 2K, m)."""
    x = columns_of(round, rows)
    features = np.empty((1 + 2 * len(omega), len(rows)), x.dtype)
    features[0] = 1.0
    compiled("random_features").features_pass(x, omega.astype(x.dtype), features[1:], 0, len(omega))
    return features


def unit_of(omega: Array) -> Array:
    """What the features of frequencies (K, d) are multiplied by, (1 + 2K,), for a penalty of 1 on each.

    Their squares add up to the kernel of a row with itself: 1 for the intercept, 1 for all cosines.
    """
    return np.concatenate([[1.0], np.full(2 * len(omega), len(omega) ** -0.5)])


def outputs_of(round: Round, omega: Array, amplitudes: Array) -> Array:
    """What frequencies (K, d) with amplitudes (C, 1 + 2K) give on all rows of the design, (n, C)."""
    output, tiles = np.empty_like(round.raw), round.design.tiles
    intercept, waves = amplitudes[:, 0], np.ascontiguousarray(amplitudes[:, 1:])
    tiles.run(compiled("random_features").output_pass, tiles.blocks, omega.astype(tiles.dtype), waves, output)
    return output + intercept


def with_intercept(omega: Array, amplitudes: Array) -> Cosines:
    """The term of frequencies (K, d) with amplitudes (C, 1 + 2K): an intercept is a cosine of frequency 0."""
    constant = Cosines(np.zeros((1, omega.shape[1])), np.zeros(1), amplitudes[:, :1].T)
    return Cosines.stack([constant, cosines_of(omega, amplitudes[:, 1:])])
