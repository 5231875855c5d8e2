"""The blocks of dask arrays and tables as a source of rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import partial, reduce
from itertools import accumulate
from typing import Any, TypeVar

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np

from ..data.columns import column_array
from ..preprocessing.rows import row_bytes
from ..preprocessing.tables import target_array
from ..sources.core import Batch, Part, Source

T = TypeVar("T")

# Results that one task merges.
FAN_IN = 8


class DaskRows(Source):
    """Rows of dask collections, whose blocks are read by tasks: any estimator can be fitted to them.

    Parameters
    ----------
    X : dask Array of shape (n, d) or dask DataFrame
        Features. Sizes of chunks may be unknown, and partitions may be empty.
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
        given = {"X": X, "y": y, "sample_weight": sample_weight, "group": group}
        self.client, self.owner = client, owner
        self._blocks = aligned_blocks(owner, {name: one for name, one in given.items() if one is not None})
        lengths = known_lengths(X) or self._compute([dask.delayed(len)(one) for one in self._blocks["y"]])
        *self._starts, self.n_rows = accumulate(lengths, initial=0)

    def parts(self) -> Sequence[Part]:
        return [BlockPart(partial(self._load, k)) for k in range(len(self._starts))]

    def reduce(self, read: Callable[[Part], T], merge: Callable[[T, T], T], features: bool = True) -> T:
        shared = dask.delayed(read, pure=False)
        results = [dask.delayed(read_block)(shared, self._batch(k, features)) for k in range(len(self._starts))]
        while len(results) > 1:
            spans = range(0, len(results), FAN_IN)
            results = [dask.delayed(reduce)(merge, results[first : first + FAN_IN]) for first in spans]
        merged: T = self._compute(results[0])
        return merged

    def row_bytes(self) -> int:
        found: int = self._compute(dask.delayed(row_bytes)(self._blocks["X"][0]))
        return found

    def _load(self, k: int, features: bool) -> Batch:
        """The rows of block k."""
        batch: Batch = self._compute(self._batch(k, features))
        return batch

    def _batch(self, k: int, features: bool) -> Any:
        """The delayed rows of block k."""
        columns = {name: blocks[k] for name, blocks in self._blocks.items() if features or name != "X"}
        return dask.delayed(batch_of)(self.owner, k, self._starts[k], **columns)

    def _compute(self, value: Any) -> Any:
        """The result of a delayed value."""
        try:
            return dask.compute(value, scheduler=self.client)[0]
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


def read_block(read: Callable[[Part], T], batch: Batch) -> T:
    """What `read` returns for a block."""
    return read(BlockPart(lambda features: batch))


def batch_of(
    owner: str, k: int, start: int, y: Any, X: Any = None, sample_weight: Any = None, group: Any = None
) -> Batch:
    """The rows of block k, numbered from `start`; a ValueError if their numbers differ."""
    for name, values in {"X": X, "sample_weight": sample_weight, "group": group}.items():
        if values is not None and len(values) != len(y):
            raise ValueError(
                f"{owner}: blocks of {name} must have as many rows as those of y, got {len(values)} and {len(y)} "
                f"in block {k}"
            )
    weight, group = (None if values is None else column_array(values) for values in (sample_weight, group))
    return Batch(X, np.arange(start, start + len(y), dtype=np.uint64), target_array(y), weight, group)


def aligned_blocks(owner: str, given: Mapping[str, Any]) -> dict[str, list[Any]]:
    """The delayed blocks of collections by name, each of all columns of some rows, cut as X is."""
    blocks: dict[str, list[Any]] = {}
    for name, one in given.items():
        if not isinstance(one, da.Array | dd.DataFrame | dd.Series):
            kind = f"{type(one).__module__}.{type(one).__name__}"
            raise TypeError(f"{owner}: {name} must be a dask Array, Series or DataFrame, got {kind}")
        lengths, wanted = known_lengths(one), known_lengths(given["X"])
        if lengths and wanted and sum(lengths) != sum(wanted):
            raise ValueError(f"{owner}: {name} must have as many rows as X, {sum(wanted)}, got {sum(lengths)}")
        if isinstance(one, da.Array):
            rows = {0: wanted} if lengths and wanted else {}
            one = one.rechunk(rows | dict.fromkeys(range(1, one.ndim), -1))
            # Tasks that collections share keep their names, and run once for a block.
            blocks[name] = one.to_delayed(optimize_graph=False).ravel().tolist()
        else:
            blocks[name] = one.to_delayed()
        if len(blocks[name]) != len(blocks["X"]):
            raise ValueError(
                f"{owner}: {name} must have as many blocks as X, {len(blocks['X'])}, got {len(blocks[name])}: "
                f"repartition a table, or call compute_chunk_sizes() of an array"
            )
    return blocks


def known_lengths(collection: Any) -> tuple[int, ...]:
    """The numbers of rows of the blocks of an array; none if they are unknown."""
    lengths = collection.chunks[0] if isinstance(collection, da.Array) else (math.nan,)
    return () if any(map(math.isnan, lengths)) else tuple(map(int, lengths))
