"""Candidate frequencies on sparse supports, and the accumulated gains of features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...utils.typing import Array


def draw_candidates(
    rng: np.random.Generator,
    size: int,
    probability: Array,
    dense: float,
    gamma: tuple[float, float],
    dtype: Any,
    largest: int | None = None,
) -> tuple[Array, Array, Array]:
    r"""Draw `size` candidates over the d features of `probability` (d,).

    With probability `dense` a support has m features, where m is `largest` (d by default). Otherwise it has
    :math:`\lfloor 2^u \rfloor` features with u uniform in [0, log2(m + 1)), drawn without replacement. Frequencies
    are :math:`N(0, 2 \gamma / s)` on a support of size s, with :math:`\log \gamma` uniform over the range `gamma`.

    Returns
    -------
    sizes : ndarray of int, shape (M,)
        Sizes of the supports: candidate j has the first ``sizes[j]`` entries of row j of the other arrays.
    features : ndarray of int, shape (M, d)
        Supports, ascending.
    omega : ndarray of shape (M, d)
        Frequencies on standardised features.
    """
    d = len(probability)
    largest, possible = largest or d, int(np.count_nonzero(probability))
    chance = rng.random((3, size))
    arrival, normal = rng.standard_exponential((size, d), dtype), rng.standard_normal((size, d), dtype)
    sizes = np.minimum(2.0 ** (chance[0] * math.log2(largest + 1.0)), possible).astype(np.int64)
    # Features of probability 0 are in full supports only.
    sizes[chance[1] < dense] = d if largest == d else min(largest, possible)
    wins = first_arrivals(arrival, probability, sizes)
    sizes = wins.sum(axis=1)
    low, high = math.log(gamma[0]), math.log(gamma[1])
    scale = np.sqrt(2.0 * np.exp(low + (high - low) * chance[2]) / sizes).astype(dtype)
    features, omega = np.zeros((size, d), dtype=np.int64), np.zeros((size, d), dtype)
    filled = np.arange(d) < sizes[:, None]
    features[filled], omega[filled] = wins.nonzero()[1], (normal * scale[:, None])[wins]
    return sizes, features, omega


def first_arrivals(arrival: Array, probability: Array, sizes: Array) -> Array:
    """Which columns, (M, d), are in a sample without replacement of ``sizes[j]`` columns of each row j.

    An exponential race: the columns with the smallest arrival (M, d), divided by their probability (d,), win;
    equal ones win together.
    """
    times = np.full_like(arrival, np.inf)
    np.divide(arrival, probability.astype(arrival.dtype), out=times, where=probability > 0.0)
    last = np.sort(times, axis=1)[np.arange(len(times)), sizes - 1]
    return np.asarray(times <= last[:, None])


def add_gain(gains: Array, features: Array, omega: Array, gain: float) -> None:
    """Distribute the gain of a round over its features, in proportion to the squared frequency."""
    share = np.square(omega)
    total = share.sum()
    if 0.0 < gain < np.inf and total > 0.0:
        gains[features] += gain * share / total


def feature_probability(gains: Array, share: float) -> Array:
    """Probability of each feature: `share` of it is proportional to the accumulated gains, the rest uniform."""
    uniform, total = 1.0 / len(gains), gains.sum()
    # The sum of gains overflows for very large targets.
    if not 0.0 < total < np.inf:
        return np.full(len(gains), uniform)
    return (1.0 - share) * uniform + share * gains / total
