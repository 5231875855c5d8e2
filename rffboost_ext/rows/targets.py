"""Encoding of targets for losses, and decoding of raw scores to labels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from ..core import Loss
from ..utils.typing import Array
from .tables import label_array, number_array
from .weights import class_factors, require_precise

# Sums of squares of larger numbers overflow; squares of numbers below the inverse underflow.
MAX_MAGNITUDE = 1e150


def encode_labels(y: Array) -> tuple[Array, Array]:
    """The sorted classes, (K,), and the class index of each label, (n,)."""
    kinds = {"str" if isinstance(label, str) else type(label).__name__ for label in y} if y.dtype == object else ()
    if set(kinds) - {"str"}:
        raise TypeError(
            f"y must hold labels of one type: text, truth values, or numbers of a type of NumPy, got "
            f"{' and '.join(sorted(kinds))}"
        )
    if y.dtype.kind not in "iu":
        check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes


def codes_of_labels(classes: Array, y: Array) -> Array:
    """The class index of each label, (n, 1), float64; a ValueError for a label that is not among the classes."""
    y = column_or_1d(label_array(y), warn=True)
    try:
        codes = np.searchsorted(classes, y).clip(0, len(classes) - 1)
        unknown = np.flatnonzero(classes[codes] != y)
    except TypeError:
        # Labels of several types cannot be sorted: some are unknown.
        unknown = np.flatnonzero([label not in classes.tolist() for label in y.tolist()])
    if len(unknown):
        raise ValueError(
            f"y must have the classes of the fit, {classes.tolist()}, got {y.tolist()[unknown[0]]!r:.60} too"
        )
    return codes.astype(np.float64)[:, None]


def encode_targets(y: Any, infinite: bool = False) -> Array:
    """Targets of a regression, (n, K), float64; a ValueError unless they, and their squares, are finite.

    Targets may be infinite for some losses, such as bounds of times.
    """
    y = number_array(y)
    if not infinite and np.isinf(y).any():
        raise ValueError(
            f"y must be finite, got {y[np.isinf(y)][0]}: a loss of infinite targets, such as bounds, has the "
            f"attribute 'infinite'"
        )
    if y.ndim == 2 and y.shape[1] == 1:
        y = column_or_1d(y, warn=True)
    targets = y.astype(np.float64).reshape(len(y), -1)
    for size in np.abs(targets).max(axis=0, initial=0.0, where=np.isfinite(targets)):
        if 0.0 < size < 1.0 / MAX_MAGNITUDE or size > MAX_MAGNITUDE:
            raise ValueError(
                f"y must be 0 or have a largest magnitude between {1.0 / MAX_MAGNITUDE:g} and {MAX_MAGNITUDE:g}, "
                f"got {size:g}: give it in other units"
            )
    return targets


def decode_labels(probability: Array, classes: Array, multilabel: bool = False) -> Array:
    """The most probable class of each row, (n,), or whether it has each label, (n, L)."""
    return (probability > 0.5).astype(np.int64) if multilabel else np.asarray(classes[probability.argmax(axis=1)])


def decision_values(raw: Array, n_classes: int, loss: Loss) -> Array:
    """What scikit-learn calls the decision function: (n,) for two classes, else (n, K), or (n, L) for labels.

    These are the raw scores (n, C), unless a loss has another number of them, as for ordered classes: then the
    log-odds of the second of two classes, or the logs of the probabilities (n, K).
    """
    if loss.multilabel or raw.shape[1] == (1 if n_classes == 2 else n_classes):
        return squeeze(raw)
    logs = np.log(np.maximum(loss.link.inverse(raw), np.finfo(np.float64).tiny))
    return logs[:, 1] - logs[:, 0] if n_classes == 2 else logs


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
    classes : ndarray or None
        Class labels; None in regression.
    n_classes : int or None
        Number of classes, at least 2; None in regression, and if a row may have any number of labels.
    """

    classes: Array | None = None
    n_classes: int | None = None

    def __init__(self, owner: str) -> None:
        self.owner = owner

    def columns(self, y: Any) -> Any:
        """Plain columns of a container that only these targets know; others are returned as they are."""
        return y

    @abstractmethod
    def read(self, y: Any) -> Array:
        """Labels or targets of any container as an array, (n,) or (n, C); an error names one that is missing."""

    @abstractmethod
    def fit_transform(self, y: Array, weight: Array) -> tuple[Array, Array]:
        """Learn the classes, unless they are known; encoded targets, (n, C), and sample weights, (n,)."""

    @abstractmethod
    def transform(self, y: Any) -> Array:
        """Encoded targets, (n, C), of any container."""

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

    classes: Any = None

    def __init__(self, owner: str, class_weight: Any) -> None:
        super().__init__(owner)
        self.class_weight = class_weight
        self.factors: Array | None = None

    def read(self, y: Any) -> Array:
        return label_array(y)

    def fit_transform(self, y: Array, weight: Array) -> tuple[Array, Array]:
        if self.classes is None:
            self.classes, codes = encode_labels(column_or_1d(y, warn=True))
        else:
            codes = codes_of_labels(self.classes, y)[:, 0].astype(np.int64)
        self.n_classes = max(2, len(self.classes))
        if self.class_weight is not None:
            self.factors = class_factors(self.owner, self.class_weight, self.classes, codes, weight)
        targets = codes.astype(np.float64)[:, None]
        return targets, self.reweight(targets, weight)

    def transform(self, y: Any) -> Array:
        return codes_of_labels(self.classes, y)

    def reweight(self, y: Array, weight: Array) -> Array:
        if self.factors is None:
            return weight
        with np.errstate(over="ignore"):
            weight = weight * self.factors[y[:, 0].astype(np.int64)]
        require_precise(weight, f"{self.owner}: sample_weight times class_weight")
        return weight


