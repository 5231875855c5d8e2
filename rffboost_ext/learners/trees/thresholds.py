"""Thresholds of trees, lowered below the values of the training data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...terms import Trees
from ...utils.typing import Array

MAX_RELATIVE_SHIFT = 2.0**-19
"""Maximum shift of a threshold relative to the largest value of its column: 16 roundings in float32."""

BLOCK_ROWS = 4_096
"""Number of rows that are converted to single precision at a time."""


def lower_thresholds(trees: Trees, X: Array) -> Trees:
    """Move thresholds a little below the training values at which XGBoost puts them.

    XGBoost splits ``x < t`` at values t of the training data. If the features of a row are computed in another
    way, such as by the exported graph of a scaler, rounding could move the row to the other side. A threshold is
    lowered by :data:`MAX_RELATIVE_SHIFT`, but at most halfway to the next smaller value of its column, so that
    every row of X stays on its side.

    Parameters
    ----------
    trees : Trees
        Trees with thresholds in float32.
    X : ndarray of shape (n, d)
        Their training data.
    """
    threshold, splits = trees.threshold.copy(), np.flatnonzero(is_split(trees))
    order = splits[np.lexsort((threshold[splits], trees.feature[splits]))]
    ordered = threshold[order], trees.feature[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (ordered[0][1:] != ordered[0][:-1]) | (ordered[1][1:] != ordered[1][:-1])
    distinct, column = (values[first] for values in ordered)
    threshold[order] = lowered_values(distinct, column, X)[np.cumsum(first) - 1]
    return replace(trees, threshold=threshold)


def is_split(trees: Trees) -> Array:
    """Whether each node compares a number with a threshold."""
    inner = trees.left >= 0
    return inner if trees.subset is None else inner & (trees.subset < 0)


def lowered_values(threshold: Array, column: Array, X: Array) -> Array:
    """The lowered values of distinct thresholds (k,), which ascend within ascending columns (k,) of X (n, d)."""
    from ...kernels.tree_thresholds import nearest_below

    below = np.full(len(threshold), -np.inf, dtype=np.float32)
    used, column = np.unique(column, return_inverse=True)
    start, largest = np.searchsorted(column, np.arange(len(used) + 1)), np.zeros(len(used), dtype=np.float32)
    for i in range(0, len(X), BLOCK_ROWS):
        columns = X[i : i + BLOCK_ROWS].T
        block = np.ascontiguousarray(columns[used] if len(used) < len(columns) else columns, dtype=np.float32)
        nearest_below(block, threshold, start, np.empty(block.shape[1], dtype=np.uint32), below, largest)
    # Thresholds without a smaller value in their column stay.
    exact, below = threshold.astype(np.float64), np.where(np.isfinite(below), below, threshold)
    shifted = np.maximum(exact - MAX_RELATIVE_SHIFT * largest[column], 0.5 * (exact + below)).astype(np.float32)
    return np.where((below < shifted) & (shifted < threshold), shifted, threshold)
