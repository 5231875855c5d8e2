"""Rounds on a sample of the rows, and the gain of a term on the other rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core import Round
from ..kernels import compiled
from ..rows.sampling import SHARE_BY_WEIGHT
from ..utils.typing import Array

# Upper bound on binomial counts: beyond, the sampled fraction varies by less than a thousandth.
MAX_COUNT = 1e6


def sample_rows(round: Round, share: float, whole: bool = False) -> tuple[Round, Array]:
    """The round weighted by a sample of about `share` of its rows, and the weights (n,) of the other rows.

    A row of weight 2 counts as two rows, each of which is in the sample or not; with `whole` they are not divided.
    """
    weight, (inside, outside) = round.weight, np.empty((2, len(round.weight)))
    seed = np.uint64(round.rng.integers(2**63))
    has_repeats = compiled("row_sampling").divide_weights(weight, share, seed, inside, outside)
    if has_repeats and not whole:
        rows = np.flatnonzero(weight >= 1.5)
        counts = np.rint(np.minimum(weight[rows], MAX_COUNT)).astype(np.int64)
        inside[rows] = round.rng.binomial(counts, share) / counts * weight[rows]
        outside[rows] = weight[rows] - inside[rows]
    if not inside.any():
        inside, outside = weight, np.zeros(len(weight))
    return replace(round, weight=inside), outside


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
    """Draw about `size` of the rows of positive weight, as by :func:`~rffboost_ext.rows.sampling.draw_weighted`.

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
    return rows[:m].copy(), size / n_used / chance[:m]


def relative_gain(round: Round, output: Array, weight: Array) -> float:
    """The relative gain of a full step along `output` as in :class:`Mixture`, at least 0.

    Rows are weighted by `weight` (n,); rows of weight 0 are ignored.
    """
    n_outputs = output.shape[1]
    unit = np.ones(n_outputs) if round.output_weights is None else np.sqrt(round.output_weights)
    gain, possible, curvature, total = compiled("row_sampling").expansion_sums(
        round.balanced_gradient, round.hessian, output, unit, weight
    )
    mean_hessian = curvature / (total * n_outputs) if total > 0.0 else 0.0
    return float(max(0.0, gain) * mean_hessian / possible) if possible > 0.0 else 0.0
