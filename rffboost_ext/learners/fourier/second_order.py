"""Second-order cosines on sparse random supports."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...core import Learner, Optimizer, Round, Term
from ...kernels import compiled
from ...terms import Cosines
from ...utils.parallel import run_over_tiles
from ...utils.param_validation import FRACTION, NON_NEGATIVE, POSITIVE, Integer, Range, is_auto
from ...utils.typing import Array
from ..optimizers import LBFGS, OPTIMIZERS
from ..registry import LEARNERS
from ..subsampling import draw_by_gradient
from .fitted_frequencies import angles, cosine_term, of_single_frequency, with_amplitudes
from .sparse_supports import add_gain, draw_candidates, feature_probability

# Lower bound on the unit of hessians: the square of a penalty in this unit is finite.
MIN_HESSIAN_UNIT = 1e-100
# Cosines of candidates and rows for each thread, which takes 100 microseconds to start.
MIN_COSINES = 2**15
# Minimum number of rows per feature of a support: a frequency with as many components as rows overfits.
ROWS_PER_FEATURE = 2
# Probability of the largest support of a candidate.
DENSE = 0.2

# A few iterations, because the start is the best of many candidates.
REFINEMENT = LBFGS(max_iter=6, tol=1e-6, rel_tol=1e-4)


@LEARNERS.register("rff_newton")
@dataclass(eq=False, repr=False)
class RFFNewton(Learner):
    r"""One frequency per round, shared by all outputs: ``f_c(x) = a_c cos(<omega, x>) + b_c sin(<omega, x>)``.

    With the gradient g and the hessian H of any loss, the gain of a frequency is the reduction of the second-order
    expansion by the optimal amplitudes (a_c, b_c),

    .. math:: \sum_i w_i \sum_c \left( g_{ic} f_c(x_i) + \tfrac12 H_{ic} f_c(x_i)^2 \right)
              + \tfrac{\lambda}{2} \sum_c (a_c^2 + b_c^2),

    a two by two system per output. Of many random candidates on sparse supports the one of largest gain is refined
    on its support by a few iterations of L-BFGS on this profiled objective. Neither the phase nor the step size is
    searched for. A support has all features, or half as many as rows if this is smaller, with probability 0.2, and
    otherwise a log-uniform number up to this.

    Parameters
    ----------
    n_candidates : int, default=32
        Frequencies drawn in each round.
    max_samples : int, default=5_000
        Number of rows on which a round refines its frequency. They are drawn in each round with probabilities that
        grow with the gradient, and weighted inversely.
    n_scored : int, default=1_000
        Number of these rows on which candidates are scored, drawn likewise.
    gamma : pair of float, default=(0.125, 8.0)
        Range of the kernel parameter gamma, drawn log-uniformly for each candidate: frequencies are
        ``N(0, 2 gamma / s)`` per standardised feature on a support of s features.
    earned : float, default=0.5
        Share of the probability of a feature that is proportional to its accumulated gain; the rest is uniform.
    l2 : float, default=1.0
        Penalty on the squared amplitudes, lambda.
    min_hessian : float, default=0.0
        Lower bound on hessians, relative to their mean over the rows of the first round, per output. Without it,
        cosines may change the scores of well-fitted rows, where the loss is flat. Estimators set 0.1 by default
        with more than 3,000 rows.
    optimizer : str or Optimizer, default="auto"
        Optimizer that refines the frequency; "auto" is six iterations of L-BFGS.
    relative_rate : float, default=1.0
        Factor on the amplitudes: a step is this many times the learning rate, but at most a full one. A cosine has
        fewer parameters than a tree and tolerates a larger learning rate.

    Notes
    -----
    One output yields one cosine of amplitude ``hypot(a, b)`` and phase ``atan2(b, a)``; several outputs yield two.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, RFFNewton
    >>> X = np.linspace(-3.0, 3.0, 200)[:, None]
    >>> model = RFFBoostRegressor(learner=RFFNewton(gamma=(0.5, 4.0)), n_estimators=30, early_stopping=False)
    >>> bool(model.fit(X, np.sin(3.0 * X[:, 0])).score(X, np.sin(3.0 * X[:, 0])) > 0.8)
    True
    """

    n_candidates: int = 32
    max_samples: int = 5_000
    n_scored: int = 1_000
    gamma: tuple[float, float] = (0.125, 8.0)
    earned: float = 0.5
    l2: float = 1.0
    min_hessian: float = 0.0
    optimizer: str | Optimizer = "auto"
    relative_rate: float = 1.0

    step = "unit"
    multi_output = True
    constraints = {
        "n_candidates": Integer(1),
        "max_samples": Integer(1),
        "n_scored": Integer(1),
        "gamma": Range(),
        "earned": FRACTION,
        "l2": NON_NEGATIVE,
        "min_hessian": NON_NEGATIVE,
        "relative_rate": POSITIVE,
    }
    roles = {"optimizer": OPTIMIZERS}

    def fit(self, round: Round) -> tuple[Cosines, Array]:
        """The frequency of this round as one cosine, or two if there are several outputs."""
        d, output_weights = round.design.n_features, round.output_weights
        feature_gains = round.design.learner_state((RFFNewton, "earnings"), lambda: np.zeros(d))
        rows, tiles = RowsOfSample.all_of(round).drawn(round.rng, self.max_samples), round.design.tiles
        floor = self._hessian_floor(round)
        probability = feature_probability(feature_gains, self.earned)
        largest = min(d, max(1, len(rows.numbers) // ROWS_PER_FEATURE))
        candidates = draw_candidates(
            round.rng, self.n_candidates, probability, DENSE, self.gamma, tiles.dtype, largest
        )
        scored = rows.drawn(round.rng, self.n_scored)
        sample = scored.weighted(tiles.gather(scored.numbers, np.arange(d)), floor)
        features, omega = self._best_candidate(round, candidates, sample)
        if scored is rows:
            sample = replace(sample, x=sample.x[features])
        else:
            sample = rows.weighted(tiles.gather(rows.numbers, features), floor)
        omega, pairs, gain = self._refine(sample, omega)
        add_gain(feature_gains, features, omega, gain)
        pairs *= cap_relative_rate(self.relative_rate, round)
        if output_weights is not None:
            # Weighting an output by v is scaling it by sqrt(v).
            pairs /= np.sqrt(output_weights)[:, None]
        full = np.zeros((1, d))
        full[:, features] = omega
        return cosine_term(full, pairs), self._output(round, features, omega, pairs)

    def refit(self, term: Term, round: Round) -> tuple[Cosines, Array]:
        """The frequency of `term` with amplitudes for all rows of this round."""
        cosines = of_single_frequency(term)
        angle, floor = angles(cosines, round.design)[:1], self._hessian_floor(round)
        rate = np.full((round.raw.shape[1], 1), cap_relative_rate(self.relative_rate, round))
        if round.output_weights is not None:
            rate /= np.sqrt(round.output_weights)[:, None]
        sample = (
            RowsOfSample.all_of(round)
            .weighted(angle, floor)
            .with_prior(cosines.cos_sin_weights.sum(axis=1).T / rate, round.prior)
        )
        objective = ProfiledGain(sample, self.l2)
        objective(np.ones(1))
        pairs = objective.amplitudes * rate
        output = np.cos(angle.T) * pairs[:, 0] + np.sin(angle.T) * pairs[:, 1]
        return with_amplitudes(cosines, slice(1), pairs), output

    def _hessian_floor(self, round: Round) -> Array | None:
        """The lower bound on hessians, (C,); None without one."""
        if self.min_hessian == 0.0:
            return None
        mean = round.design.learner_state((RFFNewton, "hessian"), lambda: mean_hessian(round))
        return self.min_hessian * mean

    def _best_candidate(
        self, round: Round, candidates: tuple[Array, Array, Array], sample: DerivativeSample
    ) -> tuple[Array, Array]:
        """Support and frequencies of the candidate of largest gain on a sample of all features."""
        sizes, features, omega = candidates
        gains = np.empty(len(sizes))
        args = sample.x, *candidates, sample.g, sample.h, sample.scaled_penalty(self.l2), gains
        kernel, least = compiled("second_order_cosines").score_pass, -(-MIN_COSINES // sample.x.shape[1])
        run_over_tiles(kernel, len(gains), round.design.n_jobs, *args, least=least)
        best = int(gains.argmax())
        return features[best, : sizes[best]], omega[best, : sizes[best]].astype(np.float64)

    def _refine(self, sample: DerivativeSample, omega: Array) -> tuple[Array, Array, float]:
        """A frequency near `omega` of larger gain, its amplitudes (C, 2) and its gain."""
        optimizer = REFINEMENT if is_auto(self.optimizer) else OPTIMIZERS.make(self.optimizer)
        objective = ProfiledGain(sample, self.l2)
        omega = np.asarray(optimizer.minimise(objective, omega))
        value, _ = objective(omega)
        unit = sample.gradient_unit / sample.hessian_unit
        return omega, objective.amplitudes, -value * objective.first * (sample.gradient_unit * unit)

    def _output(self, round: Round, features: Array, omega: Array, pairs: Array) -> Array:
        """Outputs on all rows of the design, (n, C)."""
        tiles, out = round.design.tiles, np.empty_like(round.raw)
        kernel = compiled("second_order_cosines").output_pass
        tiles.run(kernel, tiles.blocks, features, omega.astype(tiles.dtype), pairs, out)
        return out


class RowsOfSample(NamedTuple):
    """Some rows of a round.

    Attributes
    ----------
    numbers : ndarray of shape (m,)
        Which rows they are, ascending.
    gradient, hessian : ndarray of shape (m, C)
    weight : ndarray of shape (m,)
    """

    numbers: Array
    gradient: Array
    hessian: Array
    weight: Array

    @classmethod
    def all_of(cls, round: Round) -> RowsOfSample:
        """All rows."""
        return cls(np.arange(len(round.weight)), round.balanced_gradient, round.hessian, round.weight)

    def drawn(self, rng: np.random.Generator, size: int) -> RowsOfSample:
        """About `size` of the rows of positive weight, drawn by their gradients; all if there are no more."""
        rows, factor = draw_by_gradient(rng, self.gradient, self.weight, size)
        if len(rows) == len(self.numbers):
            return self
        numbers, gradient, hessian, weight = (one.take(rows, axis=0) for one in self)
        return RowsOfSample(numbers, gradient, hessian, weight if factor is None else factor * weight)

    def weighted(self, x: Array, hessian_floor: Array | None) -> DerivativeSample:
        """The sample of these rows with features x (s, m); `hessian_floor` (C,) is a lower bound on hessians."""
        g, h = np.empty((2, self.gradient.shape[1], len(self.numbers)), x.dtype)
        hessian = self.hessian if hessian_floor is None else np.maximum(self.hessian, hessian_floor)
        weigh = compiled("second_order_cosines").weigh
        gradient_unit = weigh(g, self.gradient, self.weight, 0.0)
        return DerivativeSample(x, g, h, gradient_unit, weigh(h, hessian, self.weight, MIN_HESSIAN_UNIT))


@dataclass(frozen=True)
class DerivativeSample:
    """Features and derivatives of some rows for the compiled passes, scaled to order 1 for float32.

    Parameters
    ----------
    x : ndarray of shape (s, m)
        Features.
    g, h : ndarray of shape (C, m)
        Weighted gradients and hessians, in the units below.
    gradient_unit, hessian_unit : float
    """

    x: Array
    g: Array
    h: Array
    gradient_unit: float
    hessian_unit: float

    def with_prior(self, pairs: Array, weight: Array) -> DerivativeSample:
        """The sample of angles x (1, m), and two rows of some weight (C,) whose outputs are `pairs` (C, 2)."""
        weights, dtype = np.repeat(weight[:, None], 2, axis=1), self.x.dtype
        x = np.hstack([self.x, [[0.0, 0.5 * np.pi]]]).astype(dtype)
        g = np.hstack([self.g, -weights * pairs / self.gradient_unit]).astype(dtype)
        h = np.hstack([self.h, weights / self.hessian_unit]).astype(dtype)
        return replace(self, x=x, g=g, h=h)

    def scaled_penalty(self, l2: float) -> float:
        """The penalty `l2` on squared amplitudes in the units of the sample."""
        return l2 / self.hessian_unit


class ProfiledGain:
    """The negative gain of a frequency with its optimal amplitudes, relative to that of the first evaluation.

    Attributes
    ----------
    pairs : ndarray of shape (C, 2)
        Amplitudes of the last evaluation.
    first : float
        The gain of the first evaluation.
    """

    def __init__(self, sample: DerivativeSample, l2: float) -> None:
        self.sample, self.l2 = sample, sample.scaled_penalty(l2)
        self.kernel = compiled("second_order_cosines").profile_pass
        self.pairs, self.first = np.empty((len(sample.g), 2)), 0.0

    @property
    def amplitudes(self) -> Array:
        """The amplitudes of the last evaluation in the units of the derivatives, (C, 2)."""
        return self.pairs * (self.sample.gradient_unit / self.sample.hessian_unit)

    def __call__(self, omega: Array) -> tuple[float, Array]:
        sample, gradient = self.sample, np.empty(len(omega))
        point = omega.astype(sample.x.dtype)
        gain = self.kernel(sample.x, point, sample.g, sample.h, self.l2, self.pairs, gradient)
        # Relative values give the tolerances of the optimizer the same meaning for any sample.
        self.first = self.first or gain or 1.0
        return -gain / self.first, -gradient / self.first


def mean_hessian(round: Round) -> Array:
    """The weighted mean of the hessian of each output, (C,)."""
    return np.asarray(np.average(round.hessian, axis=0, weights=round.weight))


def cap_relative_rate(relative_rate: float, round: Round) -> float:
    """The relative rate, reduced if the step would be longer than a full one."""
    return min(relative_rate, max(1.0, 1.0 / round.shrinkage))
