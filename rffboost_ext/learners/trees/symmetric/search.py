"""The search for the splits of a symmetric tree, level by level."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ....kernels import compiled
from ....utils.parallel import run_over_tiles
from ....utils.typing import Array

# Rows times columns of a level from which it is searched by several threads, whose start takes 50 microseconds.
MIN_SHARED = 2**19
# Rows of a leaf that a thread moves at a time.
SPAN = 2**14


@dataclass(frozen=True)
class Search:
    """What splits are searched for.

    Parameters
    ----------
    columns : ndarray of shape (c,)
        The columns that may be split.
    allowed : ndarray of shape (D, c), bool
        Which of them may be split at each level.
    penalty, least, floor : float
        What is added to the hessian of a leaf, the least hessian of a child, and what a gain must exceed.
    memory : ndarray of shape (c, 2**(D - 1), s, bins)
        For sums below each code; of length 0 if there is none.
    n_jobs : int
        Number of threads, of which no result depends.
    """

    columns: Array
    allowed: Array
    penalty: float
    least: float
    floor: float
    memory: Array
    n_jobs: int

    @property
    def depth(self) -> int:
        """The most levels, D."""
        return len(self.allowed)


class Leaves(ABC):
    """The rows of a tree in growth, by leaf."""

    @abstractmethod
    def divide(self, split: Array, level: int) -> None:
        """Divide each leaf of a level at a split (column, missing values right, code)."""

    @abstractmethod
    def find_gains(self, search: Search, n_leaves: int, gains: Array) -> None:
        """Write the gains of all splits of a level to `gains` (c, 2, bins)."""

    def find_splits(self, search: Search) -> Array:
        """The split of each level, (levels, 3): column, whether missing values go right, and code."""
        splits = np.empty((search.depth, 3), dtype=np.int64)
        gains = np.empty((len(search.columns), 2, search.memory.shape[3]))
        for level in range(search.depth):
            if level:
                self.divide(splits[level - 1], level - 1)
            self.find_gains(search, 2**level, gains)
            gains[~search.allowed[level]] = -np.inf
            place = np.unravel_index(int(gains.argmax()), gains.shape)
            if not gains[place] > search.floor:
                return splits[:level]
            splits[level] = search.columns[place[0]], *place[1:]
        return splits


class RowsByLeaf(Leaves):
    """Rows in the order of leaves.

    Parameters
    ----------
    codes : ndarray of shape (d, n), uint8
        The code of each value.
    n_codes, one_hot : ndarray of shape (d,)
        The number of codes of each column, and whether splits single out a code.
    rows, sums : ndarray of shape (m,), (m, s)
        The rows and their derivatives, which are overwritten.
    spare : pair of ndarray of shape (m,), (m, s)
        Memory.
    """

    def __init__(
        self, codes: Array, n_codes: Array, one_hot: Array, rows: Array, sums: Array, spare: tuple[Array, ...]
    ) -> None:
        self.codes, self.n_codes, self.one_hot = codes, n_codes, one_hot
        self.rows, self.sums, self.spare = rows, sums, spare

    def find_splits(self, search: Search) -> Array:
        if search.n_jobs > 1 and len(self.rows) * len(search.columns) >= MIN_SHARED:
            self.start, self.stop = np.zeros((2, 2**search.depth), dtype=np.int64)
            self.stop[0], self.n_jobs = len(self.rows), search.n_jobs
            return super().find_splits(search)
        splits, columns = np.empty((search.depth, 3), dtype=np.int64), (search.columns, self.n_codes, self.one_hot)
        limits = search.allowed, search.penalty, search.least, search.floor
        rows = self.rows, self.sums, *self.spare
        levels = compiled("symmetric_tree_growth").find_splits(
            self.codes, *rows, *columns, *limits, search.memory, splits
        )
        return splits[:levels]

    def divide(self, split: Array, level: int) -> None:
        arrays = self.codes[split[0]], split, bool(self.one_hot[split[0]]), self.rows
        kernels, n_leaves = compiled("symmetric_tree_growth"), 2**level
        start, stop = self.start[:n_leaves], self.stop[:n_leaves].copy()
        spans = [
            (leaf, begin, min(begin + SPAN, end))
            for leaf, end in enumerate(stop.tolist())
            for begin in range(int(start[leaf]), end, SPAN)
        ]
        leaf, begin, end = np.array(spans).T
        counts = np.empty(len(spans), dtype=np.int64)
        run_over_tiles(
            kernels.count_left, len(spans), self.n_jobs, *arrays, np.stack([begin, end], axis=1), counts, least=1
        )
        n_left = np.bincount(leaf, counts, n_leaves).astype(np.int64)
        before = (counts.cumsum() - counts) - (n_left.cumsum() - n_left)[leaf]
        left, right = start[leaf] + before, (stop - 1)[leaf] - (begin - start[leaf] - before)
        moves = self.sums, np.stack([begin, end, left, right], axis=1), *self.spare
        run_over_tiles(kernels.move_spans, len(spans), self.n_jobs, *arrays, *moves, least=1)
        (self.rows, self.sums), self.spare = self.spare, (self.rows, self.sums)
        self.stop[:n_leaves] = self.start[n_leaves : 2 * n_leaves] = start + n_left
        self.stop[n_leaves : 2 * n_leaves] = stop

    def find_gains(self, search: Search, n_leaves: int, gains: Array) -> None:
        leaves = self.rows, self.sums, self.start, self.stop, n_leaves
        columns, limits = (search.columns, self.n_codes, self.one_hot), (search.penalty, search.least)
        arrays = self.codes, *leaves, *columns, *limits, search.memory, gains
        kernel = compiled("symmetric_tree_growth").find_gains
        run_over_tiles(kernel, len(search.columns), search.n_jobs, *arrays)
