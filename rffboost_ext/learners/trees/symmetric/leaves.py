"""Values of the leaves of symmetric trees: constants, monotone ones, and ridge regressions on their features."""

from __future__ import annotations

from functools import cache

import numpy as np

from ....kernels import compiled
from ....terms import SymmetricTrees
from ....utils.typing import Array

# Leaves of a smaller weight than this, for each coefficient, are constant.
ROWS_PER_COEFFICIENT = 3
# Share of the rows at either end of a feature at which lines are constant.
TAIL = 0.005
TINY = float(np.finfo(np.float64).tiny)
# The least penalty of slopes, as a share of the hessian of a leaf.
LEAST_RIDGE = 1e-12


def leaf_sums(leaf: Array, depth: int, gradient: Array, hessian: Array) -> Array:
    """Sums of weighted gradients and hessians, (n, C) each, in each leaf: (2**D, C, 2)."""
    sums = np.zeros((2**depth, gradient.shape[1], 2))
    compiled("symmetric_trees").add_leaf_sums(leaf, gradient, hessian, sums)
    return sums


def constant_leaves(sums: Array, penalty: float, least: float) -> tuple[Array, Array]:
    r"""The Newton step of each leaf and output, (2**D, C): :math:`-G / (H + \lambda)`, of their sums (2**D, C, 2).

    A leaf whose hessian, on average over outputs, is below `least` or 0 has the value of its parent, or of the
    nearest ancestor with enough. The second result is whether each leaf has enough itself, (2**D,), bool.
    """
    value, enough = np.empty(sums.shape[:2]), np.empty(len(sums), dtype=np.bool_)
    compiled("symmetric_trees").find_constants(sums, penalty, max(least, TINY), value, enough)
    return value, enough


def linear_leaves(
    leaf: Array,
    derivatives: tuple[Array, Array],
    weight: Array,
    Z: Array,
    constant: Array,
    enough: Array,
    penalty: float,
    ridge: float,
    old: Array | None,
    prior: Array,
) -> Array:
    r"""A ridge regression in each leaf: the slopes, and last the value, (2**D, C, D + 1).

    It minimises :math:`\sum_i (g_i f_i + \tfrac12 h_i f_i^2) + \tfrac12 \lambda v^2 + \tfrac12 \mu |s|^2` for
    :math:`f_i = v + s \cdot z_i`, as in Shi, Li and Li, Gradient boosting with piece-wise linear regression trees,
    IJCAI 2019. Leaves of few rows, or of too small a hessian, are constant.

    Parameters
    ----------
    leaf : ndarray of shape (n,)
        The leaf of each row.
    derivatives : pair of ndarray of shape (n, C)
        Weighted gradients and hessians.
    weight : ndarray of shape (n,)
        The weights of the rows.
    Z : ndarray of shape (n, D + 1)
        Standardised features of the levels, 0 for those without a slope, and ones.
    constant : ndarray of shape (2**D, C)
        The values of constant leaves.
    enough : ndarray of shape (2**D,), bool
        Whether the hessian of each leaf is large enough.
    penalty, ridge : float
        The penalties of values and of slopes.
    old : ndarray of shape (2**D, C, D + 1), optional
        Coefficients of an earlier fit. A leaf that had a slope has one, however few rows it has.
    prior : ndarray of shape (C,)
        Their weight.
    """
    size, shape = Z.shape[1], constant.shape
    row, column = lower_triangle(size)
    packed, right = np.zeros((*shape, len(row))), np.zeros((*shape, size))
    compiled("symmetric_trees").add_normal_equations(leaf, *derivatives, Z, packed, right)
    matrix = np.empty((*shape, size, size))
    matrix[..., row, column] = matrix[..., column, row] = packed
    # With very large weights a penalty would be lost in rounding.
    ridges = np.maximum(ridge, LEAST_RIDGE * matrix[..., -1, -1])
    matrix[..., range(size - 1), range(size - 1)] += ridges[..., None]
    matrix[..., -1, -1] += penalty
    many = np.bincount(leaf, weight, len(constant)) >= ROWS_PER_COEFFICIENT * size
    if old is not None:
        matrix[..., range(size), range(size)] += prior[:, None]
        right += prior[:, None] * old
        many |= old[..., :-1].any(axis=(1, 2))
    # An output without hessians has no regression if its value is not penalised.
    many = (enough & many)[:, None] & (matrix[..., -1, -1] > 0.0)
    found = np.zeros((*shape, size))
    found[..., -1] = constant
    found[many] = np.linalg.solve(matrix[many], right[many, :, None])[..., 0]
    return found


@cache
def lower_triangle(size: int) -> tuple[Array, Array]:
    """Rows and columns of the entries on and below the diagonal of a square matrix."""
    return np.tril_indices(size)


