"""Sample weights: weight 0 excludes a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..utils.typing import Array
from ..utils.warnings import warn_user
from .columns import column_array, real_numbers

# Mean weight below which fit warns: penalties act as on far fewer rows.
SMALL_MEAN_WEIGHT = 0.1
# Smaller numbers have fewer digits.
SMALLEST = float(np.finfo(np.float64).tiny)


def with_positive_weight(X: Array, y: Array, sample_weight: Any) -> tuple[Array, Array, Array]:
    """X, y and weights without the rows of weight 0."""
    weight = check_sample_weight(sample_weight, len(X))
    positive = weight > 0.0
    return (X, y, weight) if positive.all() else (X[positive], y[positive], weight[positive])


def check_sample_weight(sample_weight: Any, n_samples: int) -> Array:
    """Sample weights, (n,), float64; ones for None. Invalid ones raise a ValueError or TypeError."""
    if sample_weight is None:
        return np.ones(n_samples)
    given = column_array(sample_weight)
    if given.shape not in ((), (n_samples,)):
        raise ValueError(f"sample_weight must have one entry per row, shape ({n_samples},), got {given.shape}")
    weight = real_numbers(np.atleast_1d(given), "sample_weight must be finite real numbers").astype(np.float64)
    if given.ndim == 0:
        weight = np.full(n_samples, weight[0])
    if not np.isfinite(weight).all():
        row = int(np.isinf(weight).argmax())
        raise ValueError(f"sample_weight must be finite real numbers, got {weight[row]} as entry {row}")
    if (weight < 0.0).any():
        raise ValueError(f"sample_weight must not be negative, got {weight.min():g}")
    if not weight.any():
        raise ValueError("sample_weight must not sum to zero")
    require_precise(weight[weight > 0.0], "sample_weight")
    return weight


def require_precise(weight: Array, name: str) -> None:
    """Raise a ValueError that starts with `name` unless weights have all of their digits, and a finite sum."""
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError(f"{name} must have a finite sum, got infinity")
    if weight.min() < SMALLEST:
        raise ValueError(
            f"{name} must be 0 or at least {SMALLEST:.1e}, got {weight.min():g}: scale the weights to a mean of 1"
        )


def warn_if_light(weight: Array) -> None:
    """Warn if weights (n,) sum to far less than the number of rows: penalties are for rows of weight 1."""
    total = float(weight.sum())
    if total < SMALL_MEAN_WEIGHT * len(weight):
        warn_user(
            f"sample_weight: {len(weight)} rows have a total weight of {total:.3g}; penalties such as l2, "
            f"reg_lambda and min_child_weight then act as on {total:.3g} rows of weight 1. Scale the weights to a "
            f"mean of 1 unless this is intended"
        )
