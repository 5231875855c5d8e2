"""Thresholds of trees, moved off the values of the training data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...terms import Trees
from ...utils.typing import Array

SLACK = 2.0**-19
"""How far a threshold moves, as a share of the largest value of its column: by 16 roundings in float32."""

BLOCK = 4_096
"""Rows that are converted to single precision at a time."""


def lowered(trees: Trees, X: Array) -> Trees:
    """Trees whose thresholds lie a little below the values that XGBoost has put them at.

    XGBoost splits ``x < t`` at values t of the training data. A row whose features are computed in another way, as
    by the exported graph of a pipeline with a scaler, may differ from its own value by rounding and fall on the
    other side. Here a threshold moves down by :data:`SLACK`, and at most halfway to the next smaller value of its
    column, so that every row of X stays on its side.

    Parameters
    ----------
    trees : Trees
        Trees with thresholds in float32.
    X : ndarray of shape (n, d)
        What they were grown on.
    """
    threshold, splits = trees.threshold.copy(), np.flatnonzero(is_split(trees))
    order = splits[np.lexsort((threshold[splits], trees.feature[splits]))]
    ordered = threshold[order], trees.feature[order]
    first = np.ones(len(order), dtype=bool)
    first[1:] = (ordered[0][1:] != ordered[0][:-1]) | (ordered[1][1:] != ordered[1][:-1])
    distinct, column = (values[first] for values in ordered)
    threshold[order] = moved_down(distinct, column, X)[np.cumsum(first) - 1]
    return replace(trees, threshold=threshold)


def is_split(trees: Trees) -> Array:
    """Whether each node compares a number with a threshold."""
    inner = trees.left >= 0
    return inner if trees.subset is None else inner & (trees.subset < 0)


def moved_down(threshold: Array, column: Array, X: Array) -> Array:
    """Distinct thresholds (k,), ascending within ascending columns (k,) of X (n, d), moved."""
    from ...kernels.tree_thresholds import nearest_below

    below = np.full(len(threshold), -np.inf, dtype=np.float32)
    used, column = np.unique(column, return_inverse=True)
    start, largest = np.searchsorted(column, np.arange(len(used) + 1)), np.zeros(len(used), dtype=np.float32)
    for i in range(0, len(X), BLOCK):
        columns = X[i : i + BLOCK].T
        block = np.ascontiguousarray(columns[used] if len(used) < len(columns) else columns, dtype=np.float32)
        nearest_below(block, threshold, start, np.empty(block.shape[1], dtype=np.uint32), below, largest)
    # Thresholds without a smaller value in their column stay: no row can miss them.
    exact, below = threshold.astype(np.float64), np.where(np.isfinite(below), below, threshold)
    moved = np.maximum(exact - SLACK * largest[column], 0.5 * (exact + below)).astype(np.float32)
    return np.where((below < moved) & (moved < threshold), moved, threshold)
