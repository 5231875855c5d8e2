"""Means, standard deviations and ranges of columns."""

from __future__ import annotations

import numpy as np

from ..terms import ClipAndLog
from ..utils.parallel import N_JOBS, over_tiles
from ..utils.typing import Array


def clip_to_range(X: Array) -> ClipAndLog:
    """The range of each column."""
    from ..kernels.column_statistics import BLOCK, column_ranges

    blocks = -(-len(X) // BLOCK)
    low, high = np.empty((blocks, X.shape[1])), np.empty((blocks, X.shape[1]))
    over_tiles(column_ranges, blocks, N_JOBS.get(), X, low, high)
    return ClipAndLog(low.min(axis=0), high.max(axis=0))


def mean_and_scale(X: Array, weight: Array, constant: float = 1.0) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of each column, (d,) each, in float64.

    A column that is constant up to rounding gets `constant` as its standard deviation, or the possible rounding
    error if that is larger: divided by it, the centered column is small. Divided by infinity it is 0, also where
    the column takes other values later.
    """
    from ..kernels.column_statistics import BLOCK, block_moments

    starts = np.arange(0, len(X), BLOCK)
    sums, squares = np.empty((2, len(starts), X.shape[1]))
    over_tiles(block_moments, len(starts), N_JOBS.get(), X, weight, sums, squares)
    masses = np.add.reduceat(weight, starts)[:, None]
    total = masses.sum()
    mean = sums.sum(axis=0) / total
    with np.errstate(over="ignore", invalid="ignore"):
        between = masses * np.square(sums / masses - mean)
        variance = (squares.sum(axis=0) + between.sum(axis=0)) / total
    # The most additions that one number goes through, in its block and then over blocks.
    rounding = np.finfo(np.float64).eps * min(len(X), BLOCK + len(starts))
    if not np.isfinite(variance).all():
        column = int(np.flatnonzero(~np.isfinite(variance))[0])
        raise ValueError(
            f"X: column {column} is too large for its variance to be a finite number with these sample_weight"
        )
    lost = rounding * np.abs(mean)
    still = variance <= rounding * variance + np.square(lost)
    return mean, np.where(still, np.maximum(constant, lost), np.sqrt(variance))
