"""Scaling of gradients to order 1, for which XGBoost's thresholds and single precision are made."""

from __future__ import annotations

import numpy as np

from ...core import Round
from ...losses.constant_scores import constant_scores
from ...utils.typing import Array

# Gradients are scaled if they are smaller than the first at the baseline, or larger than the second in the round.
MIN_SPREAD, MAX_GRADIENT = 2.0**-5, 2.0**20


def gradient_units(round: Round) -> Array:
    """The unit of leaf values for each output, (C,): 1, or a power of two near the size of the gradients.

    Small gradients at the baseline are scaled because XGBoost makes no split of a gain below 1e-6. Large gradients
    are scaled because gains are of the order of their squares, which may overflow float32.
    """
    spread = np.sqrt(round.mean(np.square(baseline_gradient(round)).T))
    size = np.sqrt(round.mean(np.square(round.gradient / MAX_GRADIENT).T)) * MAX_GRADIENT
    small, large = (spread > 0.0) & (spread < MIN_SPREAD), size > MAX_GRADIENT
    # Gradients may be tiny at the baseline only, as for a sample without a positive count.
    spread = np.maximum(spread, np.minimum(size, 1.0))
    units = np.ones(round.raw.shape[1])
    units[:] = np.exp2(np.floor(np.log2(spread, out=np.zeros_like(spread), where=small)))
    return np.where(large, np.exp2(np.floor(np.log2(size, out=np.zeros_like(size), where=large))), units)


def baseline_gradient(round: Round) -> Array:
    """The gradient at the baseline, (n, C), in the unit of the loss."""
    observations = round.observations
    raw = np.tile(constant_scores(round.loss, observations), (len(round.y), 1))
    gradient, _ = observations.derivatives(round.loss, raw)
    return np.asarray(round.loss.scales.unit, dtype=np.float64) * gradient
