"""Many cosines at once, by one ridge regression of second order."""

from __future__ import annotations

import numpy as np

from ..checks import NON_NEGATIVE, POSITIVE, Inside, Integer, Interval, Real
from ..core import Array, Learner, Round
from ..kernels import compiled
from ..terms import Cosines
from . import LEARNERS
from .newton import MERGED, POOL_SIZE, Sample, cosines_of, rate_within_full_step, thinned
from .subsampling import earned, sampled, update

# Probability that a round draws its scale evenly, whatever the scales have earned.
EVEN = 0.05


@LEARNERS.register("rff_ridge")
class RFFRidge(Learner):
    r"""K random Fourier features of one kernel per round, whose amplitudes are fitted together.

    From the gradient g and the hessian H of any loss, the amplitudes of output c minimise

    .. math:: \sum_i w_i \left( g_{ic} f_c(x_i) + \tfrac12 H_{ic} f_c(x_i)^2 \right)
              + \tfrac{\lambda K}{2} \sum_k (a_{ck}^2 + b_{ck}^2), \qquad
              f_c(x) = \sum_k a_{ck} \cos(\omega_k \cdot x) + b_{ck} \sin(\omega_k \cdot x),

    a Newton step in the span of the features (Rahimi and Recht, Random features for large-scale kernel machines,
    NIPS 2007); the penalty is the squared norm in the space of their kernel. Over the rounds that is a kernel
    machine regularised by early stopping, where :class:`~rffboost_ext.RFFNewton` searches for single frequencies.

    Frequencies are drawn once per fit, K for each of several scales of the Gaussian kernel: all rounds of a fit
    share them, and a fitted model has at most K times `n_scales` of them for each model that it is the average of.
    The scale of a round is drawn by what the scales have earned so far, on the rows that each round leaves out, as
    :class:`~rffboost_ext.Mixture` draws its learner.

    Parameters
    ----------
    n_components : int, default=32
        Frequencies of each scale, K.
    gamma : pair of float, default=(0.03, 3.0)
        Range of the kernel parameter gamma: frequencies are ``N(0, 2 gamma / d)`` per standardised feature, d of
        them. The scales are spread evenly over it, in proportion.
    n_scales : int, default=5
        Number of scales.
    l2 : float, default=0.1
        Penalty, lambda.
    subsample : float, default=0.8
        Share of the rows that a round is fitted to; the others measure it.
    max_samples : int, default=5_000
        Rows of these that a round is fitted to at most.
    memory : float, default=0.8
        Weight of the past in the moving averages of what scales earn.
    relative_rate : float, default=1.0
        What the amplitudes are multiplied by: a step is so many times the learning rate, but a full one at most.
    """

    step = "unit"
    multi_output = True
    stops_early = True
    pool_size = POOL_SIZE
    constraints = {
        "n_components": Integer(1),
        "gamma": Interval(),
        "n_scales": Integer(1),
        "l2": NON_NEGATIVE,
        "subsample": Inside(0.0, 1.0),
        "max_samples": Integer(1),
        "memory": Real(0.0, 1.0, inclusive=True),
        "relative_rate": POSITIVE,
    }

    def __init__(
        self,
        n_components: int = 32,
        gamma: tuple[float, float] = (0.03, 3.0),
        n_scales: int = 5,
        l2: float = 0.1,
        subsample: float = 0.8,
        max_samples: int = 5_000,
        memory: float = 0.8,
        relative_rate: float = 1.0,
    ) -> None:
        self.n_components = n_components
        self.gamma = gamma
        self.n_scales = n_scales
        self.l2 = l2
        self.subsample = subsample
        self.max_samples = max_samples
        self.memory = memory
        self.relative_rate = relative_rate

    def merges_rows(self, n_samples: int) -> bool:
        """As second-order cosines do."""
        return n_samples <= MERGED

    def fit(self, round: Round) -> Cosines:
        """The cosines of this round."""
        gains = round.design.lasting((RFFRidge, "gains", self.n_scales), lambda: np.full(self.n_scales, np.nan))
        scale = drawn_scale(round, gains)
        omega = self._frequencies(round)[scale]
        seen, rest = sampled(round, self.subsample)
        amplitudes, output = self._fitted(seen, omega)
        if rest.any():
            update(gains, scale, earned(round, output, rest), self.memory)
        rate = rate_within_full_step(self.relative_rate, round)
        term = cosines_of(omega, rate * amplitudes)
        round.design.remember(term, rate * output)
        return term

    def _frequencies(self, round: Round) -> Array:
        """The frequencies of all scales, (S, K, d), drawn in the first round."""
        shape = self.n_scales, self.n_components, round.design.n_features

        def draw() -> Array:
            deviation = np.sqrt(2.0 * np.geomspace(*self.gamma, self.n_scales) / shape[-1])
            return deviation[:, None, None] * round.rng.standard_normal(shape)

        omega: Array = round.design.lasting((RFFRidge, "frequencies", *self.gamma, *shape), draw)
        return omega

    def _fitted(self, round: Round, omega: Array) -> tuple[Array, Array]:
        """Amplitudes (C, 2K) of given frequencies, and outputs (n, C) on all rows of the design."""
        kernels, tiles, n = compiled("ridge"), round.design.tiles, len(round.weight)
        few = n <= self.max_samples
        rows = np.arange(n) if few else thinned(round.rng, np.flatnonzero(round.weight), self.max_samples)
        sample = Sample.of(round, rows, np.arange(omega.shape[1]))
        features = np.empty((2 * len(omega), len(rows)), tiles.dtype)
        kernels.features_pass(sample.x, omega.astype(tiles.dtype), features, 0, len(omega))
        amplitudes, output = np.empty((len(sample.g), len(features))), np.empty_like(round.raw)
        kernels.ridge_pass(features, sample.g, sample.h, sample.penalty(self.l2 * len(omega)), amplitudes)
        amplitudes *= sample.size
        if few:
            kernels.combine_pass(features, amplitudes, output)
        else:
            tiles.run(kernels.output_pass, tiles.blocks, omega.astype(tiles.dtype), amplitudes, output)
        return amplitudes, output


def drawn_scale(round: Round, gains: Array) -> int:
    """A scale by what all have earned, (S,): one that was not tried yet, else with odds of the squared gains."""
    chance, untried = round.rng.random(), np.flatnonzero(np.isnan(gains))
    if len(untried):
        return int(untried[0])
    odds, even = np.square(gains), 1.0 / len(gains)
    share = odds / odds.sum() if 0.0 < odds.sum() < np.inf else np.full(len(gains), even)
    total = np.cumsum((1.0 - EVEN) * share + EVEN * even)
    return min(int(np.searchsorted(total, chance)), len(gains) - 1)
