"""Columns of a sparse matrix as codes of one byte, without those of absent entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ....kernels import compiled
from ....terms.crosses import NO_CROSSES, Crosses
from ....utils.parallel import run_over_tiles
from ....utils.typing import Array
from ...design import Design
from .columns import Column, ManyLevels, Numbers, bin_edges, edges_between


class SparseNumbers(Numbers):
    """Numbers of which most are 0; parameters are those of :class:`Numbers` for the entries that are stored.

    The value 0 has a bin of its own, and the others are in bins of about equal weight.
    """

    def __init__(self, values: Array, weight: Array, max_bin: int, codes: Array) -> None:
        self.edges = edges_around_zero(values, weight, max_bin)
        self.n_codes = len(self.edges) + 2
        compiled("symmetric_trees").find_codes(values.astype(np.float64), self.edges, codes)

    @property
    def absent(self) -> int:
        """The code of 0."""
        return 1 + int(np.searchsorted(self.edges, 0.0, side="right"))


def edges_around_zero(values: Array, weight: Array, max_bin: int) -> Array:
    """The edges between at most `max_bin` bins of values (m,) other than 0, and the edges between these and 0."""
    counted = values[weight > 0.0].astype(np.float64)
    low, high = counted[counted < 0.0].max(initial=-np.inf), counted[counted > 0.0].min(initial=np.inf)
    edges = bin_edges(values, weight, max(1, max_bin - 2))
    pairs = np.array([[low, 0.0], [0.0, high]])
    around = edges_between(*pairs[np.isfinite(pairs).all(axis=1)].T)
    return np.sort(np.concatenate([edges[(edges <= low) | (edges > high)], around]))


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
    n_samples : int
        Number of rows, n.
    columns : list of Column
    crosses : Crosses
        The last K columns.
    """

    begin: Array
    rows: Array
    codes: Array
    absent: Array
    n_samples: int
    columns: Sequence[Column]
    crosses: Crosses
    many_levels: ClassVar[Sequence[ManyLevels]] = ()

    @classmethod
    def of(cls, design: Design, weight: Array, max_bin: int, crosses: Crosses = NO_CROSSES) -> SparseFeatures:
        """The original features of a design, binned by the weights of the rows, (n,)."""
        X = design.original
        entries = X.columns
        dense = [crosses.column(X, k) for k in range(len(crosses))]
        further = [np.flatnonzero(values) for values in dense]
        begin = np.append(entries.indptr, len(entries.data) + np.cumsum(list(map(len, further)))).astype(np.int64)
        rows = np.concatenate([entries.indices, *further]).astype(np.uint32)
        values = np.concatenate([entries.data, *(one[chosen] for one, chosen in zip(dense, further, strict=True))])
        codes, columns = np.empty(len(rows), dtype=np.uint8), list[Any](range(len(begin) - 1))

        def bin_columns(first: int, last: int) -> None:
            for j in range(first, last):
                own = slice(begin[j], begin[j + 1])
                columns[j] = SparseNumbers(values[own], weight[rows[own]], max_bin, codes[own])

        run_over_tiles(bin_columns, len(columns), design.n_jobs)
        absent = np.array([column.absent for column in columns], dtype=np.uint8)
        return cls(begin, rows, codes, absent, len(X), columns, crosses)

    def codes_of(self, column: int) -> Array:
        """The codes of a column, (n,), uint8."""
        out = np.full(self.n_samples, self.absent[column])
        own = slice(self.begin[column], self.begin[column + 1])
        out[self.rows[own]] = self.codes[own]
        return out

    def undivided(self, rows: Array, sums: Array, max_depth: int) -> LeafOfRows:
        """Some rows (m,) and their derivatives (m, s) in the root of a tree."""
        return LeafOfRows(self, rows, sums)

    def require_numbers(self, owner: str, signs: Sequence[int] | None) -> None:
        """Do nothing: all columns are numbers."""


class LeafOfRows:
    """The leaf of each row of a tree in growth, -1 for rows that it is not grown on.

    Parameters
    ----------
    features : SparseFeatures
    rows, sums : ndarray of shape (m,), (m, s)
        The rows that it is grown on, and their derivatives.
    """

    def __init__(self, features: SparseFeatures, rows: Array, sums: Array) -> None:
        self.features = features
        self.leaf = np.full(features.n_samples, -1, dtype=np.int32)
        self.leaf[rows] = 0
        self.sums = np.zeros((features.n_samples, sums.shape[1]))
        self.sums[rows] = sums

    def divide(self, codes: Array, table: Array, level: int) -> None:
        """Divide each leaf of a level by the codes of a column, (n,), of which `table` (256,) go right."""
        # All bits of -1 are set.
        compiled("symmetric_trees").add_level(codes, table, level, self.leaf)

    def find_gains(
        self,
        columns: Array,
        n_codes: Array,
        one_hot: Array,
        penalty: float,
        least: float,
        memory: Array,
        gains: Array,
        *,
        n_leaves: int,
        n_jobs: int,
    ) -> None:
        """Call the kernel of sparse columns for some of them."""
        kernels, own = compiled("symmetric_trees"), self.features
        totals = np.zeros((n_leaves, self.sums.shape[1]))
        kernels.add_totals(self.leaf, self.sums, totals)
        entries = own.begin, own.rows, own.codes, own.absent, self.leaf, self.sums, totals
        options = columns, n_codes, penalty, least, gains
        run_over_tiles(kernels.find_sparse_gains, len(columns), n_jobs, *entries, *options)