class LabelAndColumnsEncoder(LabelEncoder):
    """Class labels in the first column, as indices 0 .. K-1, and numbers of the loss's own in the others."""

    def fit_transform(self, y: Array, weight: Array) -> tuple[Array, Array]:
        codes, weight = super().fit_transform(first_labels(y), weight)
        return np.hstack([codes, *map(encode_targets, y.T[1:])]), weight

    def transform(self, y: Any) -> Array:
        y = label_array(y)
        return np.hstack([super().transform(first_labels(y)), *map(encode_targets, y.T[1:])])


class IndicatorEncoder(TargetEncoder):
    """Whether a row has each of L labels, as zeros and ones, (n, L). The classes are 0 .. L-1."""

    classes: Any = None

    def read(self, y: Any) -> Array:
        return label_array(y)

    def fit_transform(self, y: Array, weight: Array) -> tuple[Array, Array]:
        if self.classes is None:
            self.classes = np.arange(y.shape[1])
        return self.transform(y), weight

    def transform(self, y: Any) -> Array:
        y, n_labels = label_array(y), len(self.classes)
        if y.ndim != 2 or y.shape[1] != n_labels:
            raise ValueError(
                f"{self.owner}: y must have a column for each of {n_labels} labels, got shape {y.shape}"
            )
        indicators = y.astype(np.float64) if y.dtype.kind in "biuf" else np.full(y.shape, np.nan)
        invalid = ~np.isin(indicators, (0.0, 1.0))
        if invalid.any():
            raise ValueError(
                f"{self.owner}: y must be class labels, shape (n,), or zeros and ones, shape (n, L), which say "
                f"which labels a row has, got shape {y.shape} with {y[invalid].tolist()[0]!r}: "
                f"multiclass-multioutput targets need scikit-learn's MultiOutputClassifier"
            )
        return indicators


def first_labels(y: Any) -> Array:
    """The labels of the first column of a target, (n,), of any container."""
    labels = label_array(y)
    return labels if labels.ndim == 1 else label_array(labels[:, 0])


def target_levels(y: Array, kind: str) -> Array:
    """What a sample of rows must not lose: labels (m,), indicators (m, L), or whether there was an event (m,).

    Parameters
    ----------
    y : ndarray of shape (m,) or (m, K)
        Targets as a source has them.
    kind : {"labels", "indicators", "events", "bounds"}
        Labels are in the first column, such as classes and relevance. Columns are event and time, or bounds of
        times, which are equal where there was an event; a single column has times of events.
    """
    if kind == "labels":
        return first_labels(y)
    if kind == "indicators":
        return label_array(y)
    if y.dtype.names:
        return y[y.dtype.names[0]] > 0
    if y.ndim == 1 or y.shape[1] < 2:
        return np.ones(len(y), dtype=bool)
    return y[:, 0] > 0 if kind == "events" else y[:, 0] == y[:, 1]


def class_targets(
    owner: str, labels: Array | None, class_weight: Any, has_own_columns: Callable[[int], bool]
) -> TargetEncoder:
    """The encoder for labels (n,), these and columns of the loss (n, K), or indicators of several labels (n, L).

    `has_own_columns` says whether the loss takes a label and its own columns where there are several.
    """
    if labels is None or labels.ndim < 2 or labels.shape[1] == 1:
        return LabelEncoder(owner, class_weight)
    if has_own_columns(labels.shape[1]):
        return LabelAndColumnsEncoder(owner, class_weight)
    if class_weight is not None:
        raise ValueError(f"{owner}: class_weight must be None for the indicators of labels, got {class_weight!r}")
    return IndicatorEncoder(owner)


class RealTargets(TargetEncoder):
    """Real targets, of one column or several.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    infinite : bool, default=False
        Whether targets may be infinite; missing they may not be.
    """

    def __init__(self, owner: str, infinite: bool = False) -> None:
        super().__init__(owner)
        self.infinite = infinite

    def read(self, y: Any) -> Array:
        return number_array(y)

    def fit_transform(self, y: Array, weight: Array) -> tuple[Array, Array]:
        return self.transform(y), weight

    def transform(self, y: Any) -> Array:
        return encode_targets(y, self.infinite)
