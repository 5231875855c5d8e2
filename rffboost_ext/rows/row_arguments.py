"""Arguments about rows: offsets of scores (XGBoost's ``base_margin``), and groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..utils.typing import Array
from .columns import is_missing
from .tables import number_array
from .weights import check_sample_weight


def check_base_margin(margin: Any, n_samples: int, n_scores: int, name: str = "base_margin") -> Array:
    """An offset as an array (n, C), float64.

    Parameters
    ----------
    margin : array-like of shape (n,) or (n, C)
        The user's; (n,) is for one score.
    n_samples, n_scores : int
        Rows n and scores C.
    name : str, default="base_margin"
        The parameter, for messages.

    Raises
    ------
    ValueError, TypeError
        If it has another shape, or entries that are no finite real numbers.
    """
    offset, shape = number_array(margin, name), (n_samples, n_scores)
    if offset.shape != shape and (n_scores > 1 or offset.shape != (n_samples,)):
        allowed = f"{shape}" if n_scores > 1 else f"({n_samples},) or {shape}"
        raise ValueError(
            f"{name} must have shape {allowed}, a number for each row and raw score, got {offset.shape}"
        )
    offset = offset.astype(np.float64).reshape(shape)
    if not np.isfinite(offset).all():
        row, column = np.argwhere(~np.isfinite(offset))[0].tolist()
        raise ValueError(f"{name} must be finite, got {offset[row, column]} in row {row}")
    return offset


def encode_base_margin(base_margin: Any, X: Any, sample_weight: Any, n_scores: int) -> Array:
    """The offset of the rows of positive weight, (m, C), for all rows of X."""
    n_samples = _num_samples(X)
    offset = check_base_margin(base_margin, n_samples, n_scores)
    return offset[check_sample_weight(sample_weight, n_samples) > 0.0]


def require_base_margin(owner: str, base_margin: Any, is_used: bool) -> None:
    """Raise a ValueError unless an offset is passed to a model that was fitted with one, and to no other."""
    if is_used and base_margin is None:
        raise ValueError(
            f"{owner}: base_margin must be given, since the model was fitted with one; zeros are no offset"
        )
    if base_margin is not None and not is_used:
        raise ValueError(f"{owner}: base_margin must be None, since the model was fitted without one")


def encode_groups(owner: str, groups: Any, X: Any, sample_weight: Any = None) -> Array | None:
    """The codes of the groups of the rows of positive weight, (m,), by :func:`label_codes`, or None."""
    if groups is None:
        return None
    return label_codes(owner, groups, X, "groups")[check_sample_weight(sample_weight, _num_samples(X)) > 0.0]


def label_codes(owner: str, labels: Any, X: Any, name: str) -> Array:
    """The number of the label of each row, (n,), in the order of first occurrence.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    labels : array-like of shape (n,)
        Labels of any hashable type.
    X : array-like of shape (n, d)
    name : str
        The parameter with the labels, for messages.

    Raises
    ------
    ValueError
        If there is not one label for each row, or one is missing: None, NaN, NaT or pandas' NA.
    TypeError
        If the labels are no sequence, or one is not hashable.
    """
    if getattr(labels, "ndim", 1) != 1:
        raise ValueError(f"{owner}: {name} must have shape (n,), got {labels.shape}")
    n_samples = _num_samples(X)
    try:
        entries = list(labels.to_pylist() if hasattr(labels, "to_pylist") else labels)
        place = {label: code for code, label in enumerate(dict.fromkeys(entries))}
    except TypeError as error:
        raise TypeError(f"{owner}: {name} must be a sequence of hashable labels, got {labels!r:.60}") from error
    if len(entries) != n_samples:
        raise ValueError(f"{owner}: {name} must have a label for each of the {n_samples} rows, got {len(entries)}")
    for label in filter(is_missing, place):
        row = next(row for row, one in enumerate(entries) if one is label)
        raise ValueError(f"{owner}: {name} must hold labels, got {label!r} as entry {row}, a missing value")
    return np.array([place[label] for label in entries], dtype=np.int64)
