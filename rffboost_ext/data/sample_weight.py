"""Rows and their weights: weight 0 excludes a row, and a row that occurs twice is one of twice the weight."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from ..utils.arrays import fingerprints, rows_equal
from ..utils.typing import Array
from ..utils.warnings import warn_user

# With a mean weight below this, penalties act as on far fewer rows: fit warns.
LIGHT = 0.1


def merge_duplicate_rows(X: Array, y: Array, weight: Array) -> tuple[Array, Array, Array]:
    """Merge duplicate rows into one, adding up their weights.

    A row of weight 2 and the same row twice become the same data, so that they lead to the same fit bit for
    bit, and not only up to rounding errors, which some searches amplify from round to round. To that end rows of
    different weights are put in an order that depends on their contents alone.

    Parameters
    ----------
    X, y : ndarray of shape (n, d), (n, C)
        Features and encoded targets, of which both must agree for rows to be equal.
    weight : ndarray of shape (n,)
        Sample weights.

    Returns
    -------
    X, y, weight : ndarray
        The distinct rows; the arguments themselves if all rows are distinct and of equal weight.
    """
    key = fingerprints(X) + np.uint64(3) * fingerprints(y)
    values = np.sort(key)
    if (values[1:] != values[:-1]).all() and (weight == weight[0]).all():
        return X, y, weight
    order = np.argsort(key, kind="stable")
    tied = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    one, other = order[tied], order[tied + 1]
    equal = rows_equal(X[one], X[other]) & (y[one] == y[other]).all(axis=1)
    first = np.ones(len(X), dtype=bool)
    first[tied[equal] + 1] = False
    if first.all() and (weight == weight[0]).all():
        return X, y, weight
    rows, joint = order[first], np.add.reduceat(weight[order], np.flatnonzero(first))
    if (joint == joint[0]).all():
        # In the original order, as if there were no duplicates.
        rows = np.sort(rows)
    return X[rows], y[rows], joint


def with_positive_weight(X: Array, y: Array, sample_weight: Any) -> tuple[Array, Array, Array]:
    """X, y and weights without the rows of weight 0."""
    weight = check_sample_weight(sample_weight, len(X))
    kept = weight > 0.0
    return (X, y, weight) if kept.all() else (X[kept], y[kept], weight[kept])


def check_sample_weight(sample_weight: Any, n_samples: int) -> Array:
    """Sample weights as float64 of shape (n,), ones for None, or a ValueError or TypeError that names them."""
    if sample_weight is None:
        return np.ones(n_samples)
    given = np.asarray(sample_weight)
    boxed = given.dtype == object and all(isinstance(value, Real) for value in given.ravel())
    if given.dtype.kind not in "biuf" and not boxed:
        raise TypeError(f"sample_weight must be real numbers, got an array of type {given.dtype}")
    weight = given.astype(np.float64)
    if weight.ndim == 0:
        weight = np.full(n_samples, float(weight))
    if weight.shape != (n_samples,):
        raise ValueError(f"sample_weight must have one entry per row, shape ({n_samples},), got {weight.shape}")
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight must be finite, got NaN or infinity")
    if (weight < 0.0).any():
        raise ValueError(f"sample_weight must not be negative, got {weight.min():g}")
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not np.isfinite(total):
        raise ValueError("sample_weight must have a finite sum, got infinity")
    if total <= 0.0:
        raise ValueError("sample_weight must not sum to zero")
    return weight


def warn_if_light(weight: Array) -> None:
    """Warn where weights (n,) sum to far less than the number of rows: penalties suit rows of weight 1."""
    total = float(weight.sum())
    if total < LIGHT * len(weight):
        warn_user(
            f"sample_weight: {len(weight)} rows have a total weight of {total:.3g}, so that penalties such as l2, "
            f"reg_lambda and min_child_weight, which are for rows of weight 1, weigh as heavily as on {total:.3g} "
            f"rows; multiply the weights to a mean of 1 unless that is meant"
        )
