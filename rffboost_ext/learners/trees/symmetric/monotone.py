"""Leaves of symmetric trees that keep monotone constraints."""

from __future__ import annotations

import numpy as np

from ....utils.typing import Array
from .structure import Structure

# Passes over several features, and the change at which they end, relative to the largest value.
MAX_PASSES, TOLERANCE = 20, 1e-12


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
    tiny = np.finfo(np.float64).tiny
    weight, value = np.maximum(hessian / max(hessian.max(), tiny), tiny), value.copy()
    for _ in range(MAX_PASSES if len(chains) > 1 else 1):
        before = value.copy()
        for chain in chains:
            value[chain] = isotonic(value[chain], weight[chain])
        if np.abs(value - before).max(initial=0.0) <= TOLERANCE * np.abs(before).max(initial=0.0):
            break
    for chain in chains:
        value[chain] = np.maximum.accumulate(value[chain], axis=1)
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
