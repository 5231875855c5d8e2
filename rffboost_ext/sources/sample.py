"""The rows of a source that a fit keeps, and what it knows of the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils.multiclass import check_classification_targets

from ..preprocessing.column_summary import ColumnSummary
from ..preprocessing.targets import first_labels
from ..utils.typing import Array
from .core import Batch, Part, Source
from .sketch import Sketch, keys, label_numbers

# More targets hardly change a baseline.
MAX_TARGETS = 2**18

Mass: TypeAlias = Callable[[Batch], Array]


@dataclass(frozen=True)
class Classes:
    """The classes of a target.

    Parameters
    ----------
    counts : Counter
        The number of rows of each label.
    first : mapping
        The number and the target of the first row of each label.
    """

    counts: Counter[Any] = field(default_factory=Counter)
    first: Mapping[Any, tuple[int, Array]] = field(default_factory=dict)

    @classmethod
    def of(cls, batch: Batch) -> Classes:
        """The classes of some rows."""
        order = np.argsort(batch.row)[::-1]
        assert batch.y is not None
        given = first_labels(batch.y)[order]
        if given.dtype.kind == "f":
            check_classification_targets(given)
        labels = given.tolist()
        place = dict(zip(labels, order.tolist(), strict=True))
        return cls(Counter(labels), {one: (int(batch.row[i]), batch.y[i : i + 1]) for one, i in place.items()})

    def merge(self, other: Classes) -> Classes:
        """The classes of the rows of two."""
        first = {**self.first, **other.first}
        for label in self.first.keys() & other.first.keys():
            first[label] = min(self.first[label], other.first[label], key=lambda row: row[0])
        return Classes(self.counts + other.counts, first)


@dataclass(frozen=True)
class Seen:
    """What a pass over rows found.

    Parameters
    ----------
    sketch : Sketch
    n_rows, n_used : int
        Numbers of rows, and of rows of positive weight.
    classes : Classes, optional
    columns : ColumnSummary, optional
    """

    sketch: Sketch
    n_rows: int = 0
    n_used: int = 0
    classes: Classes | None = None
    columns: ColumnSummary | None = None

    def merge(self, other: Seen) -> Seen:
        """What a pass over the rows of two found."""
        return Seen(
            self.sketch.merge(other.sketch),
            self.n_rows + other.n_rows,
            self.n_used + other.n_used,
            merged(self.classes, other.classes),
            merged(self.columns, other.columns),
        )


def merged(one: Any, other: Any) -> Any:
    """Two results merged, of which one may be None."""
    return one.merge(other) if one is not None and other is not None else one or other


@dataclass(frozen=True)
class Pass:
    """What a pass over the rows of a source computes.

    Parameters
    ----------
    limit : int
        Number of rows to keep.
    seed : int
        Of the hash of the numbers of rows.
    mass : callable, optional
        The mass of each row, (m,), of a batch; by default all are equal.
    groups : callable, optional
        The labels of groups, (m,), of a batch, which are kept as a whole; by default rows are kept one by one.
    has_classes : bool, default=False
        Whether to count classes.
    features : bool, default=True
        Whether to read X.
    columns : callable, optional
        Summary of the columns of X.
    """

    limit: int
    seed: int
    mass: Mass | None = None
    groups: Callable[[Batch], Array] | None = None
    has_classes: bool = False
    features: bool = True
    columns: Callable[[Any], ColumnSummary] | None = None

    def __call__(self, part: Part) -> Seen:
        """The result for a part."""
        seen = Seen(Sketch(self.limit))
        for batch in part.batches(self.features):
            if batch.y is None:
                raise ValueError("the source must have a target, which predictions alone do not need, got none")
            if len(batch):
                seen = seen.merge(self.read(batch))
        return seen

    def read(self, batch: Batch) -> Seen:
        """The result for a batch."""
        used = positive_rows(batch)
        key = np.full(len(batch), np.inf)
        key[used] = self.keys(kept := batch if used.all() else batch.take(np.flatnonzero(used)))
        return Seen(
            Sketch(self.limit).add(batch, key),
            len(batch),
            len(kept),
            Classes.of(kept) if self.has_classes else None,
            self.columns(kept.X) if self.columns is not None and self.features else None,
        )

    def keys(self, batch: Batch) -> Array:
        """The keys of rows of positive weight, (m,)."""
        number = batch.row if self.groups is None else label_numbers(self.groups(batch))
        return keys(self.seed, number, 1.0 if self.mass is None else self.mass(batch))

    def sample(self, seen: Seen) -> Sample:
        """The rows that were kept, with their weights."""
        batch, bound = seen.sketch.sample()
        weight = batch.weight
        if seen.n_rows <= self.limit:
            return Sample(batch.X, batch.y, weight, batch.group, seen.n_rows)
        batch = batch.take(np.flatnonzero(positive_rows(batch)))
        if self.mass is not None:
            probability = -np.expm1(-self.mass(batch) * bound)
            weight = batch_weight(batch) / probability * (len(batch) / seen.n_used)
        return Sample(batch.X, batch.y, weight, batch.group, seen.n_rows, seen.columns)


def batch_weight(batch: Batch) -> Array:
    """The weights of rows, (m,)."""
    return np.ones(len(batch)) if batch.weight is None else batch.weight.astype(np.float64)


def positive_rows(batch: Batch) -> Array:
    """Whether the weight of each row, (m,), is positive; a ValueError if one is no number >= 0."""
    weight = batch_weight(batch)
    if not (np.isfinite(weight) & (weight >= 0.0)).all():
        raise ValueError(
            f"weight must hold finite numbers >= 0, got {weight[~(weight >= 0.0) | np.isinf(weight)][0]}"
        )
    return weight > 0.0


def groups_or_rows(batch: Batch) -> Array:
    """The groups of rows, or their numbers."""
    return batch.row if batch.group is None else batch.group


@dataclass(frozen=True)
class Sample:
    """The rows that a fit keeps.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, d), or table
    y : ndarray of shape (m,) or (m, K)
    weight : ndarray of shape (m,), optional
    groups : ndarray of shape (m,), optional
    n_rows : int, optional
        Number of rows of the source; None for rows that were in memory.
    columns : ColumnSummary, optional
        What is known of the columns of rows that are not kept.
    """

    X: Any
    y: Any
    weight: Any = None
    groups: Any = None
    n_rows: int | None = None
    columns: ColumnSummary | None = None

    @property
    def rows(self) -> tuple[Any, ...]:
        """The rows as an evaluation set: X and y, and the weights if there are any."""
        return (self.X, self.y) if self.weight is None else (self.X, self.y, self.weight)


def draw(
    source: Source,
    seed: int,
    weigh: Callable[[Batch, Classes | None], Mass] | None = None,
    has_classes: bool = False,
    **given: Any,
) -> Sample:
    """The rows of a source that a fit keeps: all, in their order, if there are no more than the source allows.

    Parameters
    ----------
    source : Source
    seed : int
    weigh : callable, optional
        ``weigh(batch, classes)`` is the mass of rows, given a uniform sample of targets; by default the sample is
        uniform.
    has_classes : bool, default=False
        Whether the target is one of classes.
    **given
        ``groups`` and ``columns`` of :class:`Pass`.
    """
    limit = source.row_limit()
    leaves_features = weigh is not None and source.n_rows is not None and source.n_rows > limit
    first = Pass(
        min(limit, MAX_TARGETS) if leaves_features else limit,
        seed,
        has_classes=has_classes and weigh is not None,
        features=not leaves_features,
        **given,
    )
    seen = source.reduce(first, Seen.merge, first.features)
    if not seen.n_used:
        raise ValueError(f"the source must have rows of positive weight, got {seen.n_rows} rows and none")
    if weigh is None or seen.n_rows <= limit:
        return first.sample(seen)
    mass = weigh(seen.sketch.targets(MAX_TARGETS), seen.classes)
    n_rows, second = seen.n_rows, Pass(limit, seed + 1, mass, **given)
    # The sample of the first pass need not stay in memory.
    del seen
    seen = source.reduce(second, Seen.merge)
    if seen.n_rows != n_rows:
        raise ValueError(
            f"the source must have the same rows each time that it is read, got {n_rows} and then {seen.n_rows}"
        )
    return second.sample(seen)
