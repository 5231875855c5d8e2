"""Second-order cosines on sparse random supports."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...core import Learner, Optimizer, Round
from ...kernels import compiled
from ...terms import Cosines
from ...utils.parallel import over_tiles
from ...utils.param_validation import NON_NEGATIVE, POSITIVE, Integer, Range, Real
from ...utils.typing import Array
from ..optimizers import LBFGS, OPTIMIZERS
from ..registry import LEARNERS
from ..subsampling import informative
from .sparse_supports import Candidates, FeatureGains, draw_candidates

# Rows per pool: many times the sample of a round, few enough to bound the cost of a round.
POOL_SIZE = 65_536
# With more rows than this, duplicates are not merged.
MERGED = 20_000
# The smallest unit of curvatures: the square of a penalty in this unit is still finite.
LEAST_CURVATURE = 1e-100
SHARE = Real(0.0, 1.0, inclusive=True)
# A support has at most one feature per this many rows: a frequency with as many components as there are rows
# overfits. With 2 informative features of 500, R2 is 0.45 instead of 0.31 on 60 rows, and 0.83 instead of 0.78 on
# 200.
ROWS_PER_FEATURE = 2

# A few steps: the frequency that a round refines is the best of many already.
REFINEMENT = LBFGS(max_iter=6, tol=1e-6, rel_tol=1e-4)


@LEARNERS.register("rff_newton")
class RFFNewton(Learner):
    r"""One frequency per round, shared by all outputs: ``f_c(x) = a_c cos(omega . x) + b_c sin(omega . x)``.

    From the gradient g and the hessian H of any loss, the gain of a frequency is how much the best pairs (a_c,
    b_c) reduce the second-order expansion

    .. math:: \sum_i w_i \sum_c \left( g_{ic} f_c(x_i) + \tfrac12 H_{ic} f_c(x_i)^2 \right)
              + \tfrac{\lambda}{2} \sum_c (a_c^2 + b_c^2),

    a two by two system per output. Of many random candidates on sparse supports the one that gains most is kept,
    then refined within its support by a few steps of L-BFGS on that profiled objective. There is no search for a
    phase, nor for a step size.

    Parameters
    ----------
    n_candidates : int, default=32
        Frequencies drawn in each round.
    max_samples : int, default=5_000
        Rows that a round refines its frequency on, drawn anew each time, those of large gradients more often and
        at a smaller weight; the cost of a round hardly grows with more rows than this.
    n_scored : int, default=1_000
        Rows of these that the candidates are scored on, drawn likewise.
    gamma : pair of float, default=(0.125, 8.0)
        Range of the kernel parameter gamma, drawn log-uniformly for each candidate: frequencies are
        ``N(0, 2 gamma / s)`` per standardised feature on a support of s features.
    dense : float, default=0.2
        Probability of the full support, or of half as many features as there are rows if that is fewer. Other
        supports have a log-uniform size up to that.
    earned : float, default=0.5
        Share of the probability of a feature that is proportional to its gains so far; the rest is uniform.
    l2 : float, default=1.0
        Penalty on the squared amplitudes, lambda.
    min_hessian : float, default=0.0
        Hessians count as at least this share of their mean over the rows of the first round, output by output.
        Where rows are fitted well the loss is all but flat, and a cosine that helps elsewhere may bend the scores
        there, and beyond, at no cost. The default of the estimators sets 0.1 with more than 3,000 rows.
    optimizer : str or Optimizer, default="auto"
        Optimizer that refines the frequency; "auto" is six steps of L-BFGS.
    relative_rate : float, default=1.0
        Factor on the amplitudes: a step is this many times the learning rate, but at most a full one. A cosine has
        two amplitudes where a tree has many leaves, and tolerates a larger learning rate than trees next to it.

    Notes
    -----
    One output yields one cosine of amplitude ``hypot(a, b)`` and phase ``atan2(b, a)``, several outputs yield two.
    """

    step = "unit"
    multi_output = True
    stops_early = True
    supports_log_transform = True
    pool_size = POOL_SIZE
    constraints = {
        "n_candidates": Integer(1),
        "max_samples": Integer(1),
        "n_scored": Integer(1),
        "gamma": Range(),
        "dense": SHARE,
        "earned": SHARE,
        "l2": NON_NEGATIVE,
        "min_hessian": NON_NEGATIVE,
        "relative_rate": POSITIVE,
    }
    roles = {"optimizer": OPTIMIZERS}

    def __init__(
        self,
        n_candidates: int = 32,
        max_samples: int = 5_000,
        n_scored: int = 1_000,
        gamma: tuple[float, float] = (0.125, 8.0),
        dense: float = 0.2,
        earned: float = 0.5,
        l2: float = 1.0,
        min_hessian: float = 0.0,
        optimizer: str | Optimizer = "auto",
        relative_rate: float = 1.0,
    ) -> None:
        self.n_candidates = n_candidates
        self.max_samples = max_samples
        self.n_scored = n_scored
        self.gamma = gamma
        self.dense = dense
        self.earned = earned
        self.l2 = l2
        self.min_hessian = min_hessian
        self.optimizer = optimizer
        self.relative_rate = relative_rate

    def merges_rows(self, n_samples: int) -> bool:
        """Where that is cheap: a row that occurs twice is then drawn once, with twice the weight."""
        return n_samples <= MERGED

    def fit(self, round: Round) -> Cosines:
        """The frequency of this round, as one cosine or, for several outputs, two."""
        d, counts = round.design.n_features, round.output_weights
        # To weight an output by v is to scale it by sqrt(v).
        root = None if counts is None else np.sqrt(counts)
        seen = round if root is None else replace(round, gradient=root * round.gradient)
        earnings = round.design.learner_state((RFFNewton, "earnings"), lambda: FeatureGains(d))
        least = self._least_hessian(round)
        seen, rows = informative(seen, self.max_samples)
        odds, dtype = earnings.probability(self.earned), round.design.tiles.dtype
        largest = min(d, max(1, len(rows) // ROWS_PER_FEATURE))
        candidates = draw_candidates(round.rng, self.n_candidates, odds, self.dense, self.gamma, dtype, largest)
        weighted, scored = informative(seen, self.n_scored, rows)
        sample = Sample.of(weighted, scored, np.arange(d), least)
        features, omega = candidates[self._best(round, candidates, sample)]
        sample = sample.seeing(features) if scored is rows else Sample.of(seen, rows, features, least)
        omega, pairs, gain = self._refined(sample, omega)
        earnings.add(features, omega, gain)
        pairs *= rate_within_full_step(self.relative_rate, round)
        if root is not None:
            pairs /= root[:, None]
        full = np.zeros((1, d))
        full[:, features] = omega
        term = cosines_of(full, pairs)
        round.design.cache_output(term, self._output(round, features, omega, pairs))
        return term

    def _least_hessian(self, round: Round) -> Array | None:
        """The least value that hessians count as, (C,); None without a limit."""
        if self.min_hessian == 0.0:
            return None
        mean = round.design.learner_state((RFFNewton, "hessian"), lambda: mean_hessian(round))
        return self.min_hessian * mean

    def _best(self, round: Round, candidates: Candidates, sample: Sample) -> int:
        """The candidate that gains most on a sample of all features."""
        gains = np.empty(len(candidates))
        frequencies = candidates.sizes, candidates.features, candidates.omega
        given = sample.x, *frequencies, sample.g, sample.h, sample.penalty(self.l2), gains
        over_tiles(compiled("second_order_cosines").score_pass, len(gains), round.design.n_jobs, *given)
        return int(gains.argmax())

    def _refined(self, sample: Sample, omega: Array) -> tuple[Array, Array, float]:
        """A frequency near `omega` that gains more, its pairs (C, 2) and what it gains."""
        if isinstance(self.optimizer, str) and self.optimizer == "auto":
            return refined(sample, omega, self.l2)
        profile = Profile(sample, self.l2)
        omega = np.asarray(OPTIMIZERS.make(self.optimizer).minimise(profile, omega))
        value, _ = profile(omega)
        return omega, profile.pairs * sample.size, -value * profile.first * sample.gain

    def _output(self, round: Round, features: Array, omega: Array, pairs: Array) -> Array:
        """Outputs on all rows of the design, (n, C)."""
        tiles, out = round.design.tiles, np.empty_like(round.raw)
        tiles.run(
            compiled("second_order_cosines").output_pass,
            tiles.blocks,
            features,
            omega.astype(tiles.dtype),
            pairs,
            out,
        )
        return out


@dataclass(frozen=True)
class Sample:
    """Some rows of a round as the compiled passes read them; derivatives are brought to order 1 for float32.

    Parameters
    ----------
    x : ndarray of shape (s, m)
        Features.
    g, h : ndarray of shape (C, m)
        Weighted derivatives, in units of `slope` and `curvature`.
    slope, curvature : float
        The units.
    """

    x: Array
    g: Array
    h: Array
    slope: float
    curvature: float

    @classmethod
    def of(cls, round: Round, rows: Array, features: Array, least: Array | None = None) -> Sample:
        """The sample of `rows`, ascending, that sees only some features; hessians are at least `least` (C,)."""
        tiles, n_outputs = round.design.tiles, round.raw.shape[1]
        x = np.empty((len(features), len(rows)), dtype=tiles.dtype)
        g, h = np.empty((2, n_outputs, len(rows)), dtype=tiles.dtype)
        least = np.full(n_outputs, -np.inf) if least is None else least
        given = tiles.blocks, rows, features, round.gradient, round.hessian, least, round.weight
        slope, curvature = compiled("second_order_cosines").gather_sample(*given, x, g, h)
        if curvature < LEAST_CURVATURE:
            h *= curvature / LEAST_CURVATURE
        return cls(x, g, h, slope, max(curvature, LEAST_CURVATURE))

    def seeing(self, features: Array) -> Sample:
        """The sample that sees only some of its features."""
        return Sample(self.x[features], self.g, self.h, self.slope, self.curvature)

    @property
    def size(self) -> float:
        """The unit of amplitudes."""
        return self.slope / self.curvature

    @property
    def gain(self) -> float:
        """The unit of gains."""
        return self.slope * self.size

    def penalty(self, l2: float) -> float:
        """A penalty on squared amplitudes in the units of the sample."""
        return l2 / self.curvature


class Profile:
    """The negative gain of a frequency with its best pairs, relative to the gain of the first one evaluated.

    ``pairs`` (C, 2) are those last found, ``first`` is the gain of the first frequency.
    """

    def __init__(self, sample: Sample, l2: float) -> None:
        self.sample, self.l2, self.kernel = (
            sample,
            sample.penalty(l2),
            compiled("second_order_cosines").profile_pass,
        )
        self.pairs, self.first = np.empty((len(sample.g), 2)), 0.0

    def __call__(self, omega: Array) -> tuple[float, Array]:
        sample, gradient = self.sample, np.empty(len(omega))
        at = omega.astype(sample.x.dtype)
        gain = self.kernel(sample.x, at, sample.g, sample.h, self.l2, self.pairs, gradient)
        # As a share of the first, so that the optimizer's tolerances mean the same for any sample.
        self.first = self.first or gain or 1.0
        return -gain / self.first, -gradient / self.first


def refined(sample: Sample, omega: Array, l2: float) -> tuple[Array, Array, float]:
    """The result of :data:`REFINEMENT` on :class:`Profile`, all in compiled code, at a fraction of the cost."""
    omega, pairs = omega.copy(), np.empty((len(sample.g), 2))
    limits = REFINEMENT.memory, REFINEMENT.max_iter, REFINEMENT.tol, REFINEMENT.rel_tol
    gain = compiled("second_order_cosines").refine(
        sample.x, omega, sample.g, sample.h, sample.penalty(l2), *limits, pairs
    )
    return omega, pairs * sample.size, gain * sample.gain


def mean_hessian(round: Round) -> Array:
    """The weighted mean of the hessian of each output, (C,)."""
    return np.asarray(np.average(round.hessian, axis=0, weights=round.weight))


def rate_within_full_step(relative_rate: float, round: Round) -> float:
    """The relative rate, or what makes a full step of one that would be longer."""
    return min(relative_rate, max(1.0, 1.0 / round.shrinkage))


def cosines_of(omega: Array, amplitudes: Array) -> Cosines:
    """``f_c(x) = sum_k a_ck cos(omega_k . x) + b_ck sin(omega_k . x)`` as a term.

    Parameters
    ----------
    omega : ndarray of shape (K, d)
        Frequencies.
    amplitudes : ndarray of shape (C, 2K)
        Amplitudes a of the cosines, then b of the sines.
    """
    half = amplitudes.shape[1] // 2
    a, b = amplitudes[:, :half], amplitudes[:, half:]
    if len(amplitudes) == 1:
        return Cosines(omega, np.arctan2(b[0], a[0]), np.hypot(a, b).T.copy())
    phase = np.repeat([0.0, 0.5 * np.pi], len(omega))
    return Cosines(np.concatenate([omega, omega]), phase, amplitudes.T.copy())
