"""Columns of a sparse matrix as codes of one byte, without those of absent entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ....kernels import compiled
from ....terms.crosses import NO_CROSSES, Crosses
from ....utils.parallel import run_over_tiles
from ....utils.typing import Array
from ...design import Design
from .columns import Numbers, edges_between
from .search import Search

# Entries whose bins are found at once; a column is not divided.
PART = 2**20
TINY = np.finfo(np.float64).tiny
# Shares of weights are equal up to so much.
ROUNDING = 1e-9
# Columns of fewer entries are not split, and of more distinct values a bin has at least so many entries.
LEAST_ENTRIES, LEAST_PER_BIN = 8, 3


class SparseNumbers(Numbers):
    """Numbers in bins with given edges, (m,)."""

    def __init__(self, edges: Array) -> None:
        self.edges, self.n_codes = edges, len(edges) + 2


def sparse_edges(column: Array, values: Array, weight: Array, n_columns: int, max_bin: int) -> tuple[Array, Array]:
    """The edges of bins of columns with few entries: 0 has its own, the others are of about equal weight.

    Parameters
    ----------
    column, values, weight : ndarray of shape (m,)
        The column of each entry, its value and the weight of its row.
    n_columns : int
    max_bin : int
        The largest number of bins of a column, that of 0 included.

    Returns
    -------
    edges : ndarray of shape (e,)
        Column after column.
    begin : ndarray of shape (n_columns + 1,)
        The first edge of each column.
    """
    counted = (weight > 0.0) & ~np.isnan(values)
    n_entries = count_entries(column[counted], weight[counted], n_columns)
    counted &= (n_entries >= LEAST_ENTRIES)[column]
    every = np.arange(n_columns)
    # Each column has the value 0 once more, without weight.
    column, values = np.append(column[counted], every), np.append(values[counted].astype(np.float64), 0.0 * every)
    order = np.lexsort((values, column))
    column, values = column[order], values[order]
    below = np.cumsum(np.append(weight[counted], 0.0 * every)[order])
    is_first = np.append(True, (values[1:] != values[:-1]) | (column[1:] != column[:-1]))
    last = np.searchsorted(column, every, side="right") - 1
    total = np.diff(below[last], prepend=0.0).clip(min=TINY)
    n_distinct = np.bincount(column[is_first], minlength=n_columns)
    most = np.minimum(max_bin - 1, n_entries // LEAST_PER_BIN).clip(min=1)
    column, values = column[is_first], values[is_first]
    share = (np.append(0.0, below)[:-1][is_first] - np.append(0.0, below[last])[column]) / total[column]
    code = np.floor(share * most[column] + ROUNDING)
    is_new = (
        (code[1:] != code[:-1]) | (n_distinct <= most + 1)[column[1:]] | (values[1:] == 0.0) | (values[:-1] == 0.0)
    )
    upper = 1 + np.flatnonzero(is_new & (column[1:] == column[:-1]))
    return edges_between(values[upper - 1], values[upper]), np.searchsorted(
        column[upper], np.arange(n_columns + 1)
    )


def count_entries(column: Array, weight: Array, n_columns: int) -> Array:
    """The number of entries of each column, by the weights of rows if that is more: equal rows may be merged."""
    return np.maximum(*(np.bincount(column, part, n_columns) for part in (None, weight)))


def edges_in_parts(begin: Array, values: Array, rows: Array, weight: Array, max_bin: int) -> tuple[Array, Array]:
    """As :func:`sparse_edges`, of columns of all entries, some columns at a time, which need less memory."""
    last = np.searchsorted(begin, np.arange(PART, begin[-1] + PART, PART), side="right") - 1
    parts, counts = [np.empty(0)], [np.zeros(1, dtype=np.int64)]
    for start, stop in pairwise(np.unique(np.concatenate([[0], last, [len(begin) - 1]])).tolist()):
        own, n_columns = slice(begin[start], begin[stop]), stop - start
        column = np.repeat(np.arange(n_columns), np.diff(begin[start : stop + 1]))
        edges, first = sparse_edges(column, values[own], weight[rows[own]], n_columns, max_bin)
        parts.append(edges)
        counts.append(np.diff(first))
    return np.concatenate(parts), np.cumsum(np.concatenate(counts))


class SparseColumns(Sequence[SparseNumbers]):
    """Columns of numbers, made when they are asked for; parameters are the results of :func:`sparse_edges`."""

    def __init__(self, edges: Array, begin: Array) -> None:
        self.edges, self.begin = edges, begin

    def __len__(self) -> int:
        return len(self.begin) - 1

    def __getitem__(self, column: Any) -> Any:
        # An index beyond the last column ends an iteration.
        return SparseNumbers(self.edges[slice(*self.begin[range(column, column + 2)])])


@dataclass(frozen=True)
class SparseFeatures:
    """The features of n rows of a sparse matrix, and their crosses.

    Parameters
    ----------
    begin : ndarray of shape (d + K + 1,), int64
        Column j has the entries from ``begin[j]`` to ``begin[j + 1]``.
    rows : ndarray of shape (m,), uint32
        The row of each entry.
    codes : ndarray of shape (m,), uint8
        Its code.
    absent : ndarray of shape (d + K,), uint8
        The code of absent entries of each column.
    n_entries : ndarray of shape (d + K,)
        How many entries each column has.
    n_samples : int
        Number of rows, n.
    columns : SparseColumns
    crosses : Crosses
        The last K columns.
    """

    begin: Array
    rows: Array
    codes: Array
    absent: Array
    n_entries: Array
    n_samples: int
    columns: SparseColumns
    crosses: Crosses
    level_orders: ClassVar[None] = None

    @classmethod
    def of(cls, design: Design, weight: Array, max_bin: int, crosses: Crosses = NO_CROSSES) -> SparseFeatures:
        """The original features of a design, binned by the weights of the rows, (n,)."""
        X = design.original
        entries = X.columns
        dense = [crosses.column(X, X.shape[1] + k) for k in range(len(crosses))]
        further = [np.flatnonzero(values) for values in dense]
        begin = np.append(entries.indptr, len(entries.data) + np.cumsum(list(map(len, further)))).astype(np.int64)
        rows = np.concatenate([entries.indices, *further]).astype(np.uint32)
        values = np.concatenate([entries.data, *(one[places] for one, places in zip(dense, further, strict=True))])
        n_columns = len(begin) - 1
        edges, first = edges_in_parts(begin, values, rows, weight, max_bin)
        codes, absent = np.empty(len(rows), dtype=np.uint8), np.empty(n_columns, dtype=np.uint8)
        compiled("bins").find_sparse_codes(begin, values.astype(np.float64), first, edges, codes, absent)
        n_entries = count_entries(np.repeat(np.arange(n_columns), np.diff(begin)), weight[rows], n_columns)
        return cls(begin, rows, codes, absent, n_entries, len(X), SparseColumns(edges, first), crosses)

    @cached_property
    def n_codes(self) -> Array:
        """The number of codes of each column, (d + K,)."""
        return np.diff(self.columns.begin) + 2

    @cached_property
    def one_hot(self) -> Array:
        """Whether splits of each column single out a code, (d + K,): none does."""
        return np.zeros(len(self.columns), dtype=np.bool_)

    @cached_property
    def usable(self) -> Array:
        """The columns that trees may split: those of enough entries."""
        filled = np.flatnonzero(self.n_entries >= LEAST_ENTRIES)
        return filled if len(filled) else np.arange(len(self.columns))

    @property
    def chances(self) -> Array:
        """What probabilities to draw each usable column are in proportion to."""
        return self.n_entries[self.usable] + 1.0

    def codes_of(self, column: int) -> Array:
        """The codes of a column, (n,), uint8."""
        out = np.full(self.n_samples, self.absent[column])
        own = slice(self.begin[column], self.begin[column + 1])
        out[self.rows[own]] = self.codes[own]
        return out

    def originals(self, design: Design, feature: Array) -> tuple[Array, Array]:
        """The features (D, n) of `feature` (D,), and their places."""
        columns = np.ascontiguousarray(design.original[:, feature].T)
        return columns, np.arange(len(feature), dtype=np.int32)

    def search(self, max_depth: int, n_sums: int, n_jobs: int) -> SparseSearch:
        """The search for splits."""
        return SparseSearch(self, n_jobs)

    def require_numbers(self, owner: str, signs: Sequence[int] | None) -> None:
        """Do nothing: all columns are numbers."""


@dataclass(frozen=True)
class SparseSearch:
    """As :class:`DenseSearch`, on sparse columns."""

    features: SparseFeatures
    n_jobs: int

    def find_splits(self, search: Search) -> tuple[Array, Array]:
        """As :meth:`DenseSearch.find_splits`. During the search, -1 is the leaf of rows that are left out."""
        features, least_gain = self.features, compiled("symmetric_tree_growth").LEAST_GAIN
        (m, n_sums), n_columns = search.derivatives.shape, len(search.columns)
        rows, taken, size, units = (
            np.empty(m, dtype=np.uint32),
            np.empty((m, n_sums)),
            np.empty(n_sums),
            np.empty(2),
        )
        largest, used = compiled("exact_sums").take_in_units(search.derivatives, rows, taken, size, units)
        rows = rows[:used] if search.drawn is None else search.drawn[rows[:used]]
        leaf, sums = np.full(features.n_samples, -1, dtype=np.int32), np.zeros((features.n_samples, n_sums))
        leaf[rows], sums[rows] = 0, taken[:used]
        limits = search.penalty / units[1], max(search.least / units[1], TINY)
        splits = np.empty((len(search.allowed), 3), dtype=np.int64)
        gains = np.empty((n_columns, 2, int(features.n_codes.max())))
        for level, allowed in enumerate(search.allowed):
            self._find_gains(leaf, sums, search.columns, 2**level, limits, gains)
            gains[~allowed] = -np.inf
            place = np.unravel_index(int(gains.argmax()), gains.shape)
            if not gains[place] > least_gain * largest:
                splits = splits[:level]
                break
            splits[level] = search.columns[place[0]], *place[1:]
            # All bits of -1 are set.
            self._add_level(splits[level], level, leaf)
        every = np.zeros(features.n_samples, dtype=np.int32)
        for level, split in enumerate(splits):
            self._add_level(split, level, every)
        return splits, every

    def _find_gains(
        self, leaf: Array, sums: Array, columns: Array, n_leaves: int, limits: tuple[float, float], gains: Array
    ) -> None:
        """Write the gains of all splits of a level to `gains` (c, 2, bins)."""
        kernels, own = compiled("sparse_trees"), self.features
        totals = np.zeros((n_leaves, sums.shape[1]))
        kernels.add_totals(leaf, sums, totals)
        arrays = own.begin, own.rows, own.codes, own.absent, leaf, sums, totals, columns, own.n_codes
        run_over_tiles(kernels.find_sparse_gains, len(columns), self.n_jobs, *arrays, *limits, gains)

    def _add_level(self, split: Array, level: int, leaf: Array) -> None:
        """Set the bit of a level in the leaves of rows that go right."""
        codes = self.features.codes_of(split[0])
        compiled("symmetric_tree_leaves").add_level(codes, split, False, level, leaf)
