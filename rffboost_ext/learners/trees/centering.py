"""Columns of a large offset, such as times in seconds: centred for trees, which see them in single precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...terms import Trees
from ...utils.typing import Array
from .thresholds import is_split

SAMPLE = 256
"""Rows by which the spread of a column is measured."""
LEVELS = 2.0**12
"""Numbers in single precision within the spread of a column below which it is centred: 16 for each of 256 bins."""


def center_of(X: Array) -> Array | None:
    """What to subtract from each column of X (n, d) before it is rounded to float32, (d,); None if nothing.

    That is the median of a column of which the middle half of a sample spans fewer than :data:`LEVELS`
    numbers in float32, some of its values not being among these: 0 for all others. XGBoost itself would see a few
    distinct values, in the worst case one.
    """
    if X.dtype == np.float32 or not len(X):
        return None
    rows = np.sort(X[:: -(-len(X) // SAMPLE)], axis=0)
    # Missing values come last.
    last = np.maximum(np.count_nonzero(rows == rows, axis=0) - 1, 0)
    low, middle, high = (rows[(share * last).astype(np.intp), range(X.shape[1])] for share in (0.25, 0.5, 0.75))
    spacing = np.spacing(np.maximum(np.abs(low), np.abs(high)).astype(np.float32))
    coarse = (low < high) & (high - low < LEVELS * spacing)
    found = np.where(coarse & ((rows != rows.astype(np.float32)) & (rows == rows)).any(axis=0), middle, 0.0)
    return found if found.any() else None


def decentred(trees: Trees, center: Array) -> Trees:
    """Trees of ``x - center`` as trees of x, which compare in float64."""
    threshold = trees.threshold.astype(np.float64)
    splits = is_split(trees)
    threshold[splits] += center[trees.feature[splits]]
    return replace(trees, threshold=threshold)
