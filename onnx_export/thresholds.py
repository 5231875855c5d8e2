"""Thresholds of trees on features before scaling."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from rffboost_ext import Trees
from rffboost_ext.exporting import Array

from .graph import FLOAT32, FLOAT64
from .scaling import Scaling

BITS: dict[np.dtype[Any], np.dtype[Any]] = {FLOAT32: np.dtype(np.int32), FLOAT64: np.dtype(np.int64)}
"""The integers with as many bits: those of positive numbers are in the order of their values."""
Types = tuple[np.dtype[Any], np.dtype[Any]]
ARITHMETICS: tuple[Types, ...] = ((FLOAT64, FLOAT64), (FLOAT32, FLOAT32), (FLOAT64, FLOAT32))
"""The types of operations and of their results with which scikit-learn scales X of float64 and of float32."""


def with_thresholds_before(trees: Trees, scaling: Scaling, dtype: np.dtype[Any]) -> Trees:
    """Trees, with thresholds in `dtype`, that send each row where the given trees send the scaled row."""
    inner = np.flatnonzero(trees.left >= 0)
    feature, old, kind = trees.feature[inner], trees.threshold[inner], trees.threshold.dtype
    operands = tuple((operation, values[feature]) for operation, values in scaling)
    threshold = np.zeros(len(trees.left), dtype=dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype == kind == FLOAT32:
            threshold[inner] = float32_before(feature, old, operands)
        else:
            threshold[inner] = smallest_number(lambda x: scaled(operands, x, dtype=kind) >= old, len(old), dtype)
    return replace(trees, threshold=threshold)


def float32_before(feature: Array, threshold: Array, operands: Scaling) -> Array:
    """The float32 numbers before scaling that correspond to thresholds of XGBoost after it.

    Each is the smallest float32 whose scaled value reaches the threshold. scikit-learn scales in the type of X.
    XGBoost's thresholds are scaled values of training rows, which shows in which: the smallest float32 is then
    scaled to the threshold itself. If it is not in any type, training rows were no numbers of float32. The
    smallest such float64 is then rounded to the nearest float32, as rows of a user are: the training row stays on
    its side.
    """
    candidates = [reached(types, feature, threshold, operands) for types in ARITHMETICS]
    above = candidates[0][0]
    # Few thresholds are scaled values by accident: the type in which more of them are has precedence.
    candidates.sort(key=lambda candidate: -int(candidate[1].sum()))
    is_scaled = [is_value for _, is_value in candidates]
    if np.logical_or.reduce(is_scaled).all():
        return np.select(is_scaled, [smallest for smallest, _ in candidates])
    below = np.nextafter(above, np.float32(-np.inf))
    middle = 0.5 * (above.astype(np.float64) + below)
    return np.where(np.isfinite(above) & (scaled(operands, middle) >= threshold), below, above)


def reached(types: Types, feature: Array, threshold: Array, operands: Scaling) -> tuple[Array, Array]:
    """The smallest float32 scaled to each threshold or beyond, and where all of a feature are scaled to it.

    The largest threshold of a feature may be beyond all rows.
    """
    smallest = smallest_number(lambda x: scaled(operands, x, types) >= threshold, len(threshold), FLOAT32)
    d = int(feature.max(initial=-1)) + 1
    largest, all_hit = np.full(d, -np.inf), np.ones(d, dtype=bool)
    np.maximum.at(largest, feature, threshold)
    is_hit = scaled(operands, smallest, types) == threshold
    np.logical_and.at(all_hit, feature, is_hit | (threshold == largest[feature]))
    return smallest, all_hit[feature]


def scaled(
    operands: Scaling, x: Array, types: Types = (FLOAT64, FLOAT64), dtype: np.dtype[Any] = FLOAT32
) -> Array:
    """The numbers x after operations in the first type, with results in the second, rounded to `dtype`."""
    arithmetic, storage = types
    x = x.astype(storage)
    for operation, values in operands:
        x = operation(x.astype(arithmetic), values.astype(arithmetic)).astype(storage)
    return x.astype(dtype)


def smallest_number(holds: Callable[[Array], Array], n: int, dtype: np.dtype[Any]) -> Array:
    """The smallest numbers of a type, (n,), for which a condition holds that holds for all larger ones."""
    largest = int(np.array(np.inf, dtype=dtype).view(BITS[dtype]))
    low, high = np.full(n, -largest, dtype=np.int64), np.full(n, largest, dtype=np.int64)
    while (low < high).any():
        # The sum of both may be beyond the range of integers.
        middle = low // 2 + high // 2 + (low & high & 1)
        is_high = holds(number_of(middle, dtype))
        low, high = np.where(is_high, low, middle + 1), np.where(is_high, middle, high)
    return number_of(high, dtype)


def number_of(rank: Array, dtype: np.dtype[Any]) -> Array:
    """The numbers of a rank: 0 for zero, 1 for the smallest positive number, -1 for its negative."""
    return np.copysign(np.abs(rank).astype(BITS[dtype]).view(dtype), rank.astype(dtype))
