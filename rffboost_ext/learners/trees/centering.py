"""Centring of columns with a large offset, such as times in seconds, because XGBoost rounds to float32."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...terms import Trees
from ...utils.typing import Array
from .thresholds import is_split

SAMPLE_SIZE = 256
"""Number of rows from which the spread of a column is estimated."""
MIN_LEVELS = 2.0**12
"""Columns are centred if their spread has fewer float32 numbers than this: 16 for each of 256 bins."""


def column_center(X: Array) -> Array | None:
    """The offset to subtract from each column of X (n, d) before rounding to float32, (d,); None if all are 0.

    The offset is the median if the interquartile range of a sample has fewer than :data:`MIN_LEVELS` float32
    numbers and some values are not float32 numbers; otherwise it is 0.
    """
    if X.dtype == np.float32 or not len(X):
        return None
    rows = np.sort(X[:: -(-len(X) // SAMPLE_SIZE)], axis=0)
    # Missing values come last.
    last = np.maximum(np.count_nonzero(rows == rows, axis=0) - 1, 0)
    low, middle, high = (rows[(share * last).astype(np.intp), range(X.shape[1])] for share in (0.25, 0.5, 0.75))
    spacing = np.spacing(np.maximum(np.abs(low), np.abs(high)).astype(np.float32))
    coarse = (low < high) & (high - low < MIN_LEVELS * spacing)
    inexact = ((rows != rows.astype(np.float32)) & (rows == rows)).any(axis=0)
    center = np.where(coarse & inexact, middle, 0.0)
    return center if center.any() else None


def shift_thresholds(trees: Trees, center: Array) -> Trees:
    """Trees of ``x - center`` as trees of x, with thresholds in float64."""
    threshold = trees.threshold.astype(np.float64)
    splits = is_split(trees)
    threshold[splits] += center[trees.feature[splits]]
    return replace(trees, threshold=threshold)
