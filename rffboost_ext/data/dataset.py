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
    """Validated data: features (n, d), encoded targets (n, 1) or (n, C) and positive weights (n,).

    Rows of the same `group`, whole numbers (n,), are held out together.
    """

    X: Array
    y: Array
    weight: Array
    group: Array | None = None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_groups(self) -> int:
        """Number of groups; of rows if there are no groups."""
        return len(self) if self.group is None else len(np.unique(self.group))

    @property
    def effective_size(self) -> float:
        """The number of rows of equal weight with which a mean would vary as much (Kish): (sum w)^2 / sum w^2."""
        share = self.weight / self.weight.sum()
        return float(1.0 / (share @ share))

    def take(self, index: Index) -> Dataset:
        """The rows of an index."""
        group = None if self.group is None else self.group[index]
        return Dataset(self.X[index], self.y[index], self.weight[index], group)

    def reweighted(self, weight: Array) -> Dataset:
        """The same rows with other weights (n,)."""
        return replace(self, weight=weight)

    def sampling_probabilities(self, loss: Loss, baseline: Array, size: int) -> Array:
        """The probabilities (n,) of a sample of about `size` rows, by the gradients at constant scores (C,)."""
        gradient = gradient_magnitude(loss, self.y, self.weight, baseline)
        return sampling_probabilities(np.arange(len(self)), gradient, self.weight, size)

    def sample(self, rng: np.random.Generator, probability: Array, size: int) -> Dataset:
        """A sample of about `size` rows by their probabilities (n,), weighted accordingly."""
        index, factor = draw_weighted(rng, np.arange(len(self)), probability, size)
        rows = self.take(index)
        return rows.reweighted(factor * rows.weight)
