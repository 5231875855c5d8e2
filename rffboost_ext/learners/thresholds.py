"""Thresholds of trees, moved off the values of the training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..core import Array
from ..terms import Trees

SLACK = 2.0**-19
"""How far a threshold moves, as a share of the largest value of its column: by 16 roundings in float32."""

MOST_ROWS = 20_000
"""Of more rows thresholds stay where they are: to sort 200,000 x 50 takes a tenth of the time of 50 rounds."""


def lowered(rounds: Sequence[Trees], X: Array) -> list[Trees]:
    """Trees whose thresholds lie a little below the values that XGBoost has put them at.

    XGBoost splits ``x < t`` at values t of the training data. A row whose features are computed in another way, as
    by the exported graph of a pipeline with a scaler, may miss its own value by a rounding and fall to the other
    side. Here a threshold moves down by :data:`SLACK`, and at most halfway to the next smaller value of its
    column, so that every row of X stays where it is. Of more than :data:`MOST_ROWS` rows none moves.

    Parameters
    ----------
    rounds : sequence of Trees
        Trees with thresholds in float32.
    X : ndarray of shape (n, d)
        What they were grown on.
    """
    if len(X) > MOST_ROWS:
        return list(rounds)
    threshold, feature = (np.concatenate([getattr(t, name) for t in rounds]) for name in ("threshold", "feature"))
    splits = np.concatenate([is_split(trees) for trees in rounds])
    for column in np.unique(feature[splits]):
        here = np.flatnonzero(splits & (feature == column))
        threshold[here] = moved_down(threshold[here], np.sort(X[:, column].astype(np.float32)))
    ends = np.cumsum([len(trees.threshold) for trees in rounds])
    parts = np.split(threshold, ends[:-1])
    return [replace(trees, threshold=part) for trees, part in zip(rounds, parts, strict=True)]


def is_split(trees: Trees) -> Array:
    """Whether each node compares a number with a threshold."""
    inner = trees.left >= 0
    return inner if trees.subset is None else inner & (trees.subset < 0)


def moved_down(threshold: Array, values: Array) -> Array:
    """Thresholds (k,) on a column with these sorted values (n,), gaps last."""
    values = values[: np.searchsorted(values, np.inf, side="right")]
    if not len(values):
        return threshold
    below = values[np.maximum(np.searchsorted(values, threshold) - 1, 0)]
    slack = SLACK * max(abs(float(values[0])), abs(float(values[-1])))
    exact = threshold.astype(np.float64)
    moved = np.maximum(exact - slack, 0.5 * (exact + below)).astype(np.float32)
    return np.where((below < moved) & (moved < threshold), moved, threshold)
