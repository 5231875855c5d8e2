"""The units in which XGBoost sees gradients: its thresholds and its precision are for numbers of order 1."""

from __future__ import annotations

import numpy as np

from ...core import Round
from ...utils.typing import Array

# Targets that vary less than this, or pull with gradients larger than that, are measured in a unit of their own.
SMALLEST_SPREAD, LARGEST_SIZE = 2.0**-5, 2.0**20


def units_of_targets(round: Round) -> Array:
    """For each output 1, or a power of two to measure leaves in.

    For small gradients at the baseline, as of a target of small spread, it is near their size: XGBoost makes no
    split that gains less than 1e-6, whatever the scale of the target. For large gradients it is near their size,
    too: gains are of the order of its square, which may overflow float32.
    """
    spread = np.sqrt(round.mean(np.square(first_gradient(round)).T))
    size = np.sqrt(round.mean(np.square(round.gradient / LARGEST_SIZE).T)) * LARGEST_SIZE
    small, large = (spread > 0.0) & (spread < SMALLEST_SPREAD), size > LARGEST_SIZE
    # At the baseline of a sample without a positive count, gradients are tiny, and in this round they need not be.
    spread = np.maximum(spread, np.minimum(size, 1.0))
    units = np.ones(round.raw.shape[1])
    units[:] = np.exp2(np.floor(np.log2(spread, out=np.zeros_like(spread), where=small)))
    return np.where(large, np.exp2(np.floor(np.log2(size, out=np.zeros_like(size), where=large))), units)


def first_gradient(round: Round) -> Array:
    """The gradient at the baseline, (n, C), as a round has it."""
    counted = round.weight > 0.0
    baseline = round.loss.baseline(round.y[counted], round.weight[counted])
    gradient, _ = round.loss.derivatives(round.y, np.tile(baseline, (len(round.y), 1)))
    return np.asarray(round.loss.unit, dtype=np.float64) * gradient
