"""Rounds on a sample of the rows, and the gain of a term on the other rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core import Round
from ..data.sampling import SHARE_BY_WEIGHT
from ..kernels import compiled
from ..utils.typing import Array

# Upper bound on binomial counts: beyond, the sampled fraction varies by less than a thousandth.
MAX_COUNT = 1e6


def sample_rows(round: Round, share: float, whole: bool = False) -> tuple[Round, Array]:
    """The round weighted by a sample of about `share` of its rows, and the weights (n,) of the other rows.

    With `whole` a row of weight 2 is in one of both, and not divided between them.
    """
    kept = sampled_fractions(round.rng, np.sign(round.weight) if whole else round.weight, share)
    if not kept.any():
        kept[:] = 1.0
    return replace(round, weight=kept * round.weight), (1.0 - kept) * round.weight


def sample_by_gradient(round: Round, size: int) -> tuple[Round, Array]:
    """Draw about `size` of the rows of positive weight with probabilities that grow with the gradient.

    Returns the round with weights divided by the relative probabilities, and the drawn rows.
    """
    rows, factor = draw_by_gradient(round.rng, round.balanced_gradient, round.weight, size)
    if factor is None:
        return round, rows
    weight = round.weight.copy()
    weight[rows] *= factor
    return replace(round, weight=weight), rows


def draw_by_gradient(
    rng: np.random.Generator, gradient: Array, weight: Array, size: int, by_weight: float = SHARE_BY_WEIGHT
) -> tuple[Array, Array | None]:
    """Draw about `size` of the rows of positive weight, as by :func:`~rffboost_ext.data.sampling.draw_weighted`.

    Parameters
    ----------
    rng : numpy.random.Generator
    gradient : ndarray of shape (n, C)
    weight : ndarray of shape (n,)
    size : int
    by_weight : float
        Share of the sample that is drawn by weight alone.

    Returns
    -------
    rows : ndarray of shape (m,)
        Ascending, at least one.
    factor : ndarray of shape (m,), or None
        Factors on their weights; None if there are no more than `size` rows, which are all drawn.
    """
    n_used = np.count_nonzero(weight)
    if n_used <= size:
        return np.flatnonzero(weight), None
    rows, chance = np.empty(len(weight), dtype=np.int64), np.empty(len(weight))
    seed = np.uint64(rng.integers(2**63))
    m = compiled("row_sampling").draw_rows(gradient, weight, by_weight, size, seed, rows, chance)
    return rows[:m], size / n_used / chance[:m]


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
