"""The common base of kernel machines: hyperparameters, kernel selection and reuse of factorised systems."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

from ...core import Learner, Round
from ...terms.projection import Projection
from ...utils.kernel_ridge import SelectedKernel
from ...utils.param_validation import BOOL, OPTIONAL, POSITIVE, Integer, Range
from ...utils.typing import Array
from .frequency_selection import FrequencyBudget, select_frequencies
from .kernel_selection import KernelSelection

S = TypeVar("S")


class KernelMachine(Learner):
    """K random Fourier features of one Gaussian kernel with jointly fitted amplitudes.

    The parameters and their defaults are those of :class:`RFFRidge`.
    """

    step = "unit"
    multi_output = True
    constraints = {
        "n_components": Integer(1),
        "gamma": Range(),
        "l2": Range(),
        "n_values": Integer(1),
        "n_scored": Integer(2),
        "compare_scales": BOOL,
        "max_samples": Integer(1),
        "n_directions": Integer(1),
        "per_degree": POSITIVE | OPTIONAL,
        "relative_rate": POSITIVE,
    }

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
        self.n_components = n_components
        self.gamma = gamma
        self.l2 = l2
        self.n_values = n_values
        self.n_scored = n_scored
        self.compare_scales = compare_scales
        self.max_samples = max_samples
        self.n_directions = n_directions
        self.per_degree = per_degree
        self.relative_rate = relative_rate

    @property
    def _cache_key(self) -> tuple[Hashable, ...]:
        """The hyperparameters that determine the frequencies and the systems, as storable values."""
        frequencies = self.n_components, self.n_directions, self.per_degree
        kernel = *self.gamma, *self.l2, self.n_values, self.n_scored, self.compare_scales, self.max_samples
        return type(self), *frequencies, *kernel

    def _kernel_selection(self, round: Round, target: Array) -> KernelSelection:
        return KernelSelection.from_round(round, target, self.max_samples, self.n_scored, self.compare_scales)

    def _select_frequencies(self, selection: KernelSelection, kernel: SelectedKernel) -> Array:
        """Frequencies (K, d), or (K, r) of coordinates whose projection is kept beside them."""
        budget = FrequencyBudget(self.n_components, self.n_directions, self.per_degree)
        omega, projection = select_frequencies(selection, kernel, budget)
        selection.round.design.learner_state((*self._cache_key, "projection"), lambda: projection)
        return omega

    def _projection(self, round: Round) -> Projection | None:
        """The projection of the selected frequencies; learner states of earlier versions have none."""
        return round.design.learner_state((*self._cache_key, "projection"), lambda: None)

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