def old_coefficients(tree: SymmetricTrees, line: dict[str, Array]) -> Array:
    """The coefficients of :func:`linear_leaves` that a tree has, (2**D, C, D + 1), for new centers and scales."""
    value = tree.value[0]
    if tree.slope is None or tree.center is None or not line:
        return np.concatenate([np.zeros((*value.shape, tree.depth if line else 0)), value[..., None]], axis=-1)
    slope = tree.slope[0]
    # Levels without a slope have an infinite scale.
    scaled = np.where(slope == 0.0, 0.0, slope * np.where(np.isfinite(line["scale"]), line["scale"], 0.0))
    moved = value + slope @ (line["center"] - tree.center[0])
    return np.concatenate([scaled, moved[..., None]], axis=-1)


def linear_outputs(leaf: Array, coefficients: Array, Z: Array) -> Array:
    """The outputs (n, C) of rows in their leaves (n,), by coefficients (2**D, C, D + 1) of Z (n, D + 1)."""
    out = np.zeros((len(leaf), coefficients.shape[1]))
    compiled("symmetric_trees").add_linear_outputs(leaf, coefficients, Z, out)
    return out


def standardised_levels(X: Array, feature: Array, low: Array, high: Array, center: Array, scale: Array) -> Array:
    """The features of the levels (D,), in their ranges, in standard deviations from the centers, and ones.

    The shape is (n, D + 1). Missing values are 0.
    """
    Z = np.empty((len(X), len(feature) + 1))
    compiled("symmetric_trees").standardise_levels(X, feature, low, high, center, scale, Z)
    return Z


def central_range(values: Array, weight: Array) -> tuple[float, float, float, float]:
    """The range of a column (n,), low and high, and the weighted mean and standard deviation in it.

    The range leaves out a share of :data:`TAIL` of the rows at both ends, which would be far from the others where
    tails are heavy, and lines with them. Rows of weight 0 do not count. A column without values has 0, 0, 0 and 1.
    """
    counted = (weight > 0.0) & ~np.isnan(values)
    if not counted.any():
        return 0.0, 0.0, 0.0, 1.0
    values, weight = values[counted], weight[counted] / weight.max()
    unequal = None if weight.min() == weight.max() else weight
    low, high = np.quantile(values, (TAIL, 1.0 - TAIL), weights=unequal, method="inverted_cdf")
    values = np.clip(values, low, high)
    center = float(np.average(values, weights=weight))
    deviation = float(np.average(np.square(values - center), weights=weight)) ** 0.5
    return float(low), float(high), center, deviation or 1.0


# Passes over several features, and the change at which they end, relative to the largest value.
MAX_PASSES, TOLERANCE = 20, 1e-12


def monotone_leaves(value: Array, hessian: Array, tree: SymmetricTrees, signs: Array) -> Array:
    """Leaf values (2**D, C) near `value` that are monotone in some features.

    As a feature grows, its levels turn to the right one after the other, which is a chain of leaves for each state
    of the other levels. An isotonic regression on each chain, weighted by the hessians (2**D, C), is the nearest
    monotone function of that feature; for several features they take turns, and a running maximum ends them.
    """
    features = tree.feature[0]
    constrained = np.unique(features[signs != 0]).tolist()
    chains = [chains_of(tree, feature, int(signs[features == feature][0])) for feature in constrained]
    weight, value = np.maximum(hessian / max(hessian.max(), TINY), TINY), value.copy()
    for _ in range(MAX_PASSES if len(chains) > 1 else 1):
        before = value.copy()
        for chain in chains:
            value[chain] = isotonic(value[chain], weight[chain])
        if np.abs(value - before).max(initial=0.0) <= TOLERANCE * np.abs(before).max(initial=0.0):
            break
    for chain in chains:
        value[chain] = np.maximum.accumulate(value[chain], axis=1)
    return value


def chains_of(tree: SymmetricTrees, feature: int, sign: int) -> Array:
    """The leaves that a row passes as a feature grows, for each state of the other levels: (states, m + 1).

    With a sign of -1 as it falls.
    """
    levels = np.flatnonzero(tree.feature[0] == feature)
    order = levels[np.argsort(tree.threshold[0, levels], kind="stable")]
    bits = 1 << order
    leaves = np.arange(2**tree.depth)
    chains = leaves[(leaves & bits.sum()) == 0][:, None] + np.append(0, np.cumsum(bits))
    return chains if sign > 0 else chains[:, ::-1]


def isotonic(value: Array, weight: Array) -> Array:
    """The nearest values (S, m, C) that ascend along the second axis, by weighted squares.

    The min-max formula of isotonic regression (Robertson, Wright and Dykstra, 1988).
    """
    nearest = np.full(value.shape, -np.inf)
    for start in range(value.shape[1]):
        total = weight[:, start:].cumsum(axis=1)
        mean = (weight[:, start:] * value[:, start:]).cumsum(axis=1) / total
        mean[:, 0] = value[:, start]
        least = np.minimum.accumulate(mean[:, ::-1], axis=1)[:, ::-1]
        nearest[:, start:] = np.maximum(nearest[:, start:], least)
    return nearest
