"""Candidate frequencies on sparse supports, and the accumulated gains of features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels import compiled
from ...utils.typing import Array


@dataclass(frozen=True)
class Candidates:
    """M frequencies on supports: candidate j has the first ``sizes[j]`` entries of row j of each array.

    Parameters
    ----------
    sizes : ndarray of int, shape (M,)
    features : ndarray of int, shape (M, d)
        Supports, ascending.
    omega : ndarray of shape (M, d)
        Frequencies on standardised features.
    """

    sizes: Array
    features: Array
    omega: Array

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, index: int) -> tuple[Array, Array]:
        """Support and frequencies of one candidate."""
        size = self.sizes[index]
        return self.features[index, :size], self.omega[index, :size].astype(np.float64)


def draw_candidates(
    rng: np.random.Generator,
    size: int,
    probability: Array,
    dense: float,
    gamma: tuple[float, float],
    dtype: Any,
    largest: int | None = None,
) -> Candidates:
    r"""Draw `size` candidates over the d features of `probability` (d,).

    With probability `dense` a support has m features, where m is `largest` (d by default). Otherwise it has
    :math:`\lfloor 2^u \rfloor` features with u uniform in [0, log2(m + 1)), drawn without replacement. Frequencies
    are :math:`N(0, 2 \gamma / s)` on a support of size s, with :math:`\log \gamma` uniform over the range `gamma`.
    """
    shape = size, len(probability)
    chance = rng.random((3, size))
    arrival, normal = rng.standard_exponential(shape, dtype), rng.standard_normal(shape, dtype)
    sizes, features = np.empty(size, dtype=np.int64), np.empty(shape, dtype=np.int64)
    omega = np.empty(shape, dtype)
    low, high = math.log(gamma[0]), math.log(gamma[1])
    odds = probability.astype(dtype)
    compiled("second_order_cosines").choose_supports(
        odds, largest or len(odds), chance, dense, low, high, arrival, normal, sizes, features, omega
    )
    return Candidates(sizes, features, omega)


class FeatureGains:
    """The accumulated gains of features, which determine the probabilities of the next draw.

    Parameters
    ----------
    n_features : int
    """

    def __init__(self, n_features: int) -> None:
        self.gains = np.zeros(n_features)

    def add(self, features: Array, omega: Array, gain: float) -> None:
        """Distribute the gain of a round over its features, in proportion to the squared frequency."""
        share = np.square(omega)
        total = share.sum()
        if 0.0 < gain < np.inf and total > 0.0:
            self.gains[features] += gain * share / total

    def probability(self, share: float) -> Array:
        """Probability of each feature: `share` of it is proportional to the gains, the rest uniform."""
        uniform, total = 1.0 / len(self.gains), self.gains.sum()
        # The sum of gains overflows for very large targets.
        if not 0.0 < total < np.inf:
            return np.full(len(self.gains), uniform)
        return (1.0 - share) * uniform + share * self.gains / total
