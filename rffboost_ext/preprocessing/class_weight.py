"""Class weights, as factors on the sample weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..utils.param_validation import POSITIVE, Check
from ..utils.typing import Array


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


def class_factors(owner: str, given: Any, classes: Array, codes: Array, weight: Array) -> Array:
    """The factor of each class, (K,), on the weights of its rows.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    given : None, "balanced" or mapping of labels to numbers
        ``class_weight``. "balanced" gives every class the same total weight and keeps the overall sum; a class
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
    if isinstance(given, str):
        share = np.bincount(codes, weight, len(classes))
        return share.sum() / (len(classes) * share)
    if classes.dtype.kind in "mM":
        # Equal times of different types or units have different hashes.
        labels = list(classes)
        given = {next((one for one in labels if one == label), label): given[label] for label in given}
    else:
        labels = classes.tolist()
    unknown = [label for label in given if label not in labels]
    without_entry = [label for label in labels if label not in given]
    # As in scikit-learn: a subset of the data may lack a class, but an unknown label next to a class without an
    # entry is a typo.
    if unknown and without_entry:
        raise ValueError(
            f"{owner}: class_weight must be of the classes of y, {labels}, got {unknown[0]!r} and nothing for "
            f"{without_entry[0]!r}"
        )
    return np.array([float(given.get(label, 1.0)) for label in labels])
