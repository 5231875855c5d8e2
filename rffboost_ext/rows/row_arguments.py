"""Arguments about rows: offsets of scores (XGBoost's ``base_margin``), groups, and weights of classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..utils.param_validation import POSITIVE, Check
from ..utils.typing import Array
from .columns import is_missing
from .dataset import check_sample_weight
from .tables import number_array


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
