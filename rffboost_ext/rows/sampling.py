"""Samples of rows: uniform, or rows of large gradients more often and at a smaller weight."""

from __future__ import annotations

import numpy as np

from ..core import CoupledLoss, Loss, Observations
from ..utils.typing import Array

# The share of a sample that is drawn by weight alone: it limits the factors on the weights to 1.5.
SHARE_BY_WEIGHT = 2.0 / 3.0
# Maximum number of iterations to find the probabilities that reach 1.
MAX_ITERATIONS = 10
# Lower bound on divisors.
TINY = 1e-300
# Rows whose gradients are in memory at once.
BLOCK_SIZE = 65_536


def draw_uniform(rng: np.random.Generator, rows: Array, size: int) -> Array:
    """A uniform sample of about `size` of `rows`, in their order; all of them if there are no more."""
    if len(rows) <= size:
        return rows
    uniform = rng.random(len(rows), dtype=np.float32)
    drawn = rows[uniform < np.float32(size / len(rows))]
    return drawn if len(drawn) else rows[[int(uniform.argmin())]]


def sampling_probabilities(magnitude: Array, weight: Array, size: int, group: Array | None = None) -> Array:
    r"""The probabilities (n,) of a sample of about `size` of n rows, larger for large gradients:

    .. math:: p_i = \min(1, k m_i), \qquad
              m_i = w_i \left(\frac{2}{3 \sum_j w_j} + \frac{|g_i|}{3 \sum_j w_j |g_j|}\right),

    with k such that they sum to `size`. Sampling of minimal variance, with p proportional to the gradient, is due
    to Ibragimov and Gusev (NeurIPS 2019). The term without the gradient limits the weight of a row times its
    factor of :func:`draw_weighted` to 1.5 times the mean weight, unless a probability reaches 1. All rows of a
    group have one probability, by their mean m.

    Parameters
    ----------
    magnitude : ndarray of shape (n,)
        The magnitude of the gradient of each row, as by :func:`gradient_magnitude`.
    weight : ndarray of shape (n,)
        All positive.
    size : int
        Less than n; otherwise all probabilities are 1.
    group : ndarray of int, shape (n,), optional
        Groups that are drawn as a whole, as numbers from 0.
    """
    if len(weight) <= size:
        return np.ones(len(weight))
    slope = weight * magnitude
    mass = row_mass(weight, slope, weight.sum(), slope.sum())
    if group is not None:
        mass = (np.bincount(group, mass) / np.maximum(np.bincount(group), 1))[group]
    return np.minimum(sampling_rate(mass, size) * mass, 1.0)


def row_mass(weight: Array, slope: Array, total_weight: float, total_slope: float) -> Array:
    """The mass m of :func:`sampling_probabilities` by weights (n,), and weights times magnitudes of gradients."""
    by_weight, by_slope = SHARE_BY_WEIGHT / total_weight, (1.0 - SHARE_BY_WEIGHT) / max(total_slope, TINY)
    return by_weight * weight + by_slope * slope


def sampling_rate(mass: Array, size: int) -> float:
    """The factor k for which ``min(1, k mass)`` sums to `size` < n over rows (n,), by fixed-point iteration."""
    rate, certain_before = 0.0, -1
    for _ in range(MAX_ITERATIONS):
        certain = rate * mass >= 1.0
        n_certain = int(np.count_nonzero(certain))
        if n_certain == certain_before:
            break
        certain_before, rate = n_certain, max(size - n_certain, 1) / max(mass[~certain].sum(), TINY)
    return rate


def draw_weighted(
    rng: np.random.Generator, probability: Array, size: int, group: Array | None = None
) -> tuple[Array, Array]:
    """A sample of n rows, each drawn with its probability (n,), and the factors on their weights.

    The factor of row i is size / (n p_i). Weighted sums over the sample are then, in expectation, size / n times
    the sums over all n rows, or a little more if a sample could be empty. If few rows have most of the gradient,
    such as the rows of a rare class, its sum varies far less than over a uniform sample. The rows of a `group`,
    (n,) numbers from 0, are all drawn or none.

    Returns
    -------
    rows : ndarray of shape (k,)
        Ascending; all of them if there are no more than `size`.
    factor : ndarray of shape (k,)
    """
    n_rows = len(probability)
    if n_rows <= size:
        return np.arange(n_rows), np.ones(n_rows)
    unit = np.arange(n_rows) if group is None else group
    drawn = np.flatnonzero(rng.random(int(unit.max()) + 1, dtype=np.float32)[unit] < probability)
    if not len(drawn):
        # A sample has at least one row, drawn in proportion to its probability.
        drawn = np.flatnonzero(unit == unit[rng.choice(n_rows, p=probability / probability.sum())])
    return drawn, size / n_rows / probability[drawn]


def gradient_magnitude(loss: Loss, rows: Observations, raw: Array) -> Array:
    """The sum of absolute gradients of each row, (n,), at constant scores raw (C,), validated."""
    out, size = np.empty(len(rows)), len(rows) if isinstance(loss, CoupledLoss) else BLOCK_SIZE
    for start in range(0, len(rows), size):
        block = slice(start, start + size)
        some = rows.take(block)
        scores = np.tile(raw, (len(some), 1))
        gradient, _ = some.derivatives(loss, scores)
        # As balanced gradients of a round, up to a factor.
        np.abs(gradient * np.sqrt(loss.scales.unit)).sum(axis=1, out=out[block])
    if not np.isfinite(out).all():
        raise ValueError(f"loss {loss!r}: gradient must be finite, got NaN or infinity at the baseline {raw}")
    return out
