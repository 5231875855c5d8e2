"""The choice of a Gaussian kernel by the error of leaving one row out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...core import Round
from ...data.sampling import draw_uniform
from ...utils.kernel_ridge import Judge, Kernel, best_kernel, best_ridge
from ...utils.typing import Array
from .feature_scales import SCALES, Scale, columns_of

# Fewer rows than this say little about a kernel. 128 change accuracy by -0.02 points (130 fits of 26 sets,
# standard error 0.06), the time of a default fit by 1.04. One choice for all models of a fit, by all of up to 256
# rows, takes as long and gains nothing beyond noise (130 fits: +0.07, 0.08).
LEAST_SCORED = 96
# Fewer rows do not tell scales of features apart: with 145 to 333 rows of 100 to 800 features those of trees lose
# 0.2 points (30 fits of 5 real sets, standard error 0.2).
LEAST_COMPARED = 256


@dataclass(frozen=True)
class KernelSelection:
    """What a round says about kernels.

    Parameters
    ----------
    round : Round
    target : ndarray of shape (n, C)
        What C outputs aim at, in units in which they can be added.
    used, rows : ndarray of shape (u,) and (m,), ascending
        Rows that are fitted, and those of them on which kernels are compared.
    ways : sequence of callable
        Of `SCALES`, what features may be multiplied by.
    """

    round: Round
    target: Array
    used: Array
    rows: Array
    ways: Sequence[Scale]

    @classmethod
    def of(
        cls, round: Round, target: Array, max_samples: int, n_scored: int, compare_scales: bool
    ) -> KernelSelection:
        """Draw the rows: at most `max_samples`, and a quarter of these, or `LEAST_SCORED` to `n_scored`."""
        used = draw_uniform(round.rng, np.flatnonzero(round.weight), max_samples)
        rows = draw_uniform(round.rng, used, min(n_scored, max(LEAST_SCORED, len(used) // 4)))
        aim = target if round.output_weights is None else np.sqrt(round.output_weights) * target
        return cls(
            round, aim, used, rows, SCALES if compare_scales and len(used) >= LEAST_COMPARED else SCALES[:1]
        )

    def by_squares(self, gammas: Array, penalties: Array) -> Kernel:
        """The best kernel and penalty of kernel ridge regression."""
        target, weight = self.target[self.rows], self.round.weight[self.rows]
        return best_ridge(self._scaled(), target, weight, gammas, penalties)

    def best(self, gammas: Array, judge: Judge) -> Kernel:
        """The best kernel of the first scale."""
        return best_kernel(next(self._scaled()), gammas, judge)

    def _scaled(self) -> Iterator[Array]:
        """The compared rows, (m, d), in each scale; these are learned from other rows."""
        rest = np.setdiff1d(self.used, self.rows, assume_unique=True)
        X = columns_of(self.round, self.rows).T.astype(np.float64)
        return (way(self.round, self.target, rest) * X for way in self.ways)

    def among(self, scale: int) -> KernelSelection:
        """The same with one of the scales alone."""
        return replace(self, ways=[self.ways[scale]])
