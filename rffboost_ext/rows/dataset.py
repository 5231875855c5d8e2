"""The rows of a fit: features, targets and weights, samples of them, and equal rows.

Weight 0 excludes a row. Without early stopping, weight 2 is the same row twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..core import Loss, Observations
from ..core.loss import COUPLED
from ..losses.coupling import Coupling, group_codes
from ..utils.arrays import first_of_equal_rows, joint_hashes
from ..utils.sparse import Rows, rows_equal
from ..utils.typing import Array
from .sampling import draw_weighted, gradient_magnitude, sampling_probabilities

Index: TypeAlias = Array | slice


@dataclass(frozen=True)
class Dataset:
    """Validated data: features (n, d), encoded targets (n, K), positive weights (n,) and perhaps an offset (n, C).

    Rows of the same `group`, whole numbers (n,) from 0, are held out together. `coupling` says how losses couple
    the rows, as ``Loss.rows`` does: coupled rows are not merged, and groups of such rows are sampled as a whole.
    The offset is added to the scores before a loss or a metric gets them.
    """

    X: Rows
    y: Array
    weight: Array
    group: Array | None = None
    coupling: str = "set"
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
        return self.coupling in COUPLED

    def coupled_by(self, *parts: Coupling) -> Dataset:
        """The same rows, coupled as losses and metrics couple them, in the groups of the first that has any.

        A ValueError says that there may be no other groups.
        """
        coupled = {part.rows: part for part in reversed(parts) if part.rows in COUPLED}
        if not coupled:
            return self
        if "groups" not in coupled:
            return replace(self, coupling="all")
        if self.group is not None:
            raise ValueError(
                f"groups must be None, as {coupled['groups']!r} takes its groups from y, got labels of groups"
            )
        coupling = "all" if "all" in coupled else "groups"
        return replace(self, group=group_codes(coupled["groups"], self.y), coupling=coupling)

    @property
    def effective_size(self) -> float:
        """The number of rows of equal weight with which a mean would vary as much (Kish): (sum w)^2 / sum w^2."""
        share = self.weight / self.weight.sum()
        return float(1.0 / (share @ share))

    def take(self, index: Index) -> Dataset:
        """The rows of an index."""
        group, offset = (None if values is None else values[index] for values in (self.group, self.offset))
        return Dataset(self.X[index], self.y[index], self.weight[index], group, self.coupling, offset)

    @property
    def observations(self) -> Observations:
        """What a loss gets of the rows."""
        return Observations(self.y, self.weight, self.offset)

    @property
    def labels(self) -> Array:
        """Targets and offsets, side by side: rows of equal features and labels are copies."""
        return self.y if self.offset is None else np.column_stack([self.y, self.offset])

    @property
    def n_copies(self) -> int:
        """The number of rows less that of distinct ones; rows count as equal if their 64-bit hashes are."""
        keys = np.sort(joint_hashes(self.X, self.labels))
        return int(np.count_nonzero(keys[1:] == keys[:-1]))

    def sampling_probabilities(self, loss: Loss, baseline: Array, size: int) -> Array:
        """The probabilities (n,) of a sample of about `size` rows, by the gradients at constant scores (C,).

        They are equal if all rows are coupled: a uniform sample, whose weights stay the same, is a smaller set of
        the same kind, such as a cohort with its risk sets. The gradient of one of its rows is no measure of what
        the others lose without that row.
        """
        if self.coupling == "all":
            return np.full(len(self), min(1.0, size / len(self)))
        magnitude = gradient_magnitude(loss, self.observations, baseline)
        return sampling_probabilities(magnitude, self.weight, size, self._unit)

    def sample(self, rng: np.random.Generator, probability: Array, size: int) -> Dataset:
        """A sample of about `size` rows by their probabilities (n,), weighted accordingly."""
        index, factor = draw_weighted(rng, probability, size, self._unit)
        rows = self.take(index)
        return replace(rows, weight=factor * rows.weight)

    @property
    def _unit(self) -> Array | None:
        """The groups that are sampled as a whole, (n,); None for single rows."""
        return self.group if self.is_coupled else None


def merge_duplicates(rows: Dataset) -> Dataset:
    """The rows with equal ones merged into one of the sum of their weights, for fits without early stopping.

    A row of weight 2 and the same row twice then give the same fit bit for bit, without rounding errors that
    searches amplify from round to round. Rows of different weights are therefore put in an order that depends on
    their contents alone. The result is `rows` itself if all rows are distinct and of equal weight.
    """
    X, labels, weight = rows.X, rows.labels, rows.weight
    order, first = first_of_equal_rows(joint_hashes(X, labels), X, labels)
    if first.all() and (weight == weight[0]).all():
        return rows
    index, total = order[first], np.add.reduceat(weight[order], np.flatnonzero(first))
    if (total == total[0]).all():
        # The original order, as if there were no duplicates.
        index = np.sort(index)
    return replace(rows.take(index), weight=total)


def are_rows_of(training: Dataset, rows: Dataset) -> Array:
    """Whether each of some rows, (m,), is one of the training set, with equal features and target.

    So are all rows of a group of coupled rows that has such a row.
    They are compared in the lower of both precisions. None is one if no more of them are equal to a training row
    than by chance, going by how many training rows are equal to another one.
    """
    precision = min(training.X.dtype, rows.X.dtype)
    with np.errstate(over="ignore"):
        training_arrays, arrays = (
            (one.X.astype(precision, copy=False), one.labels.astype(np.float32)) for one in (training, rows)
        )
    keys, own_keys = (joint_hashes(*one) for one in (training_arrays, arrays))
    order = np.argsort(keys)
    keys = keys[order]
    place = np.searchsorted(keys, own_keys).clip(max=len(keys) - 1)
    is_copy = keys[place] == own_keys
    pairs = order[place[is_copy]], np.flatnonzero(is_copy)
    is_copy[is_copy] = np.logical_and.reduce(
        [rows_equal(one[pairs[0]], other[pairs[1]]) for one, other in zip(training_arrays, arrays, strict=True)]
    )
    _, counts = np.unique(keys, return_counts=True)
    share = counts[counts > 1].sum() / len(keys)
    by_chance = len(rows) * share + 3.0 * np.sqrt(len(rows) * share * (1.0 - share))
    if is_copy.sum() <= by_chance:
        return np.zeros(len(rows), dtype=bool)
    return np.isin(rows.group, rows.group[is_copy]) if rows.is_coupled and rows.group is not None else is_copy
