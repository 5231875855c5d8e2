"""The splits of a symmetric tree: one per level, of largest gain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core import Round
from ....kernels import compiled
from ....terms import SymmetricTrees
from ....utils.typing import Array
from .columns import BinnedFeatures, Condition
from .sparse_columns import SparseFeatures


def tree_of_conditions(features: Sequence[int], conditions: Sequence[Condition]) -> SymmetricTrees:
    """The tree of the feature of each level and what goes right there, with leaves of value 0."""
    fields: dict[str, Any] = {
        "feature": np.array([features], dtype=np.int32),
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


def exact_derivatives(round: Round, rows: Array | None = None, factor: Array | float = 1.0) -> tuple[Array, Array]:
    """Weighted gradients and hessians, (m, C) each, rounded so that sums of them are exact.

    They are those of some `rows` (m,), by default all, with weights times a `factor` (m,).
    """
    parts = round.gradient, round.hessian, round.weight
    gradient, hessian, weight = parts if rows is None else (part.take(rows, axis=0) for part in parts)
    return exactly_summable(gradient, factor * weight), exactly_summable(hessian, factor * weight)


def exactly_summable(values: Array, weight: Array) -> Array:
    """Weighted values (n, s), rounded to multiples of a power of two for each column."""
    out = np.empty(values.shape)
    compiled("symmetric_trees").exact_products(values, weight, float(weight.sum()), out)
    return out


def power_of_two(number: float) -> float:
    """The next power of two above a number."""
    return math.ldexp(1.0, math.frexp(number)[1])


def split_derivatives(
    gradient: Array, hessian: Array, output_weights: Array | None, n_projections: int, rng: np.random.Generator
) -> Array:
    """Gradients, of all outputs or of random projections of them, and the hessian: (n, s), from (n, C) each.

    The hessian is the mean of those of all outputs. Each gradient is in units in which its output has this
    hessian, times the root of the output weight (C,). A column of zeros makes s even.
    """
    n_rows, n_outputs = gradient.shape
    if n_outputs == 1:
        return np.hstack([gradient, hessian])
    one = np.ones(n_rows)
    curvature = one @ hessian
    mean = curvature.mean()
    relative = np.divide(mean, curvature, out=np.zeros_like(curvature), where=curvature > 0.0)
    mixing = np.diag(np.sqrt(relative if output_weights is None else relative * output_weights))
    if n_outputs > n_projections:
        mixing = mixing @ rng.standard_normal((n_outputs, n_projections)) / np.sqrt(n_projections)
    mixing = np.pad(mixing, ((0, 0), (0, 1 - mixing.shape[1] % 2)))
    mixed = np.column_stack([gradient @ mixing, hessian @ relative / n_outputs])
    return exactly_summable(mixed, one)


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
    """Memory for the histograms and gains of the trees of a fit.

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
        self.features, self.max_depth, self.n_jobs = features, max_depth, n_jobs
        self.n_codes, self.one_hot = features.n_codes, features.one_hot
        n_features, most = len(self.n_codes), int(self.n_codes.max())
        shape = 2 ** (max_depth - 1), n_sums, most
        self.sums = np.empty((n_features if n_features * math.prod(shape) <= MOST_SUMS else 0, *shape))
        self.gains = np.empty((n_features, 2, most))

    def grow(
        self,
        derivatives: Array,
        columns: Array,
        penalty: float,
        least: float,
        adjust: Callable[[Array, float, float], Array],
        drawn: Array | None = None,
    ) -> tuple[SymmetricTrees, Array]:
        """The tree of the splits of largest gain, level by level, and the leaf of each row, (n,), int32.

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
        drawn : ndarray of shape (m,), uint32, optional
            The rows, ascending, of which the derivatives (m, s) are; by default those of all rows.
        """
        rows, sums, units, bound = in_units(derivatives)
        rows = rows if drawn is None else drawn[rows]
        penalty, least = penalty / units[1], max(least / units[1], TINY)
        divided = self.features.undivided(rows, sums, self.max_depth)
        options = self.n_codes[columns], self.one_hot[columns], penalty, least
        memory, gains = self.sums[: len(columns)], self.gains[: len(columns)]
        splits: list[tuple[int, int, bool]] = []
        routes: list[tuple[Array, Array]] = []
        for level in range(self.max_depth):
            if routes:
                divided.divide(*routes[-1], level - 1)
            divided.find_gains(columns, *options, memory, gains, n_leaves=2**level, n_jobs=self.n_jobs)
            column, missing_right, code = np.unravel_index(int(adjust(gains, *units).argmax()), gains.shape)
            if not gains[column, missing_right, code] > LEAST_GAIN * bound:
                break
            splits.append((int(columns[column]), int(code), bool(missing_right)))
            routes.append(self._routed(*splits[-1]))
        conditions = [self.features.columns[split[0]].condition(*split[1:]) for split in splits]
        crosses = self.features.crosses
        tree = tree_of_conditions([split[0] for split in splits], conditions)
        return tree.of_split_columns(len(self.n_codes) - len(crosses), crosses), self._leaves(routes)

    def _routed(self, column: int, code: int, missing_right: bool) -> tuple[Array, Array]:
        """The codes of a column, (n,), and whether each code goes right, (256,)."""
        return self.features.codes_of(column), self.features.columns[column].table(code, missing_right)

    def _leaves(self, routes: Sequence[tuple[Array, Array]]) -> Array:
        """The leaf of each row, (n,): bit l is 1 if it goes right at level l."""
        leaf = np.zeros(self.features.n_samples, dtype=np.int32)
        for level, route in enumerate(routes):
            compiled("symmetric_trees").add_level(*route, level, leaf)
        return leaf


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
    n_rows, n_sums = derivatives.shape
    rows, size = np.empty(n_rows, dtype=np.uint32), np.zeros(n_sums)
    rows = rows[: compiled("symmetric_trees").find_used_rows(derivatives, rows, size)]
    units = power_of_two(float(size[:-1].max())), power_of_two(float(size[-1]))
    sums = np.empty((len(rows), n_sums))
    compiled("symmetric_trees").take_in_units(derivatives, rows, np.repeat(units, (n_sums - 1, 1)), sums)
    total = max(float(size[-1]) / units[1], TINY)
    return rows, sums, units, float(np.square(size[:-1] / units[0]).sum()) / total
