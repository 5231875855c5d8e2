"""Linear leaves of LightGBM's trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..terms import LinearTrees, Trees
from ..utils.typing import Array

LOWEST = np.finfo(np.float32).min
"""No number is less: a split at this threshold sends missing values alone to the left."""


@dataclass(frozen=True)
class LinearLeaves:
    """Linear functions of the leaves of a tree: `constant` and the number of features of each, (L,).

    `features` and `slopes` are those of all leaves, one leaf after the other.
    """

    constant: Array
    counts: Array
    features: Array
    slopes: Array


def with_linear_leaves(
    plain: Trees, leaves: LinearLeaves, output: int, n_outputs: int, n_features: int
) -> LinearTrees:
    """A tree of constants with linear functions in its leaves, for one of several outputs.

    As in LightGBM, a row that lacks a feature of its leaf has the constant of the tree.
    """
    trees, ends = with_tests_of_missing_values(plain, leaves)
    column = output * (n_features + 1)
    value = np.zeros((len(trees.left), n_outputs * (n_features + 1)))
    value[:, column + n_features] = trees.value[:, 0]
    value[ends, column + n_features] = leaves.constant
    value[np.repeat(ends, leaves.counts), column + leaves.features] = leaves.slopes
    return LinearTrees(replace(trees, value=value, n_outputs=value.shape[1]), n_outputs)


def with_tests_of_missing_values(plain: Trees, leaves: LinearLeaves) -> tuple[Trees, Array]:
    """The tree with a chain of splits for each leaf, by its features, and the last leaf of each chain, (L,).

    A split has the leaf of missing values to its left, and the rest of the chain to its right.
    """
    n_nodes, n_tests, counts = len(plain.left), len(leaves.features), leaves.counts
    whole, ends = np.flatnonzero(plain.left < 0), np.cumsum(counts)
    leaf, is_first = np.repeat(whole, counts), np.isin(np.arange(n_tests), ends - counts)
    missing = n_nodes + 2 * np.arange(n_tests)
    test = np.where(is_first, leaf, missing - 1)
    nodes: dict[str, tuple[Any, Any]] = {
        "left": (-1, missing),
        "right": (-1, missing + 1),
        "feature": (0, leaves.features),
        "threshold": (0, LOWEST),
        "missing_left": (False, True),
        "value": (plain.value[np.repeat(leaf, 2)], 0.0),
    }
    fields: dict[str, Any] = {}
    for name, (new, tested) in nodes.items():
        old = getattr(plain, name)
        fields[name] = np.concatenate([old, np.broadcast_to(new, (2 * n_tests, *old.shape[1:]))]).astype(old.dtype)
        fields[name][test] = tested
    if plain.subset is not None:
        fields["subset"] = np.append(plain.subset, np.full(2 * n_tests, -1)).astype(plain.subset.dtype)
    return replace(plain, **fields), np.where(counts > 0, n_nodes + 2 * ends - 1, whole)
