"""The splits of a symmetric tree: one per level, of largest gain."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core import Round
from ....kernels import compiled
from ....terms import SymmetricTrees
from ....utils.typing import Array
from .columns import BinnedFeatures, Condition
from .search import Leaves, Search
from .sparse_columns import SparseFeatures


def tree_of_conditions(features: Array, conditions: Sequence[Condition]) -> SymmetricTrees:
    """The tree of the feature of each level and what goes right there, with leaves of value 0."""
    fields: dict[str, Any] = {
        "feature": features[None].astype(np.int32),
        "threshold": np.array([[one.threshold for one in conditions]], dtype=np.float64),
        "missing_right": np.array([[one.missing_right for one in conditions]], dtype=np.bool_),
        "value": np.zeros((1, 2 ** len(features), 1)),
    }
    sets = [one.levels for one in conditions if one.levels is not None]
    if sets:
        is_set = np.array([one.levels is not None for one in conditions])
        member = np.zeros((len(sets), max(map(len, sets))), dtype=np.bool_)
        for row, levels in zip(member, sets, strict=True):
            row[: len(levels)] = levels
        fields["subset"] = np.where(is_set, np.cumsum(is_set) - 1, -1).astype(np.int32)[None]
        fields["members"] = np.packbits(member, axis=1, bitorder="little")
    return SymmetricTrees(**fields)


def exact_derivatives(round: Round, rows: Array | None = None, factor: Array | float = 1.0) -> Array:
    """Weighted gradients, then hessians, (m, 2 C), rounded so that sums of them are exact.

    They are those of some `rows` (m,), by default all, with weights times a `factor` (m,).
    """
    parts = round.gradient, round.hessian, round.weight
    gradient, hessian, weight = parts if rows is None else (part.take(rows, axis=0) for part in parts)
    n_rows, n_outputs = gradient.shape
    weight = weight if rows is None else factor * weight
    out, total, kernels = np.empty((n_rows, 2 * n_outputs)), float(weight.sum()), compiled("exact_sums")
    kernels.exact_products(gradient, weight, total, out, 0)
    kernels.exact_products(hessian, weight, total, out, n_outputs)
    return out


def split_derivatives(
    derivatives: Array, output_weights: Array | None, n_projections: int, rng: np.random.Generator
) -> Array:
    """Gradients, of all outputs or of random projections of them, and the hessian: (n, s), from (n, 2 C).

    The hessian is the mean of those of all outputs. Each gradient is in units in which its output has this
    hessian, times the root of the output weight (C,). A column of zeros makes s even.
    """
    if derivatives.shape[1] == 2:
        return derivatives
    gradient, hessian = map(np.ascontiguousarray, np.hsplit(derivatives, 2))
    (n_rows, n_outputs), one = gradient.shape, np.ones(len(gradient))
    curvature = one @ hessian
    mean = curvature.mean()
    relative = np.divide(mean, curvature, out=np.zeros_like(curvature), where=curvature > 0.0)
    mixing = np.diag(np.sqrt(relative if output_weights is None else relative * output_weights))
    if n_outputs > n_projections:
        mixing = mixing @ rng.standard_normal((n_outputs, n_projections)) / np.sqrt(n_projections)
    mixing = np.pad(mixing, ((0, 0), (0, 1 - mixing.shape[1] % 2)))
    mixed = np.column_stack([gradient @ mixing, hessian @ relative / n_outputs])
    compiled("exact_sums").exact_products(mixed, one, float(n_rows), out := np.empty(mixed.shape), 0)
    return out


def sampled_columns(rng: np.random.Generator, columns: Array, share: float, weight: Array | None = None) -> Array:
    """A sample of columns (m,), ascending, with probabilities in proportion to a weight (m,); at least one."""
    if share == 1.0:
        return columns
    # Those with the earliest arrivals (Efraimidis and Spirakis, 2006).
    order = rng.permutation(len(columns)) if weight is None else np.argsort(rng.exponential(1.0 / weight))
    return columns[np.sort(order[: max(1, int(share * len(columns)))])]


# Gains below this share of the largest that is possible are rounding errors.
LEAST_GAIN = 1e-12
TINY = np.finfo(np.float64).tiny

# The most entries of histograms that are kept from level to level; with more, each level adds up all rows anew.
MOST_SUMS = 2**26


class Histograms:
    """Memory for the histograms of the trees of a fit, and for their rows in the order of leaves.

    Parameters
    ----------
    features : BinnedFeatures or SparseFeatures
    max_depth : int
    n_sums : int
        Number of derivatives per row.
    n_jobs : int
        Number of threads, of which no result depends.
    """

    def __init__(
        self, features: BinnedFeatures | SparseFeatures, max_depth: int, n_sums: int, n_jobs: int
    ) -> None:
        self.features, self.n_sums, self.n_jobs = features, n_sums, n_jobs
        n_features, most = len(features.n_codes), int(features.n_codes.max())
        shape = 2 ** (max_depth - 1), n_sums, most
        self.sums = np.empty((n_features if n_features * math.prod(shape) <= MOST_SUMS else 0, *shape))
        self._reserve(0)

    def _reserve(self, n_rows: int) -> None:
        """Reserve memory for the rows that a tree is grown on, twice: levels take turns."""
        self.rows = np.empty((2, n_rows), dtype=np.uint32)
        self.row_sums = np.empty((2, n_rows, self.n_sums))

    def grow(
        self,
        derivatives: Array,
        columns: Array,
        allowed: Array,
        penalty: float,
        least: float,
        drawn: Array | None = None,
    ) -> tuple[SymmetricTrees, Array]:
        """The tree of the splits of largest gain, level by level, and the leaf of each row, (n,), int32.

        Parameters
        ----------
        derivatives : ndarray of shape (n, s)
            Weighted gradients, then the weighted hessian, whose sums are exact; rows without any are left out.
        columns : ndarray of shape (c,)
            The columns that may be split.
        allowed : ndarray of shape (D, c), bool
            Which of them may be split at each level.
        penalty : float
            Added to the hessian of a leaf.
        least : float
            The least hessian of a child.
        drawn : ndarray of shape (m,), optional
            The rows, ascending, of which the derivatives (m, s) are; by default those of all rows.
        """
        features, (leaves, unit, bound) = self.features, self._undivided(derivatives, drawn)
        memory = self.sums[: len(columns)]
        limits = penalty / unit, max(least / unit, TINY), LEAST_GAIN * bound
        splits = leaves.find_splits(Search(columns, allowed, *limits, memory, self.n_jobs))
        conditions = [features.columns[f].condition(code, bool(missing)) for f, missing, code in splits.tolist()]
        tree = tree_of_conditions(splits[:, 0], conditions)
        n_columns = len(features.columns) - len(features.crosses)
        return tree.of_split_columns(n_columns, features.crosses), features.leaves(splits, self.n_jobs)

    def _undivided(self, derivatives: Array, drawn: Array | None) -> tuple[Leaves, float, float]:
        """The rows of a tree in its root, the unit of their hessians, and a bound of all gains.

        Units are such that no square of a sum overflows or vanishes.
        """
        if len(derivatives) > self.rows.shape[1]:
            self._reserve(len(derivatives))
        size, units = np.empty((2, self.n_sums))
        (rows, spare), (sums, further) = self.rows, self.row_sums
        used = compiled("exact_sums").take_in_units(derivatives, rows, sums, size, units)
        if drawn is not None:
            rows[:used] = drawn[rows[:used]]
        total = max(float(size[-1]) / units[1], TINY)
        bound = float(np.square(size[:-1] / units[0]).sum()) / total
        leaves = self.features.undivided(rows[:used], sums[:used], spare[:used], further[:used])
        return leaves, float(units[1]), bound
