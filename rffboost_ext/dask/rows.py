"""The blocks of dask arrays and tables as a source of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate
from typing import Any, TypeVar
from uuid import uuid4

import dask
import dask.array as da
import dask.dataframe as dd
from dask.delayed import Delayed
from dask.highlevelgraph import HighLevelGraph

from ..sources.core import Batch, Part, Source

T = TypeVar("T")

# Results that one task merges.
FAN_IN = 8


class DaskRows(Source):
    """Rows of dask collections, whose blocks are read by tasks: any estimator can be fitted to them.

    Parameters
    ----------
    X : dask Array of shape (n, d) or dask DataFrame
        Features. Blocks of an array may be sparse. Sizes of chunks may be unknown, and partitions may be empty.
    y : dask Array, Series or DataFrame
        Targets, in blocks of the same rows as X.
    sample_weight : dask Array or Series of shape (n,), optional
        Non-negative weights.
    group : dask Array or Series of shape (n,), optional
        Labels of groups, such as queries.
    client : distributed.Client, optional
        The cluster that runs the tasks. By default that of the current client, or threads of this process.
    max_rows : int or "auto", default="auto"
        Maximum number of rows that a fit keeps in memory.
    owner : str, default="DaskRows"
        The first word of messages.

    Raises
    ------
    TypeError
        If an argument is no dask collection.
    ValueError
        If they differ in the number of rows or of blocks.
    RuntimeError
        If blocks are lost: results that were cancelled, or data without tasks on a worker that is gone.

    Examples
    --------
    >>> import dask.array as da
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from rffboost_ext.dask import DaskRows
    >>> X = da.random.default_rng(0).standard_normal((200, 2), chunks=(100, 2))
    >>> RFFBoostRegressor(learner="tree", n_estimators=5).fit(DaskRows(X, X[:, 0])).n_rows_seen_
    200
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        group: Any = None,
        client: Any = None,
        max_rows: int | str = "auto",
        owner: str = "DaskRows",
    ) -> None:
        super().__init__(max_rows)
        collections = {"X": X, "y": y, "sample_weight": sample_weight, "group": group}
        self.client, self.owner = client, owner
        self._columns = aligned(owner, {name: one for name, one in collections.items() if one is not None})
        self._starts = [0] * len(block_keys(self._columns["y"]))
        lengths = block_lengths(X) or self._compute(*self._tasks(part_length, False))
        *self._starts, self.n_rows = accumulate(lengths, initial=0)

    def parts(self) -> Sequence[Part]:
        return [BlockPart(partial(self._load, k)) for k in range(len(self._starts))]

    def reduce(self, read: Callable[[Part], T], merge: Callable[[T, T], T], features: bool = True) -> T:
        keys, tasks = self._tasks(read, features)
        while len(keys) > 1:
            spans = [keys[first : first + FAN_IN] for first in range(0, len(keys), FAN_IN)]
            keys = [("merge-rows", *span[0][1:], len(spans)) for span in spans]
            tasks |= {key: (reduce, merge, span) for key, span in zip(keys, spans, strict=True)}
        merged: T = self._compute(keys, tasks)[0]
        return merged

    def _load(self, k: int, features: bool) -> Batch:
        """The rows of block k."""
        keys, tasks = self._tasks(only_batch, features)
        batch: Batch = self._compute(keys[k : k + 1], tasks)[0]
        return batch

    def _tasks(self, read: Callable[[Part], Any], features: bool = True) -> tuple[list[Any], dict[Any, Any]]:
        """Tasks that call a function for each block, and their keys."""
        shared = f"rows-{uuid4().hex}"
        keys = [("read-rows", shared, k) for k in range(len(self._starts))]
        used = {name: one for name, one in self._columns.items() if features or name != "X"}
        blocks = zip(*map(block_keys, used.values()), strict=True)
        return keys, {shared: read} | {
            key: (read_block, shared, self._starts[k], [*used], [*block])
            for k, (key, block) in enumerate(zip(keys, blocks, strict=True))
        }

    def _compute(self, keys: list[Any], tasks: dict[Any, Any]) -> list[Any]:
        """The results of some of the tasks."""
        name = f"rows-{uuid4().hex}"
        columns = list(self._columns.values())
        graph = HighLevelGraph.from_collections(name, tasks | {name: keys}, dependencies=columns)
        try:
            results: list[Any] = dask.compute(Delayed(name, graph), scheduler=self.client)[0]
            return results
        except CancelledError as error:
            raise RuntimeError(
                f"{self.owner}: blocks of X or y are lost, as they were cancelled or on a worker that is gone: "
                f"load or persist them again ({error})"
            ) from error


@dataclass(frozen=True)
class BlockPart:
    """A block.

    Parameters
    ----------
    load : callable
        ``load(features)`` are its rows.
    """

    load: Callable[[bool], Batch]

    def batches(self, features: bool = True) -> Iterator[Batch]:
        """The rows of the block."""
        yield self.load(features)


def read_block(read: Callable[[Part], T], start: int, names: list[str], blocks: list[Any]) -> T:
    """What `read` returns for a block, whose rows are numbered from `start`."""
    block: dict[str, Any] = dict.fromkeys(("X", "sample_weight", "group")) | dict(zip(names, blocks, strict=True))
    batch = Batch.of(block["X"], start, block["y"], block["sample_weight"], block["group"])
    return read(BlockPart(lambda features: batch))


def part_length(part: Part) -> int:
    """The number of rows of a part."""
    return sum(map(len, part.batches(False)))


def only_batch(part: Part) -> Batch:
    """The rows of a block."""
    return next(iter(part.batches()))


def aligned(owner: str, collections: Mapping[str, Any]) -> dict[str, Any]:
    """The collections by name in blocks of all columns and of the same rows, as X is cut."""
    blocks: dict[str, Any] = {}
    for name, one in collections.items():
        if not isinstance(one, da.Array | dd.DataFrame | dd.Series):
            kind = f"{type(one).__module__}.{type(one).__name__}"
            raise TypeError(f"{owner}: {name} must be a dask Array, Series or DataFrame, got {kind}")
        lengths, expected = block_lengths(one), block_lengths(collections["X"])
        if lengths and expected and sum(lengths) != sum(expected):
            raise ValueError(f"{owner}: {name} must have as many rows as X, {sum(expected)}, got {sum(lengths)}")
        if isinstance(one, da.Array):
            rows = {0: expected} if lengths and expected else {}
            blocks[name] = one.rechunk(rows | dict.fromkeys(range(1, one.ndim), -1))
        else:
            # A table reads the columns that it uses; further optimisation would join partitions.
            blocks[name] = one.simplify()
        n_blocks, n_expected = (len(block_keys(blocks[key])) for key in (name, "X"))
        if n_blocks != n_expected:
            raise ValueError(
                f"{owner}: {name} must have as many blocks as X, {n_expected}, got {n_blocks}: repartition a "
                f"table, or call compute_chunk_sizes() of an array"
            )
    return blocks


def block_keys(collection: Any) -> list[Any]:
    """The keys of the blocks of a collection of one block of columns."""
    keys = collection.__dask_keys__()
    return [row[0] for row in keys] if collection.ndim == 2 and isinstance(collection, da.Array) else list(keys)


def block_lengths(collection: Any) -> tuple[int, ...]:
    """The numbers of rows of the blocks of an array; none if they are unknown."""
    lengths = collection.chunks[0] if isinstance(collection, da.Array) else (math.nan,)
    return () if any(map(math.isnan, lengths)) else tuple(map(int, lengths))
