"""What the learners of many cosines at once share: parameters, and what identifies a kernel."""

from __future__ import annotations

from collections.abc import Hashable

from ...core import Learner
from ...utils.param_validation import BOOL, OPTIONAL, POSITIVE, Integer, Range
from ..fourier.second_order import MERGED, POOL_SIZE
from .frequency_selection import FrequencyBudget


class KernelMachine(Learner):
    """K random Fourier features of one Gaussian kernel, whose amplitudes are fitted together.

    The parameters are those of :class:`RFFRidge`; learners derived from this one have defaults of their own.
    """

    step = "unit"
    multi_output = True
    stops_early = True
    supports_log_transform = True
    pool_size = POOL_SIZE
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
        n_components: int,
        gamma: tuple[float, float],
        l2: tuple[float, float],
        n_values: int,
        n_scored: int,
        compare_scales: bool,
        max_samples: int,
        n_directions: int,
        per_degree: float | None,
        relative_rate: float,
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

    def merges_rows(self, n_samples: int) -> bool:
        """As second-order cosines do."""
        return n_samples <= MERGED

    @property
    def _key(self) -> tuple[Hashable, ...]:
        """What identifies the frequencies of this learner and what is made of them, in values that are stored."""
        frequencies = self.n_components, self.n_directions, self.per_degree
        kernel = *self.gamma, *self.l2, self.n_values, self.n_scored, self.compare_scales, self.max_samples
        return type(self), *frequencies, *kernel

    @property
    def _wanted(self) -> FrequencyBudget:
        """The frequencies of a kernel."""
        return FrequencyBudget(self.n_components, self.n_directions, self.per_degree)
