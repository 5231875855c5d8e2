"""Selection of a Gaussian kernel by the leave-one-out error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core import Round
from ...data.sampling import draw_uniform
from ...utils.kernel_ridge import PenaltySearch, SelectedKernel, best_kernel, best_ridge
from ...utils.typing import Array
from .feature_scales import SCALES, ScaleFunction, feature_columns

# Minimum number of rows to compare kernels on; fewer are too noisy.
MIN_SCORED = 96
# Minimum number of rows to compare scales of features on: with fewer, scales of trees lose accuracy.
MIN_COMPARED = 256


@dataclass(frozen=True)
class KernelSelection:
    """The rows and targets of a round on which kernels are compared.

    Parameters
    ----------
    round : Round
    target : ndarray of shape (n, C)
        Targets of C outputs, in units in which their errors can be added.
    fitted, scored : ndarray of shape (u,) and (m,), ascending
        Rows that are fitted, and the subset on which kernels are compared.
    scales : sequence of callable
        The functions of `SCALES` that are compared.
    """

    round: Round
    target: Array
    fitted: Array
    scored: Array
    scales: Sequence[ScaleFunction]

    @classmethod
    def from_round(
        cls, round: Round, target: Array, max_samples: int, n_scored: int, compare_scales: bool
    ) -> KernelSelection:
        """Draw at most `max_samples` rows, and score on a quarter of them, from `MIN_SCORED` to `n_scored`."""
        fitted = draw_uniform(round.rng, np.flatnonzero(round.weight), max_samples)
        scored = draw_uniform(round.rng, fitted, min(n_scored, max(MIN_SCORED, len(fitted) // 4)))
        if round.output_weights is not None:
            target = np.sqrt(round.output_weights) * target
        scales = SCALES if compare_scales and len(fitted) >= MIN_COMPARED else SCALES[:1]
        return cls(round, target, fitted, scored, scales)

    def best_ridge(self, gammas: Array, penalties: Array) -> SelectedKernel:
        """The kernel and penalty of the best kernel ridge regression."""
        target, weight = self.target[self.scored], self.round.weight[self.scored]
        return best_ridge(self._scaled_features(), target, weight, gammas, penalties)

    def best_kernel(self, gammas: Array, search: PenaltySearch) -> SelectedKernel:
        """The best kernel of the first scale."""
        return best_kernel(next(self._scaled_features()), gammas, search)

    def _scaled_features(self) -> Iterator[Array]:
        """The scored rows, (m, d), in each scale; scales are learned from the other fitted rows."""
        others = np.setdiff1d(self.fitted, self.scored, assume_unique=True)
        X = feature_columns(self.round, self.scored).T.astype(np.float64)
        return (scale(self.round, self.target, others) * X for scale in self.scales)

    def with_scale(self, index: int) -> KernelSelection:
        """The same selection with one scale only."""
        return replace(self, scales=[self.scales[index]])
