"""Weights of rows: sample weights, rows of weight 0, and weights of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import check_consistent_length

from ..utils.param_validation import POSITIVE, Check
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .columns import column_array, real_numbers
from .tables import native_table, read_table, target_array

# Mean weight below which fit warns: penalties act as on far fewer rows.
SMALL_MEAN_WEIGHT = 0.1
# Smaller numbers have fewer digits.
SMALLEST = float(np.finfo(np.float64).tiny)


def check_sample_weight(sample_weight: Any, n_samples: int) -> Array:
    """Sample weights, (n,), float64; ones for None. Invalid ones raise a ValueError or TypeError."""
    if sample_weight is None:
        return np.ones(n_samples)
    values = column_array(sample_weight)
    if values.shape not in ((), (n_samples,)):
        raise ValueError(f"sample_weight must have one entry per row, shape ({n_samples},), got {values.shape}")
    weight = real_numbers(np.atleast_1d(values), "sample_weight must be finite real numbers").astype(np.float64)
    if values.ndim == 0:
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


def rows_of_positive_weight(X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, Any, Array]:
    """Rows of a table without those of weight 0, which may hold anything, their targets and weights."""
    X, y, sample_weight = native_table(read_table(X)), target_array(y), read_table(sample_weight, "sample_weight")
    if np.ndim(y) not in (1, 2):
        raise ValueError(f"y must have shape (n,) or (n, C), got {np.shape(y)}")
    check_consistent_length(X, y)
    weight = check_sample_weight(sample_weight, len(y))
    if (weight > 0.0).all():
        return X, y, weight
    rows = np.flatnonzero(weight)
    X, y = (_safe_indexing(values, rows) for values in indexable(X, y))
    return X, y, weight[rows]


class ClassWeightCheck(Check):
    """Values of ``class_weight``: None, "balanced", or positive numbers by class label."""

    def fits(self, value: object) -> bool:
        return value is None or isinstance(value, str | Mapping)

    def accepts(self, value: object) -> bool:
        if isinstance(value, Mapping):
            return all(map(POSITIVE.accepts, value.values()))
        return value is None or (isinstance(value, str) and value == "balanced")

    def __str__(self) -> str:
        return "None, 'balanced', or a mapping of class labels to numbers > 0"


def class_factors(owner: str, class_weight: Any, classes: Array, codes: Array, weight: Array) -> Array:
    """The factor of each class, (K,), on the weights of its rows.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    class_weight : None, "balanced" or mapping of labels to numbers
        "balanced" gives every class the same total weight and keeps the overall sum; a class
        without an entry keeps its weight.
    classes : ndarray of shape (K,)
        Class labels.
    codes : ndarray of shape (n,)
        Class index of each row.
    weight : ndarray of shape (n,)
        Sample weights.

    Raises
    ------
    ValueError
        If a mapping has a class that does not occur and lacks one that does.
    """
    if isinstance(class_weight, str):
        share = np.bincount(codes, weight, len(classes))
        return share.sum() / (len(classes) * share)
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    without_entry = [label for label in labels if label not in class_weight]
    # As in scikit-learn: a subset of the data may lack a class, but an unknown label next to a class without an
    # entry is a typo.
    if unknown and without_entry:
        raise ValueError(
            f"{owner}: class_weight must be of the classes of y, {labels}, got {unknown[0]!r} and nothing for "
            f"{without_entry[0]!r}"
        )
    return np.array([float(class_weight.get(label, 1.0)) for label in labels])
