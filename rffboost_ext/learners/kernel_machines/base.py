"""The common base of kernel machines: hyperparameters, kernel selection and reuse of factorised systems."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from ...core import Learner, Round, Term
from ...terms import Cosines
from ...terms.cosine_arrays import Projection
from ...utils.kernel_ridge import SelectedKernel
from ...utils.parallel import SINGLE_BLAS
from ...utils.param_validation import BOOL, OPTIONAL, POSITIVE, Integer, Range
from ...utils.typing import Array
from ..fourier.second_order import cap_relative_rate
from ..subsampling import sample_by_gradient
from .frequency_selection import select_frequencies
from .kernel_selection import KernelSelection
from .least_squares import LeastSquares, ReweightedLeastSquares
from .random_features import FittedFeatures, RandomFeatures

S = TypeVar("S")
# Values of gamma, and of the penalty, that are compared, on a logarithmic grid.
N_VALUES = 4


class Solved(NamedTuple):
    """A solved least-squares system: features are multiplied by ``unit * coefficients * norms``, (C, 1 + 2K)."""

    system: LeastSquares | ReweightedLeastSquares
    coefficients: Array
    norms: Array | float = 1.0
    unit: float = 1.0


@dataclass(eq=False, repr=False)
class KernelMachine(Learner):
    """K random Fourier features of one Gaussian kernel with jointly fitted amplitudes.

    The parameters and their defaults are those of :class:`RFFRidge`.
    """

    n_components: int = 256
    gamma: tuple[float, float] = (0.03, 3.0)
    l2: tuple[float, float] = (0.001, 1.0)
    compare_scales: bool = True
    max_samples: int = 3_000
    n_directions: int = 4
    per_degree: float | None = None
    relative_rate: float = 1.0

    step = "unit"
    multi_output = True
    constraints = {
        "n_components": Integer(1),
        "gamma": Range(),
        "l2": Range(),
        "compare_scales": BOOL,
        "max_samples": Integer(1),
        "n_directions": Integer(1),
        "per_degree": POSITIVE | OPTIONAL,
        "relative_rate": POSITIVE,
    }

    @property
    def _cache_key(self) -> tuple[Hashable, ...]:
        """The hyperparameters that determine the frequencies and the systems, as storable values."""
        frequencies = self.n_components, self.n_directions, self.per_degree
        kernel = *self.gamma, *self.l2, self.compare_scales, self.max_samples
        return type(self), *frequencies, *kernel

    def fit(self, round: Round) -> tuple[Cosines, Array]:
        """The cosines of this round, and their outputs."""
        with SINGLE_BLAS:
            omega, projection, *kernel = round.design.learner_state(
                (*self._cache_key, "kernel"), lambda: self._select_kernel(round)
            )
            return self._fitted(round, RandomFeatures(omega, projection), *kernel)

    def refit(self, term: Term, round: Round) -> tuple[Cosines, Array]:
        """The frequencies of `term` with amplitudes for this round, and their outputs."""
        with SINGLE_BLAS:
            features = FittedFeatures(Cosines.of(term))
            kernel = round.design.learner_state(
                (*self._cache_key, "penalty"), lambda: self._select_penalty(round, features)
            )
            return self._fitted(round, features, *kernel)

    def _fitted(
        self, round: Round, features: RandomFeatures | FittedFeatures, *kernel: Any
    ) -> tuple[Cosines, Array]:
        """The term of the features with amplitudes for this round, and its outputs."""
        sample, rows = sample_by_gradient(round, self.max_samples)
        solved = self._solve(round, sample, rows, features, *kernel)
        if len(rows) == len(round.raw):
            output = solved.system.predict(solved.coefficients)
        else:
            output = features.predict(round, solved.coefficients * solved.norms)
        rate = solved.unit * cap_relative_rate(self.relative_rate, round)
        return features.term(rate * solved.coefficients * solved.norms), rate * output

    @abstractmethod
    def _select_kernel(self, round: Round) -> tuple[Any, ...]:
        """Frequencies (K, d) or (K, r), their projection or None, and what else rounds share."""

    @abstractmethod
    def _select_penalty(self, round: Round, features: FittedFeatures) -> tuple[Any, ...]:
        """What rounds of given frequencies share."""

    def _old_amplitudes(self, round: Round, features: FittedFeatures) -> Array:
        """The amplitudes of a fitted term before the relative rate, (C, 1 + 2K)."""
        return features.amplitudes / cap_relative_rate(self.relative_rate, round)

    @abstractmethod
    def _solve(
        self, round: Round, sample: Round, rows: Array, features: RandomFeatures | FittedFeatures, *kernel: Any
    ) -> Solved:
        """The kernel machine of a round, on rows (m,) with the weights of `sample`."""

    def _kernel_selection(self, round: Round, target: Array) -> KernelSelection:
        return KernelSelection.from_round(round, target, self.max_samples, self.compare_scales)

    def _select_frequencies(
        self, selection: KernelSelection, kernel: SelectedKernel
    ) -> tuple[Array, Projection | None]:
        """Frequencies (K, d), or (K, r) of coordinates with their projection."""
        return select_frequencies(selection, kernel, self.n_components, self.n_directions, self.per_degree)

    def _reuse_system(self, round: Round, sample: Round, state: bytes, build: Callable[[], S]) -> S:
        """Return the system of the previous round if it had the same `state`, else build one.

        Systems of subsampled rounds are not kept. The state changes between rounds of a mixture, whose rows
        differ.
        """
        if sample is not round:
            return build()
        systems: dict[bytes, S] = round.design.cache((*self._cache_key, "system"), dict)
        if state not in systems:
            systems.clear()
            systems[state] = build()
        return systems[state]
