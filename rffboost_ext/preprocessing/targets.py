"""Encoding of targets for losses, and decoding of raw scores to labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..utils.typing import Array
from .class_weight import class_factors
from .input_types import require_arrays
from .tables import is_missing

# Integer labels within a range of this length are counted rather than sorted.
MAX_COUNTED_RANGE = 1024
# Sums of squares of larger numbers overflow; squares of numbers below the inverse underflow.
MAX_MAGNITUDE = 1e150


def encode_labels(y: Array) -> tuple[Array, Array]:
    """The sorted classes, (K,), and the class index of each label, (n,)."""
    if y.dtype.kind in "iu" and y.ndim == 1:
        low, high = int(y.min()), int(y.max())
        if high - low < MAX_COUNTED_RANGE and high <= np.iinfo(np.int64).max:
            # Differences may be too large for the type of the labels.
            place = y.astype(np.int64) - low
            occurs = np.bincount(place) > 0
            return (np.flatnonzero(occurs) + low).astype(y.dtype), (np.cumsum(occurs) - 1)[place]
    text = [isinstance(label, str) for label in y.ravel()] if y.dtype == object else []
    if any(text) and not all(text):
        kinds = sorted({type(label).__name__ for label in y.ravel().tolist()})
        raise TypeError(f"y must hold labels of one type, got {' and '.join(kinds)}")
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def require_labels(y: Any) -> None:
    """Raise a ValueError if a label is missing: None, NaN, NaT or pandas' NA."""
    require_arrays(y=y)
    try:
        labels = np.asarray(y)
    except ValueError:
        # Ragged lists: scikit-learn's check of y refuses them.
        return
    if labels.ndim == 0 or labels.dtype.kind not in "OfmM":
        return
    labels = labels.ravel()
    missing = np.array(list(map(is_missing, labels)), dtype=bool) if labels.dtype == object else labels != labels
    if missing.any():
        place = int(missing.argmax())
        raise ValueError(f"y must hold labels, got {labels[place]!r} as entry {place}, a missing value")


def codes_of_labels(classes: Array, y: Array) -> Array:
    """The class index of each label, (n, 1), float64; a ValueError for a label that is not among the classes."""
    require_labels(y)
    y = column_or_1d(y, warn=True)
    try:
        codes = np.searchsorted(classes, y).clip(0, len(classes) - 1)
        unknown = np.flatnonzero(classes[codes] != y)
    except TypeError:
        # Labels of several types cannot be sorted.
        place = {label: code for code, label in enumerate(classes.tolist())}
        codes = np.array([place.get(label, -1) for label in y.tolist()])
        unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        raise ValueError(
            f"y must have the classes of the fit, {classes.tolist()}, got {y.tolist()[unknown[0]]!r} too"
        )
    return codes.astype(np.float64)[:, None]


def encode_targets(y: Array) -> Array:
    """Targets of a regression, (n, C), float64; a ValueError unless they are real numbers with finite squares."""
    odd = y.dtype == object and any(isinstance(value, str | complex) for value in y.ravel())
    if odd or y.dtype.kind not in "biufO":
        raise ValueError(f"y must be real numbers, got {y.ravel()[:1].tolist()[0]!r} of type {y.dtype}")
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    targets = y.astype(np.float64).reshape(len(y), -1)
    if y.dtype == object:
        # scikit-learn's check of y covers numeric types only.
        assert_all_finite(targets, input_name="y")
    for size in np.abs(targets).max(axis=0, initial=0.0):
        # Infinite targets have an error of their own.
        if 0.0 < size < 1.0 / MAX_MAGNITUDE or MAX_MAGNITUDE < size < np.inf:
            raise ValueError(
                f"y must be 0 or have a largest magnitude between {1.0 / MAX_MAGNITUDE:g} and {MAX_MAGNITUDE:g}, "
                f"got {size:g}: give it in other units"
            )
    return targets


def decode_labels(raw: Array, classes: Array) -> Array:
    """The most probable class of each row, (n,), from raw scores (n, 1) of two classes or (n, K) of more."""
    codes = (raw[:, 0] > 0.0).astype(int) if raw.shape[1] == 1 else raw.argmax(axis=1)
    return np.asarray(classes[codes])


def squeeze(values: Array) -> Array:
    """(n,) for one column, else (n, C)."""
    return values[:, 0] if values.shape[1] == 1 else values


class TargetEncoder(ABC):
    """Converts targets to what losses take, (n, C) in float64.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.

    Attributes
    ----------
    multi_output : bool
        Whether there may be several columns.
    classes : ndarray or None
        Class labels; None in regression.
    """

    multi_output = False
    classes: Array | None = None

    def __init__(self, owner: str) -> None:
        self.owner = owner

    @property
    def n_classes(self) -> int | None:
        """Number of classes; None in regression."""
        return None if self.classes is None else len(self.classes)

    @abstractmethod
    def fit_transform(self, y: Array, weight: Array) -> tuple[Array, Array]:
        """Learn the classes; encoded targets, (n, C), and sample weights, (n,)."""

    @abstractmethod
    def transform(self, y: Array) -> Array:
        """Encoded targets, (n, C)."""

    def reweight(self, y: Array, weight: Array) -> Array:
        """Sample weights of encoded targets, (n,), times their class weights."""
        return weight


class LabelEncoder(TargetEncoder):
    """Class labels as indices 0 .. K-1, in one column.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    class_weight : None, "balanced" or dict
        Factors on the sample weights by class label.
    """

    classes: Array

    def __init__(self, owner: str, class_weight: Any) -> None:
        super().__init__(owner)
        self.class_weight = class_weight
        self.factors: Array | None = None

    def fit_transform(self, y: Array, weight: Array) -> tuple[Array, Array]:
        self.classes, codes = encode_labels(y)
        if len(self.classes) < 2:
            raise ValueError(
                f"{self.owner}: y must have at least 2 classes, got one class: {self.classes.tolist()[0]!r}. "
                f"Splits with stratify=y keep rare classes; rows of weight 0 do not count. scikit-learn's "
                f"DummyClassifier predicts a constant class, and its IsolationForest finds rows unlike the others"
            )
        self.factors = class_factors(self.owner, self.class_weight, self.classes, codes, weight)
        targets = codes.astype(np.float64)[:, None]
        return targets, self.reweight(targets, weight)

    def transform(self, y: Array) -> Array:
        return codes_of_labels(self.classes, y)

    def reweight(self, y: Array, weight: Array) -> Array:
        return weight if self.factors is None else weight * self.factors[y[:, 0].astype(np.int64)]


class RealTargets(TargetEncoder):
    """Real targets, of one column or several."""

    multi_output = True

    def fit_transform(self, y: Array, weight: Array) -> tuple[Array, Array]:
        return self.transform(y), weight

    def transform(self, y: Array) -> Array:
        return encode_targets(y)
