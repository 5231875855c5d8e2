"""A round on a sample of the rows, and what its term is worth on those that are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..core import Round
from ..data.sampling import draw_weighted, sampling_probabilities
from ..kernels import compiled
from ..utils.typing import Array

# Counts are capped here when sampling: beyond, the kept share of a weight varies by less than a thousandth.
MOST_COUNTED = 1e6


def sampled(round: Round, share: float) -> tuple[Round, Array]:
    """The round with the weights of a sample of about `share` of its rows, and the weights (n,) of the others."""
    kept = shares_kept(round.rng, round.weight, share)
    if not kept.any():
        kept[:] = 1.0
    return replace(round, weight=kept * round.weight), (1.0 - kept) * round.weight


def informative(round: Round, size: int, rows: Array | None = None) -> tuple[Round, Array]:
    """About `size` of some rows, large gradients preferred, and the round in which these weigh less for it."""
    used = np.flatnonzero(round.weight) if rows is None else rows
    if len(used) <= size:
        return round, used
    chances = sampling_probabilities(used, round.gradient, round.weight, size)
    rows, factor = draw_weighted(round.rng, used, chances, size)
    weight = round.weight.copy()
    weight[rows] *= factor
    return replace(round, weight=weight), rows


def shares_kept(rng: np.random.Generator, weight: Array, share: float) -> Array:
    """The fraction of each row's weight that a random sample of the rows keeps: (n,), from 0 to 1.

    A row of weight 2 is two rows, of which none, one or both may be kept: heavy rows are rarely left out entirely.
    """
    kept = (rng.random(len(weight), dtype=np.float32) < share).astype(np.float64)
    several = np.flatnonzero(weight >= 1.5)
    if len(several):
        counts = np.rint(np.minimum(weight[several], MOST_COUNTED)).astype(np.int64)
        kept[several] = rng.binomial(counts, share) / counts
    return kept


def relative_gain(round: Round, output: Array, weight: Array) -> float:
    """The relative gain of a full step along `output`, as in :class:`Mixture`, at least 0.

    Rows are weighted by `weight` (n,); the values of those of weight 0 are ignored.
    """
    gradient, counts = round.gradient, round.output_weights
    if counts is not None:
        gradient, output = np.sqrt(counts) * gradient, np.sqrt(counts) * output
    gain, possible, curvature, total = compiled("second_order_cosines").gain_of_step(
        gradient, round.hessian, weight, output, weight > 0.0
    )
    return float(max(0.0, gain) * (curvature / total) / possible) if possible > 0.0 else 0.0


def update(averages: Array, index: int, value: float, memory: float) -> None:
    """Add a value to one of several moving averages, in place; one that has none yet is NaN."""
    old = value if np.isnan(averages[index]) else averages[index]
    averages[index] = memory * old + (1.0 - memory) * value
