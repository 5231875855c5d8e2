"""What XGBoost's single precision requires: centred columns, lowered thresholds and gradients of order 1."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...core import Round
from ...losses.constant_scores import constant_scores
from ...terms import Trees
from ...utils.typing import Array

SAMPLE_SIZE = 256
"""Number of rows from which the spread of a column is estimated."""
MIN_LEVELS = 2.0**12
"""Columns are centred if their spread has fewer float32 numbers than this: 16 for each of 256 bins."""


def center_columns(X: Array) -> tuple[Array | None, Array]:
    """The offset to subtract from each column of X (n, d) before rounding to float32, (d,) or None, and the rest.

    The offset is the median if the interquartile range of a sample has fewer than :data:`MIN_LEVELS` float32
    numbers and some values are not float32 numbers; otherwise it is 0.
    """
    if X.dtype == np.float32 or not len(X):
        return None, X
    rows = np.sort(X[:: -(-len(X) // SAMPLE_SIZE)], axis=0)
    # Missing values come last.
    last = np.maximum(np.count_nonzero(rows == rows, axis=0) - 1, 0)
    low, middle, high = (rows[(share * last).astype(np.intp), range(X.shape[1])] for share in (0.25, 0.5, 0.75))
    spacing = np.spacing(np.maximum(np.abs(low), np.abs(high)).astype(np.float32))
    coarse = (low < high) & (high - low < MIN_LEVELS * spacing)
    inexact = ((rows != rows.astype(np.float32)) & (rows == rows)).any(axis=0)
    center = np.where(coarse & inexact, middle, 0.0)
    return (center, X - center) if center.any() else (None, X)


def shift_thresholds(trees: Trees, center: Array) -> Trees:
    """Trees of ``x - center`` as trees of x, with thresholds in float64."""
    threshold = trees.threshold.astype(np.float64)
    splits = is_split(trees)
    threshold[splits] += center[trees.feature[splits]]
    return replace(trees, threshold=threshold)


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


# Gradients are scaled if they are smaller than the first at the baseline, or larger than the second in the round.
MIN_SPREAD, MAX_GRADIENT = 2.0**-5, 2.0**20


def gradient_units(round: Round) -> Array:
    """The unit of leaf values for each output, (C,): 1, or a power of two near the size of the gradients.

    If each output has its own unit, gradients have none, so that a fit does not depend on the unit of the target.
    Small gradients at the baseline are scaled because XGBoost makes no split of a gain below 1e-6. Large gradients
    are scaled because gains are of the order of their squares, which may overflow float32.
    """
    weights = round.output_weights
    own = np.ones(round.raw.shape[1]) if weights is None else 1.0 / np.sqrt(weights)
    spread = np.sqrt(round.mean(np.square(baseline_gradient(round) / own).T))
    size = np.sqrt(round.mean(np.square(round.balanced_gradient / MAX_GRADIENT).T)) * MAX_GRADIENT
    small, large = (spread > 0.0) & (spread < MIN_SPREAD), size > MAX_GRADIENT
    # Gradients may be tiny at the baseline only, as for a sample without a positive count.
    spread = np.maximum(spread, np.minimum(size, 1.0))
    units = np.exp2(np.floor(np.log2(spread, out=np.zeros_like(spread), where=small)))
    return own * np.where(large, np.exp2(np.floor(np.log2(size, out=np.zeros_like(size), where=large))), units)


def baseline_gradient(round: Round) -> Array:
    """The gradient at the baseline, (n, C), in the unit of the loss."""
    observations = round.observations
    raw = np.tile(constant_scores(round.loss, observations), (len(round.y), 1))
    gradient, _ = observations.derivatives(round.loss, raw)
    return np.asarray(round.loss.scales.unit, dtype=np.float64) * gradient


def require_single_precision(X: Array) -> None:
    """Raise a ValueError if a value is beyond the range of float32, the precision of XGBoost's features."""
    largest = np.finfo(np.float32).max
    if X.dtype == np.float32 or (np.fmax.reduce(X, None) <= largest and np.fmin.reduce(X, None) >= -largest):
        return
    beyond = np.argwhere(np.abs(X) > largest)
    if not len(beyond):
        # All values are missing.
        return
    row, column = beyond[0]
    raise ValueError(
        f"tree: X must be within the range of float32, {largest:.1e}, the precision of XGBoost's features; "
        f"got {X[row, column]:g} in column {column}"
    )
