"""Groups of rows, named by the user, that are held out together."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from ..data.columns import is_missing
from ..data.sample_weight import check_sample_weight
from ..utils.typing import Array


def encode_groups(
    owner: str, groups: Any, X: Any, sample_weight: Any = None, name: str = "groups"
) -> Array | None:
    """The number of the group of each row of positive weight, (m,), in the order of first occurrence.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    groups : array-like of shape (n,), or None
        Labels of any hashable type.
    X : array-like of shape (n, d)
    sample_weight : array-like of shape (n,), optional
    name : str, default="groups"
        The parameter, for messages.

    Raises
    ------
    ValueError
        If there is not one label for each row, or one is missing: None, NaN, NaT or pandas' NA.
    TypeError
        If the labels are no sequence, or one is not hashable.
    """
    if groups is None:
        return None
    labels, n_samples = list_of_labels(owner, groups, name), _num_samples(X)
    if len(labels) != n_samples:
        raise ValueError(f"{owner}: {name} must have a label for each of the {n_samples} rows, got {len(labels)}")
    codes: dict[Hashable, int] = {}
    for row, label in enumerate(labels):
        try:
            codes.setdefault(label, len(codes))
        except TypeError as error:
            raise TypeError(f"{owner}: {name} must hold hashable labels, got {label!r} as entry {row}") from error
        if is_missing(label):
            raise ValueError(f"{owner}: {name} must hold labels, got {label!r} as entry {row}, a missing value")
    group = np.fromiter(map(codes.__getitem__, labels), dtype=np.int64, count=n_samples)
    return group[check_sample_weight(sample_weight, n_samples) > 0.0]


def list_of_labels(owner: str, groups: Any, name: str = "groups") -> list[Any]:
    """The labels as a list."""
    if getattr(groups, "ndim", 1) != 1:
        raise ValueError(f"{owner}: {name} must have shape (n,), got {groups.shape}")
    try:
        return list(groups.to_pylist() if hasattr(groups, "to_pylist") else groups)
    except TypeError as error:
        raise TypeError(f"{owner}: {name} must be a sequence of labels, got {groups!r}") from error
