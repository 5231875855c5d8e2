"""The rows of a source that a fit keeps, and what it knows of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from ..rows.column_summary import ColumnSummary
from ..rows.targets import target_levels
from ..utils.typing import Array
from .core import Batch, Part, Source
from .levels import LEVELS, Levels
from .schema import Schema, conforming, require_count, rows_named
from .sketch import Sketch, keys, label_numbers, uniform

# More targets hardly change a baseline.
MAX_TARGETS = 2**18

Mass: TypeAlias = Callable[[Batch], Array]


@dataclass(frozen=True)
class PassResult:
    """The result of a pass over rows.

    Parameters
    ----------
    sketch : Sketch
    n_rows, n_used : int
        Numbers of rows, and of rows of positive weight.
    levels : Levels, optional
    columns : ColumnSummary, optional
    schema : Schema, optional
    """

    sketch: Sketch
    n_rows: int = 0
    n_used: int = 0
    levels: Levels | None = None
    columns: ColumnSummary | None = None
    schema: Schema | None = None

    def merge(self, other: PassResult) -> PassResult:
        """The result of a pass over the rows of two."""
        # Batches that do not go together are named before their rows are joined.
        schema = merged(self.schema, other.schema)
        return PassResult(
            self.sketch.merge(other.sketch),
            self.n_rows + other.n_rows,
            self.n_used + other.n_used,
            merged(self.levels, other.levels),
            merged(self.columns, other.columns),
            schema,
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
    levels : str, optional
        The kind of levels of the target, of which no level may be lost.
    floors : mapping of level to float
        The least probability of the rows of each level.
    features : bool, default=True
        Whether to read X.
    columns : callable, optional
        Summary of the columns of X.
    schema : Schema, optional
        That of an earlier pass.
    n_rows : int, optional
        Number of rows of the final sample, if it is another pass that draws it.
    """

    limit: int
    seed: int
    mass: Mass | None = None
    groups: Callable[[Batch], Array] | None = None
    levels: str | None = None
    floors: Mapping[Any, float] = field(default_factory=dict)
    features: bool = True
    columns: Callable[[Any], ColumnSummary] | None = None
    schema: Schema | None = None
    n_rows: int | None = None

    def __call__(self, part: Part) -> PassResult:
        """The result for a part."""
        result = PassResult(Sketch(self.limit), schema=self.schema)
        for batch, schema in conforming(part, self.features, self.schema):
            if batch.y is None:
                raise ValueError("the source must have a target, which predictions alone do not need, got none")
            result = replace(result.merge(self.read(batch)), schema=schema)
        return result

    def read(self, batch: Batch) -> PassResult:
        """The result for a batch."""
        used = positive_rows(batch)
        kept = batch if used.all() else batch.take(np.flatnonzero(used))
        key = np.full(len(batch), np.inf)
        with rows_named(kept.row, kept.name_of):
            key[used] = self.keys(kept)
            levels = None
            if self.levels is not None and len(kept):
                levels = Levels.of(kept, self.levels, self.n_rows or self.limit, self.seed + 1)
            columns = None
            if self.columns is not None and self.features:
                columns = self.columns(kept.X).of_rows(kept.row, kept.name_of)
        return PassResult(Sketch(self.limit).add(batch, key), len(batch), len(kept), levels, columns)

    def keys(self, batch: Batch) -> Array:
        """The keys of rows of positive weight, (m,)."""
        number = batch.row if self.groups is None else label_numbers(self.groups(batch))
        key = keys(self.seed, number, 1.0 if self.mass is None else self.mass(batch))
        return np.where(uniform(self.seed, number) < self.floor(batch), 0.0, key)

    def floor(self, batch: Batch) -> Array:
        """The least probability of each row, (m,)."""
        if not self.floors or batch.y is None:
            return np.zeros(len(batch))
        columns = target_levels(batch.y, str(self.levels)).reshape(len(batch), -1).T.tolist()
        return np.array([[self.floors[j, label] for label in one] for j, one in enumerate(columns)]).max(axis=0)

    def sample(self, result: PassResult) -> FitRows:
        """The rows that were kept, with their weights."""
        batch, bound = result.sketch.sample()
        weight = batch.weight
        if result.n_rows <= self.limit:
            return FitRows(batch.X, batch.y, weight, batch.group, result.n_rows, row=batch.row)
        batch = batch.take(np.flatnonzero(positive_rows(batch)))
        if result.levels is not None and (absent := result.levels.absent_from(batch)):
            _, label = absent[0]
            raise ValueError(
                f"max_rows must be so large that no {LEVELS[result.levels.kind]} is lost, got {self.limit} rows "
                f"of {result.n_rows}, none of which has {label!r}"
            )
        if self.mass is not None:
            probability = np.maximum(-np.expm1(-self.mass(batch) * bound), self.floor(batch))
            weight = batch_weight(batch) / probability * (len(batch) / result.n_used)
        return FitRows(batch.X, batch.y, weight, batch.group, result.n_rows, result.columns, batch.row)


