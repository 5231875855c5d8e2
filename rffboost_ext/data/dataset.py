"""Features, targets and weights of the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..core import Loss
from ..utils.typing import Array
from .sampling import drawn, probabilities, slopes

Index: TypeAlias = Array | slice


@dataclass(frozen=True)
class Rows:
    """Validated data: features (n, d), encoded targets (n, 1) or (n, C) and positive weights (n,)."""

    X: Array
    y: Array
    weight: Array

    def __len__(self) -> int:
        return len(self.X)

    def take(self, index: Index) -> Rows:
        """Some of the rows."""
        return Rows(self.X[index], self.y[index], self.weight[index])

    def probabilities(self, loss: Loss, baseline: Array, size: int) -> Array:
        """The probabilities (n,) to draw about `size` rows by, from the gradients at constant scores (C,)."""
        return probabilities(np.arange(len(self)), slopes(loss, self.y, baseline), self.weight, size)

    def drawn(self, rng: np.random.Generator, chances: Array, size: int) -> Rows:
        """About `size` of the rows, drawn by their probabilities (n,) and weighted accordingly."""
        index, factor = drawn(rng, np.arange(len(self)), chances, size)
        some = self.take(index)
        return replace(some, weight=factor * some.weight)
