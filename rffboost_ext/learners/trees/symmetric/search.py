"""The search for the splits of a symmetric tree on columns of codes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....kernels import compiled
from ....utils.parallel import run_as_team
from ....utils.typing import Array

# Rows times columns for each thread, which takes 100 microseconds to start.
MIN_PER_THREAD = 2**16
# The most entries of histograms that are kept from level to level; with more, each level adds up all rows anew.
MOST_SUMS = 2**26


@dataclass(frozen=True)
class Search:
    """What splits are searched for.

    Parameters
    ----------
    derivatives : ndarray of shape (m, s)
        Weighted gradients, then the weighted hessian, whose sums are exact; rows without any are left out.
    drawn : ndarray of shape (m,), or None
        The rows, ascending, that they are of; None for all rows.
    columns : ndarray of shape (c,)
        The columns that may be split.
    allowed : ndarray of shape (D, c), bool
        Which of them may be split at each level.
    penalty, least : float
        What is added to the hessian of a leaf, and the least hessian of a child.
    """

    derivatives: Array
    drawn: Array | None
    columns: Array
    allowed: Array
    penalty: float
    least: float


class DenseSearch:
    """Searches for the splits of the trees of a fit, in memory that all of them share.

    Parameters
    ----------
    codes : ndarray of shape (d, n), uint8
        The code of each value.
    n_codes, one_hot : ndarray of shape (d,)
        The number of codes of each column, and whether splits single out a code.
    max_depth : int
    n_sums : int
        Number of derivatives of a row.
    n_jobs : int
        Number of threads, of which no result depends.
    """

    def __init__(
        self, codes: Array, n_codes: Array, one_hot: Array, max_depth: int, n_sums: int, n_jobs: int
    ) -> None:
        self.columns, self.n_jobs = (codes, n_codes, one_hot), n_jobs
        shape = 2 ** (max_depth - 1), n_sums, int(n_codes.max())
        self.below = np.empty((len(codes) if len(codes) * math.prod(shape) <= MOST_SUMS else 0, *shape))
        self.gains, self.places = np.empty(len(codes)), np.empty((len(codes), 2), dtype=np.int64)
        self.units = np.empty(2), np.empty(3)
        self._reserve(0)

    def _reserve(self, n_rows: int) -> None:
        """Reserve memory for the rows that a tree is grown on."""
        n_leaves, n_sums, _ = self.below.shape[1:]
        n_tiles = -(-n_rows // compiled("symmetric_tree_growth").TILE)
        self.rows = np.empty((2, n_rows), dtype=np.uint32), np.empty((2, n_rows, n_sums))
        self.tiles = np.empty((n_tiles, n_leaves, 2), dtype=np.int64), np.empty((n_tiles, n_sums))
        self.counts = np.empty(n_leaves, dtype=np.int64)

    def find_splits(self, search: Search) -> tuple[Array, Array]:
        """The split of each level, (levels, 3), and the leaf of each row, (n,), int32.

        A split is a column, whether missing values go right, and a code.
        """
        kernels, (m, n_columns) = compiled("symmetric_tree_growth"), (len(search.derivatives), len(search.columns))
        if m > self.rows[0].shape[1]:
            self._reserve(m)
        drawn = np.empty(0, dtype=np.int64) if search.drawn is None else search.drawn
        splits = np.empty((len(search.allowed), 3), dtype=np.int64)
        leaf = np.empty(self.columns[0].shape[1], dtype=np.int32)
        spans, sizes = (one[: -(-m // kernels.TILE)] for one in self.tiles)
        what = (
            drawn,
            search.derivatives,
            search.columns,
            search.allowed,
            search.penalty,
            search.least,
            splits,
            leaf,
        )
        memory = self.below[:n_columns], *self.rows, spans, self.counts, sizes, *self.units
        tree = kernels.Growth(*self.columns, *what, *memory, self.gains[:n_columns], self.places[:n_columns])
        return splits[: run_as_team(kernels.grow, self.n_jobs, m * n_columns // MIN_PER_THREAD, tree)], leaf
