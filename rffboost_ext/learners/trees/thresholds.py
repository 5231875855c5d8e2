"""Thresholds of trees, lowered below the values of the training data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...terms import Trees
from ...utils.typing import Array

MAX_RELATIVE_SHIFT = 2.0**-19
"""Maximum shift of a threshold relative to the largest value of its column: 16 roundings in float32."""


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
    below, largest = np.empty((2, len(threshold)), dtype=np.float32)
    for f in np.unique(column):
        places = slice(*np.searchsorted(column, [f, f + 1]))
        values = np.sort(X[:, f].astype(np.float32))
        values = values[~np.isnan(values)]
        below[places] = np.append(np.float32(-np.inf), values)[np.searchsorted(values, threshold[places])]
        largest[places] = np.abs(values).max(initial=0.0)
    # Thresholds without a smaller value in their column stay.
    exact, below = threshold.astype(np.float64), np.where(np.isfinite(below), below, threshold)
    shifted = np.maximum(exact - MAX_RELATIVE_SHIFT * largest, 0.5 * (exact + below)).astype(np.float32)
    return np.where((below < shifted) & (shifted < threshold), shifted, threshold)
