"""The splits of a symmetric tree: one per level, of largest gain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....core import Round
from ....kernels import compiled
from ....terms import SymmetricTrees
from ....utils.typing import Array
from .binned_features import BinnedFeatures
from .columns import Condition
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


def grown_tree(features: BinnedFeatures | SparseFeatures, splits: Array) -> SymmetricTrees:
    """The tree of the split of each level, (levels, 3), with leaves of value 0."""
    conditions = [features.columns[f].condition(code, bool(missing)) for f, missing, code in splits.tolist()]
    n_columns = len(features.columns) - len(features.crosses)
    return tree_of_conditions(splits[:, 0], conditions).of_split_columns(n_columns, features.crosses)
