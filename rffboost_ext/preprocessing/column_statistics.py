"""Weighted statistics of columns: means, standard deviations, ranges and skewness."""

from __future__ import annotations

import numpy as np

from ..utils.typing import Array

# Deviations below this share of a column's largest magnitude are rounding errors.
CONSTANT = 1e-9
# Number of rows per block, which is read twice while it is in cache.
BLOCK = 1024


def column_ranges(X: Array) -> tuple[Array, Array]:
    """Minimum and maximum of each column, (d,) each, in float64, without missing values."""
    return X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)


def mean_and_scale(X: Array, weight: Array, constant: float = 1.0) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of each column, (d,) each, in float64.

    A column that is constant up to rounding gets `constant` as its standard deviation, or the possible rounding
    error if that is larger. Divided by infinity it is 0, also for other values at prediction.
    """
    starts = np.arange(0, len(X), BLOCK)
    sums, squares = np.empty((2, len(starts), X.shape[1]))
    masses = np.add.reduceat(weight, starts)[:, None]
    total = masses.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        for block, start in enumerate(starts):
            rows, w = X[start : start + BLOCK], weight[start : start + BLOCK, None]
            sums[block] = (w * rows).sum(axis=0)
            squares[block] = (w * np.square(rows - sums[block] / masses[block])).sum(axis=0)
        mean = sums.sum(axis=0) / total
        between = masses * np.square(sums / masses - mean)
        variance = (squares.sum(axis=0) + between.sum(axis=0)) / total
    if not np.isfinite(variance).all():
        column = int(np.flatnonzero(~np.isfinite(variance))[0])
        raise ValueError(
            f"X: column {column} is too large for its variance to be a finite number with these sample_weight"
        )
    # A number takes part in at most so many additions, within its block and over blocks.
    rounding = np.finfo(np.float64).eps * min(len(X), BLOCK + len(starts))
    lost = rounding * np.abs(mean)
    is_constant = variance <= rounding * variance + np.square(lost)
    return mean, np.where(is_constant, np.maximum(constant, lost), np.sqrt(variance))


def weighted_means(X: Array, weight: Array) -> Array:
    """The weighted mean of each column, (d,), in float64; block by block, without a copy of X (n, d)."""
    share, means = weight / weight.sum(), np.zeros(X.shape[1])
    for start in range(0, len(X), BLOCK):
        means += share[start : start + BLOCK] @ X[start : start + BLOCK]
    return means


def observed_means(X: Array, weight: Array) -> Array:
    """The weighted mean of the observed values of each column, (d,); 0 if there are none."""
    observed = ~np.isnan(X)
    total = weight @ observed
    sums = weight @ np.where(observed, X, 0.0).astype(np.float64)
    return np.divide(sums, total, out=np.zeros(X.shape[1]), where=total > 0.0)


def skewness(X: Array, weight: Array) -> Array:
    """Weighted skewness of each column of X (n, p); 0 for a constant column."""
    share = weight / weight.sum()
    # mean_and_scale refuses columns whose variance overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        centered = X - share @ X
        deviation = np.sqrt(share @ np.square(centered))
    usable = (deviation > CONSTANT * np.abs(X).max(axis=0)) & np.isfinite(deviation)
    unit = np.where(usable, deviation, 1.0)
    standard = np.where(usable, centered / unit, 0.0)
    # Powers of arrays take many times as long as products.
    return share @ (standard * standard * standard)
