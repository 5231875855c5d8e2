"""The splits of a symmetric tree: one per level, of largest gain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from ....kernels import compiled
from ....utils.parallel import run_over_tiles
from ....utils.typing import Array
from .derivatives import power_of_two
from .features import BinnedFeatures
from .structure import Structure

# Gains below this share of the largest that is possible are rounding errors.
LEAST_GAIN = 1e-12
TINY = np.finfo(np.float64).tiny

# The most entries of histograms that are kept from level to level; with more, each level adds up all rows anew.
MOST_SUMS = 2**26


class Histograms:
    """Memory for the histograms and gains of the trees of a fit.

    Parameters
    ----------
    features : BinnedFeatures
    max_depth : int
    n_sums : int
        Number of derivatives per row.
    n_jobs : int
        Number of threads, of which no result depends.
    """

    def __init__(self, features: BinnedFeatures, max_depth: int, n_sums: int, n_jobs: int) -> None:
        self.features, self.max_depth, self.n_jobs = features, max_depth, n_jobs
        self.n_codes = np.array([column.n_codes for column in features.columns])
        self.one_hot = np.array([column.one_hot for column in features.columns])
        n_features, most = len(self.n_codes), int(self.n_codes.max())
        shape = 2 ** (max_depth - 1), most, n_sums
        self.sums = np.empty((n_features if n_features * math.prod(shape) <= MOST_SUMS else 0, *shape))
        self.gains = np.empty((n_features, 2, most))

    def grow(
        self,
        derivatives: Array,
        columns: Array,
        penalty: float,
        least: float,
        adjust: Callable[[Array, float, float], Array],
    ) -> Structure:
        """The splits of largest gain, level by level.

        Parameters
        ----------
        derivatives : ndarray of shape (n, s)
            Weighted gradients, then the weighted hessian, whose sums are exact; rows without any are left out.
        columns : ndarray of shape (c,)
            The columns that may be split.
        penalty : float
            Added to the hessian of a leaf.
        least : float
            The least hessian of a child.
        adjust : callable
            From the gains of a level, (c, 2, bins), and the units of gradients and of hessians in which they are,
            to those by which the split is chosen.
        """
        rows, sums, units, bound = in_units(derivatives)
        penalty, least = penalty / units[1], max(least / units[1], TINY)
        start, stop = np.zeros((2, 2**self.max_depth), dtype=np.int64)
        stop[0] = len(rows)
        spare = np.empty_like(rows), np.empty_like(sums)
        kernels = compiled("symmetric_trees")
        options = self.n_codes[columns], self.one_hot[columns], penalty, least
        memory, gains = self.sums[: len(columns)], self.gains[: len(columns)]
        splits: list[tuple[int, int, bool]] = []
        for level in range(self.max_depth):
            if splits:
                before = rows, sums, start, stop, 2 ** (level - 1)
                kernels.partition_rows(*self._routed(*splits[-1]), *before, *spare)
                (rows, sums), spare = spare, (rows, sums)
            leaves = rows, sums, start, stop, 2**level
            arguments = self.features.codes, *leaves, columns, *options, memory, gains
            run_over_tiles(kernels.find_gains, len(columns), self.n_jobs, *arguments)
            column, missing_right, code = np.unravel_index(int(adjust(gains, *units).argmax()), gains.shape)
            if not gains[column, missing_right, code] > LEAST_GAIN * bound:
                break
            splits.append((int(columns[column]), int(code), bool(missing_right)))
        return self._structure(splits)

    def _routed(self, column: int, code: int, missing_right: bool) -> tuple[Array, Array]:
        """The codes of a column, (n,), and whether each code goes right, (256,)."""
        return self.features.codes[column], self.features.columns[column].table(code, missing_right)

    def _structure(self, splits: Sequence[tuple[int, int, bool]]) -> Structure:
        conditions = [self.features.columns[split[0]].condition(*split[1:]) for split in splits]
        leaf = np.zeros(self.features.codes.shape[1], dtype=np.int32)
        for level, split in enumerate(splits):
            compiled("symmetric_trees").add_level(*self._routed(*split), level, leaf)
        return Structure.of_conditions([split[0] for split in splits], conditions, leaf)


def in_units(derivatives: Array) -> tuple[Array, Array, tuple[float, float], float]:
    """The rows (m,) with any derivative but 0, of derivatives (n, s), and what gains are computed from.

    Returns
    -------
    rows : ndarray of shape (m,), uint32
    sums : ndarray of shape (m, s)
        Their derivatives in units in which no square of a sum overflows or vanishes.
    units : tuple of float
        The units of gradients and of hessians.
    bound : float
        No gain is larger.
    """
    rows = np.flatnonzero(reduce(np.logical_or, derivatives.T)).astype(np.uint32)
    sums = derivatives.take(rows, axis=0)
    size = np.ones(len(rows)) @ np.abs(sums)
    units = power_of_two(float(size[:-1].max())), power_of_two(float(size[-1]))
    sums[:, :-1] /= units[0]
    sums[:, -1] /= units[1]
    total = max(float(size[-1]) / units[1], TINY)
    return rows, sums, units, float(np.square(size[:-1] / units[0]).sum()) / total
