"""Rounds on a sample of the rows, and the gain of a term on the other rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core import Round
from ..data.sampling import draw_weighted, sampling_probabilities
from ..kernels import compiled
from ..utils.typing import Array

# Upper bound on binomial counts: beyond, the sampled fraction varies by less than a thousandth.
MAX_COUNT = 1e6
# The share of the rows for the splits of trees that is drawn by weight alone.
BY_WEIGHT = 1.0 / 3.0


def sample_rows(round: Round, share: float, whole: bool = False) -> tuple[Round, Array]:
    """The round weighted by a sample of about `share` of its rows, and the weights (n,) of the other rows.

    With `whole` a row of weight 2 is in one of both, and not divided between them.
    """
    kept = sampled_fractions(round.rng, np.sign(round.weight) if whole else round.weight, share)
    if not kept.any():
        kept[:] = 1.0
    return replace(round, weight=kept * round.weight), (1.0 - kept) * round.weight


def sample_by_gradient(round: Round, size: int, rows: Array | None = None) -> tuple[Round, Array]:
    """Draw about `size` of `rows` with probabilities that grow with the gradient.

    Returns the round with weights divided by the relative probabilities, and the drawn rows.
    """
    used = np.flatnonzero(round.weight) if rows is None else rows
    if len(used) <= size:
        return round, used
    chances = sampling_probabilities(used, round.balanced_gradient, round.weight, size)
    rows, factor = draw_weighted(round.rng, used, chances, size)
    weight = round.weight.copy()
    weight[rows] *= factor
    return replace(round, weight=weight), rows


class RowSampler:
    """Draws samples of n rows in each round, as :func:`sample_by_gradient` does, in compiled code for many rows.

    Parameters
    ----------
    n_rows, size : int
        The number of rows, and that of the rows of a sample.
    """

    def __init__(self, n_rows: int, size: int) -> None:
        self.size = size
        self._rows, self._chance = np.empty(n_rows, dtype=np.uint32), np.empty(n_rows)

    def draw(self, round: Round) -> tuple[Array, Array]:
        """The drawn rows (m,), ascending, and the factors (m,) on their weights; a third is drawn by weight."""
        seed = np.uint64(round.rng.integers(2**63))
        drawing = round.gradient, round.weight, BY_WEIGHT, self.size, seed, self._rows, self._chance
        m = compiled("row_sampling").draw_rows(*drawing)
        return self._rows[:m].copy(), m / len(self._rows) / self._chance[:m]


def sampled_fractions(rng: np.random.Generator, weight: Array, share: float) -> Array:
    """The fraction of the weight of each row in a random sample: (n,), from 0 to 1.

    A row of weight 2 counts as two rows, each of which is sampled or not.
    """
    kept = (rng.random(len(weight), dtype=np.float32) < share).astype(np.float64)
    several = np.flatnonzero(weight >= 1.5)
    if len(several):
        counts = np.rint(np.minimum(weight[several], MAX_COUNT)).astype(np.int64)
        kept[several] = rng.binomial(counts, share) / counts
    return kept


def relative_gain(round: Round, output: Array, weight: Array) -> float:
    """The relative gain of a full step along `output` as in :class:`Mixture`, at least 0.

    Rows are weighted by `weight` (n,); rows of weight 0 are ignored.
    """
    gradient, counts = round.balanced_gradient, round.output_weights
    if counts is not None:
        output = np.sqrt(counts) * output
    counted = weight > 0.0
    gradient, hessian, output = (part[counted] for part in (gradient, round.hessian, output))
    weight = weight[counted, None]
    gain = -(weight * (gradient + 0.5 * hessian * output) * output).sum()
    possible = 0.5 * (weight * np.square(gradient)).sum()
    curvature = (weight * hessian).sum() / (weight.sum() * hessian.shape[1])
    return float(max(0.0, gain) * curvature / possible) if possible > 0.0 else 0.0
