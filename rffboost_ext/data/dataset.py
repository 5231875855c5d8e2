"""Features, targets and weights of the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..core import Loss
from ..utils.typing import Array
from .sampling import draw_weighted, gradient_magnitude, sampling_probabilities

Index: TypeAlias = Array | slice


@dataclass(frozen=True)
class Dataset:
    """Validated data: features (n, d), encoded targets (n, 1) or (n, C) and positive weights (n,)."""

    X: Array
    y: Array
    weight: Array

    def __len__(self) -> int:
        return len(self.X)

    def take(self, index: Index) -> Dataset:
        """The rows of an index."""
        return Dataset(self.X[index], self.y[index], self.weight[index])

    def sampling_probabilities(self, loss: Loss, baseline: Array, size: int) -> Array:
        """The probabilities (n,) of a sample of about `size` rows, by the gradients at constant scores (C,)."""
        gradient = gradient_magnitude(loss, self.y, baseline)
        return sampling_probabilities(np.arange(len(self)), gradient, self.weight, size)

    def sample(self, rng: np.random.Generator, probability: Array, size: int) -> Dataset:
        """A sample of about `size` rows by their probabilities (n,), weighted accordingly."""
        index, factor = draw_weighted(rng, np.arange(len(self)), probability, size)
        rows = self.take(index)
        return replace(rows, weight=factor * rows.weight)
