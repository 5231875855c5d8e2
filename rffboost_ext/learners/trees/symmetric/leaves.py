"""Values of the leaves of symmetric trees: constants and monotone ones."""

from __future__ import annotations

import numpy as np

from ....kernels import compiled
from ....terms import SymmetricTrees
from ....utils.typing import Array

TINY = float(np.finfo(np.float64).tiny)


def leaf_sums(leaf: Array, depth: int, derivatives: Array) -> Array:
    """Sums of weighted gradients and hessians, (n, 2 C), in each leaf: (2**D, C, 2)."""
    sums = np.zeros((2**depth, derivatives.shape[1] // 2, 2))
    compiled("symmetric_tree_leaves").add_leaf_sums(leaf, derivatives, sums)
    return sums


def constant_leaves(sums: Array, penalty: float, least: float) -> tuple[Array, Array]:
    r"""The Newton step of each leaf and output, (2**D, C): :math:`-G / (H + \lambda)`, of their sums (2**D, C, 2).

    A leaf whose hessian, on average over outputs, is below `least` or 0 has the value of its parent, or of the
    nearest ancestor with enough. The second result is whether each leaf has enough itself, (2**D,), bool.
    """
    value, enough = np.empty(sums.shape[:2]), np.empty(len(sums), dtype=np.bool_)
    compiled("symmetric_tree_leaves").find_constants(sums, penalty, max(least, TINY), value, enough)
    return value, enough


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
