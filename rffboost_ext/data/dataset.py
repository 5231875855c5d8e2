"""Features, targets and weights of the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..core import Loss, Observations
from ..core.loss import COUPLED
from ..losses.coupling import Coupling, group_codes, is_coupled
from ..utils.typing import Array
from .sampling import draw_weighted, gradient_magnitude, sampling_probabilities

Index: TypeAlias = Array | slice


@dataclass(frozen=True)
class Dataset:
    """Validated data: features (n, d), encoded targets (n, K), positive weights (n,) and perhaps an offset (n, C).

    Rows of the same `group`, whole numbers (n,) from 0, are held out together. `rows` says how losses couple the
    rows, as ``Loss.rows`` does: coupled rows are not merged, and groups of such rows are sampled as a whole. The
    offset is added to the scores before a loss or a metric gets them.
    """

    X: Array
    y: Array
    weight: Array
    group: Array | None = None
    rows: str = "set"
    offset: Array | None = None

    def __len__(self) -> int:
        return len(self.X)

    @property
    def n_groups(self) -> int:
        """Number of groups; of rows if there are no groups."""
        return len(self) if self.group is None else len(np.unique(self.group))

    @property
    def is_coupled(self) -> bool:
        """Whether a loss couples the rows."""
        return self.rows in COUPLED

    def coupled_by(self, *parts: Coupling) -> Dataset:
        """The same rows, coupled as losses and metrics couple them, in the groups of the first that has any.

        A ValueError says that there may be no other groups.
        """
        coupled = {part.rows: part for part in reversed(parts) if is_coupled(part)}
        if not coupled:
            return self
        if "groups" not in coupled:
            return replace(self, rows="all")
        if self.group is not None:
            raise ValueError(
                f"groups must be None, as {coupled['groups']!r} takes its groups from y, got labels of groups"
            )
        rows = "all" if "all" in coupled else "groups"
        return replace(self, group=group_codes(coupled["groups"], self.y), rows=rows)

    @property
    def effective_size(self) -> float:
        """The number of rows of equal weight with which a mean would vary as much (Kish): (sum w)^2 / sum w^2."""
        share = self.weight / self.weight.sum()
        return float(1.0 / (share @ share))

    def take(self, index: Index) -> Dataset:
        """The rows of an index."""
        group, offset = (None if given is None else given[index] for given in (self.group, self.offset))
        return Dataset(self.X[index], self.y[index], self.weight[index], group, self.rows, offset)

    @property
    def observations(self) -> Observations:
        """What a loss gets of the rows."""
        return Observations(self.y, self.weight, self.offset)

    @property
    def labels(self) -> Array:
        """Targets and offsets, side by side: rows of equal features and labels are copies."""
        return self.y if self.offset is None else np.column_stack([self.y, self.offset])

    def reweighted(self, weight: Array) -> Dataset:
        """The same rows with other weights (n,)."""
        return replace(self, weight=weight)

    def sampling_probabilities(self, loss: Loss, baseline: Array, size: int) -> Array:
        """The probabilities (n,) of a sample of about `size` rows, by the gradients at constant scores (C,).

        They are equal if all rows are coupled: a uniform sample, whose weights stay the same, is a smaller set of
        the same kind, such as a cohort with its risk sets. The gradient of one of its rows is no measure of what
        the others lose without that row.
        """
        if self.rows == "all":
            return np.full(len(self), min(1.0, size / len(self)))
        gradient = gradient_magnitude(loss, self.observations, baseline)
        return sampling_probabilities(np.arange(len(self)), gradient, self.weight, size, self._unit)

    def sample(self, rng: np.random.Generator, probability: Array, size: int) -> Dataset:
        """A sample of about `size` rows by their probabilities (n,), weighted accordingly."""
        index, factor = draw_weighted(rng, np.arange(len(self)), probability, size, self._unit)
        rows = self.take(index)
        return rows.reweighted(factor * rows.weight)

    @property
    def _unit(self) -> Array | None:
        """The groups that are sampled as a whole, (n,); None for single rows."""
        return self.group if self.is_coupled else None
