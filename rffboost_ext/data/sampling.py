"""Samples of many rows: evenly, or with rows of large gradients more often and at a smaller weight."""

from __future__ import annotations

import numpy as np

from ..core import Loss
from ..kernels import compiled
from ..losses.validation import check_pair, require_derivatives
from ..utils.typing import Array

# The part of a sample that is drawn by weight alone. By it, where all weights are equal and no row is certain,
# none weighs more than 1.5 times as much.
BY_WEIGHT = 2.0 / 3.0
# Turns in which the probabilities that reach 1 are found.
TURNS = 10
# Rows whose gradients are held in memory at once.
BLOCK = 65_536


def draw_uniform(rng: np.random.Generator, rows: Array, size: int) -> Array:
    """About `size` of `rows` at random, in their order; all of them where there are no more."""
    if len(rows) <= size:
        return rows
    chance, kept = rng.random(len(rows), dtype=np.float32), np.empty_like(rows)
    count = compiled("sampling").keep_rows(rows, chance, np.float32(size / len(rows)), kept)
    return kept[:count] if count else rows[[int(chance.argmin())]]


def sampling_probabilities(rows: Array, gradient: Array, weight: Array, size: int) -> Array:
    r"""The probabilities (m,) by which to draw about `size` of m rows, those of large gradients preferred.

    That of row i is

    .. math:: p_i = \min\left(1, k w_i \left(\frac{2}{3 \sum_j w_j}
              + \frac{\sum_c |g_{ic}|}{3 \sum_j w_j \sum_c |g_{jc}|}\right)\right),

    k such that they sum to `size`. Sampling of minimal variance, with p proportional to the gradient, is due to
    Ibragimov and Gusev (NeurIPS 2019). By the part that does not depend on the gradient, the weight of a row times
    the factor of :func:`draw_weighted` is at most 1.5 times the mean weight, as long as no probability reaches 1.

    Parameters
    ----------
    rows : ndarray of shape (m,)
        Rows to draw from, ascending, of positive weight.
    gradient : ndarray of shape (n, C)
    weight : ndarray of shape (n,)
    size : int
        Less than m; otherwise all probabilities are 1.
    """
    if len(rows) <= size:
        return np.ones(len(rows))
    passes, mass = compiled("sampling"), np.empty(len(rows))
    passes.masses_of(rows, gradient, weight, BY_WEIGHT, mass)
    mass *= passes.rate_of(mass, size, TURNS)
    return np.minimum(mass, 1.0, out=mass)


def draw_weighted(rng: np.random.Generator, rows: Array, probability: Array, size: int) -> tuple[Array, Array]:
    """Some of m rows, each kept with its probability, and the factors that make up for it.

    Row i is to weigh size / (m p_i) times as much. Weighted sums over the sample are then, in expectation,
    size / m times those over all m rows, or a little more where a sample could be empty. That of the gradients
    varies far less than over an even sample where few rows have most of them, such as those of a rare class.

    Returns
    -------
    rows : ndarray of shape (k,)
        Ascending; all of them where there are no more than `size`.
    factor : ndarray of shape (k,)
    """
    if len(rows) <= size:
        return rows, np.ones(len(rows))
    chance, kept, found = rng.random(len(rows), dtype=np.float32), np.empty_like(rows), np.empty(len(rows))
    count = compiled("sampling").draw_rows(rows, chance, probability, kept, found)
    if not count:
        # One of them, as likely as it is to be drawn at all.
        count, one = 1, rng.choice(len(rows), p=probability / probability.sum())
        kept[0], found[0] = rows[one], probability[one]
    return kept[:count], size / len(rows) / found[:count]


def gradient_magnitude(loss: Loss, y: Array, raw: Array) -> Array:
    """The sum of absolute gradients of each row, (n, 1), at the constant scores raw (C,), checked."""
    out = np.empty((len(y), 1))
    for start in range(0, len(y), BLOCK):
        block = slice(start, start + BLOCK)
        target = y[block]
        scores = np.tile(raw, (len(target), 1))
        derivatives = check_pair(loss, loss.derivatives(target, scores))
        require_derivatives(loss, derivatives, scores, f"at the baseline {raw}")
        np.abs(derivatives[0] * np.asarray(loss.unit)).sum(axis=1, keepdims=True, out=out[block])
    return out
