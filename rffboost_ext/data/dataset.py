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
        """Some of the rows."""
        return Dataset(self.X[index], self.y[index], self.weight[index])

    def probabilities(self, loss: Loss, baseline: Array, size: int) -> Array:
        """The probabilities (n,) to draw about `size` rows by, from the gradients at constant scores (C,)."""
        return sampling_probabilities(
            np.arange(len(self)), gradient_magnitude(loss, self.y, baseline), self.weight, size
        )

    def drawn(self, rng: np.random.Generator, chances: Array, size: int) -> Dataset:
        """About `size` of the rows, drawn by their probabilities (n,) and weighted accordingly."""
        index, factor = draw_weighted(rng, np.arange(len(self)), chances, size)
        some = self.take(index)
        return replace(some, weight=factor * some.weight)
