"""Leaves of symmetric trees that keep monotone constraints."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ....utils.typing import Array
from .structure import Structure

# Passes over several features.
MAX_PASSES = 20


def monotone_leaves(value: Array, hessian: Array, structure: Structure, signs: Array) -> Array:
    """Leaf values (2**D, C) near `value` that are monotone in some features.

    As a feature grows, its levels turn to the right one after the other, which is a chain of leaves for each state
    of the other levels. An isotonic regression on each chain, weighted by the hessians (2**D, C), is the nearest
    monotone function of that feature; for several features they take turns, and a running maximum ends them.
    """
    constrained = np.unique(structure.feature[signs != 0]).tolist()
    chains = [
        chains_of(structure, feature, int(signs[structure.feature == feature][0])) for feature in constrained
    ]
    weight = np.maximum(hessian, np.finfo(np.float64).tiny)
    for _ in range(MAX_PASSES if len(chains) > 1 else 1):
        before = value
        for chain in chains:
            value = along_chains(isotonic, value, weight, chain)
        if np.array_equal(value, before):
            break
    for chain in chains:
        value = along_chains(running_maximum, value, weight, chain)
    return value


def chains_of(structure: Structure, feature: int, sign: int) -> Array:
    """The leaves that a row passes as a feature grows, for each state of the other levels: (states, m + 1).

    With a sign of -1 as it falls.
    """
    levels = np.flatnonzero(structure.feature == feature)
    order = levels[np.argsort(structure.threshold[levels], kind="stable")]
    bits = 1 << order
    leaves = np.arange(2**structure.depth)
    chains = leaves[(leaves & bits.sum()) == 0][:, None] + np.append(0, np.cumsum(bits))
    return chains if sign > 0 else chains[:, ::-1]


def along_chains(function: Callable[[Array, Array], Array], value: Array, weight: Array, chains: Array) -> Array:
    """Values (2**D, C) with those of each chain and output replaced by a function of them and of their weights."""
    out = value.copy()
    for chain in chains:
        for c in range(value.shape[1]):
            out[chain, c] = function(value[chain, c], weight[chain, c])
    return out


def isotonic(value: Array, weight: Array) -> Array:
    """The nearest ascending values."""
    from scipy.optimize import isotonic_regression

    return np.asarray(isotonic_regression(value, weights=weight).x)


def running_maximum(value: Array, weight: Array) -> Array:
    """The least ascending values that are not below the given ones."""
    return np.maximum.accumulate(value)