def batch_weight(batch: Batch) -> Array:
    """The weights of rows, (m,)."""
    return np.ones(len(batch)) if batch.weight is None else batch.weight.astype(np.float64)


def positive_rows(batch: Batch) -> Array:
    """Whether the weight of each row, (m,), is positive; a ValueError if one is no number >= 0."""
    weight = batch_weight(batch)
    with np.errstate(over="ignore"):
        invalid = [*weight[~(weight >= 0.0)], weight.sum()][0]
    if not 0.0 <= invalid < np.inf:
        raise ValueError(f"weight must hold finite numbers >= 0 of a finite sum, got {invalid}")
    return weight > 0.0


def groups_or_rows(batch: Batch) -> Array:
    """The groups of rows, or their numbers."""
    return batch.row if batch.group is None else batch.group


@dataclass(frozen=True)
class FitRows:
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
    row : ndarray of uint64, shape (m,), optional
        The number of each row of a source.
    name_of : callable, optional
        The name of the row of a number in the source, for messages.
    """

    X: Any
    y: Any
    weight: Any = None
    groups: Any = None
    n_rows: int | None = None
    columns: ColumnSummary | None = None
    row: Array | None = None
    name_of: Callable[[int], str] | None = None

    def rows_named(self, all_rows: bool = False) -> AbstractContextManager[None]:
        """A context whose errors name an entry of all rows, or those of positive weight, by its row."""
        if self.row is None or self.name_of is None:
            return nullcontext()
        is_whole = all_rows or self.weight is None
        return rows_named(self.row if is_whole else self.row[self.weight > 0.0], self.name_of)

    @property
    def rows(self) -> tuple[Any, ...]:
        """The rows as an evaluation set: X and y, and the weights if there are any."""
        return (self.X, self.y) if self.weight is None else (self.X, self.y, self.weight)


def draw(
    source: Source,
    seed: int,
    weigh: Callable[[Batch, Levels | None], Mass] | None = None,
    levels: str | None = None,
    **options: Any,
) -> FitRows:
    """The rows of a source that a fit keeps: all, in their order, if there are no more than the source allows.

    Parameters
    ----------
    source : Source
    seed : int
    weigh : callable, optional
        ``weigh(batch, levels)`` is the mass of rows, given a uniform sample of targets; by default the sample is
        uniform.
    levels : str, optional
        The kind of levels of the target. A sample with masses keeps rows of each; where a uniform one has none of
        a level, a ValueError is raised.
    **options
        ``groups`` and ``columns`` of :class:`Pass`.
    """
    limit = source.row_limit()
    leaves_features = weigh is not None and source.n_rows is not None and source.n_rows > limit
    first = Pass(
        min(limit, MAX_TARGETS) if leaves_features else limit,
        seed,
        n_rows=limit,
        levels=levels,
        features=not leaves_features,
        **options,
    )
    result = source.reduce(first, PassResult.merge, first.features)
    require_count("the source", source.n_rows, result.n_rows)
    if not result.n_used:
        raise ValueError(f"the source must have rows of positive weight, got {result.n_rows} rows and none")
    if weigh is None or result.n_rows <= limit:
        return replace(first.sample(result), name_of=source.name_of)
    if result.levels is not None and len(result.levels.first) > limit:
        raise ValueError(
            f"max_rows must be at least the number of classes, {len(result.levels.first)}, got {limit}"
        )
    floors = {} if result.levels is None else result.levels.floors()
    mass = weigh(result.sketch.targets(MAX_TARGETS), result.levels)
    second = Pass(limit, seed + 1, mass, levels=levels, floors=floors, **options, schema=result.schema)
    n_rows = result.n_rows
    # The sample of the first pass need not stay in memory.
    del result
    result = source.reduce(second, PassResult.merge)
    require_count("the source", n_rows, result.n_rows)
    return replace(second.sample(result), name_of=source.name_of)
