"""A loss as the objective and the metric of another library's training loop.

The native interfaces of XGBoost and LightGBM pass scores and a matrix with labels and weights; their scikit-learn
interfaces pass arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..boosting.early_stopping.mean_loss import MeanLoss
from ..core import Loss
from ..losses.registry import LOSSES
from ..losses.validation import (
    check_baseline,
    check_value_and_response,
    compute_baseline,
    compute_derivatives,
    prepare_loss,
    require_derivatives,
    scale_derivatives,
)
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .score_conversion import ScoreConversion, as_columns

# A leaf divides by the sum of hessians; XGBoost has the same lower bound in its own logistic loss.
LEAST_HESSIAN = 1e-16


class PreparedLossCache:
    """Losses prepared for the labels of matrices, which may take sorting all labels."""

    def __init__(self) -> None:
        self._entries: WeakKeyDictionary[Any, tuple[Any, Loss]] = WeakKeyDictionary()

    def prepare(self, loss: Loss, scores: Array, matrix: Any) -> tuple[Loss, Array, Array, Array]:
        """The prepared loss, labels, raw scores (n, C) and weights for the scores on a matrix."""
        raw = as_columns(scores)
        y, weight, n_outputs = read_labels(matrix), read_weights(matrix, len(raw)), raw.shape[1]
        data: tuple[Any, ...] = y, weight, n_outputs
        cached, prepared = self._entries.get(matrix, (None, loss))
        if cached is None or not all(map(np.array_equal, cached, data)):
            prepared = prepare_for_labels(loss, y.reshape(len(weight), -1), weight, n_outputs)
            self._entries[matrix] = data, prepared
        return prepared, y, raw, weight

    def __reduce__(self) -> tuple[type[PreparedLossCache], tuple[()]]:
        # Matrices can neither be pickled nor copied.
        return PreparedLossCache, ()


@dataclass(frozen=True, eq=False)
class MatrixObjective:
    """A loss for the native interface: ``objective(scores, matrix) -> gradient, hessian``.

    Instances can be pickled, and one may serve many boosters at once. Sample weights of the matrix are applied,
    hessians are bounded below by 1e-16 times the weight, and the loss is prepared for the labels of the matrix.

    Parameters
    ----------
    loss : Loss
        The loss to minimise. A classification loss expects labels 0 .. K-1.
    unset : float, optional
        The host's initial score if no baseline was set; the objective warns if it is far from the baseline.

    Raises
    ------
    ValueError
        In a call: if the matrix has no labels or labels that the loss does not accept, or the loss returns invalid
        derivatives.
    """

    loss: Loss
    unset: float | None = None
    _cache: PreparedLossCache = field(default_factory=PreparedLossCache, repr=False)

    def __call__(self, scores: Array, matrix: Any) -> tuple[Array, Array]:
        """Derivatives at raw `scores`, of their shape, (n,) or (n, C), for the labels and weights of a matrix."""
        loss, y, raw, weight = self._cache.prepare(self.loss, scores, matrix)
        if self.unset is not None and np.all(scores == self.unset):
            warn_of_start(self.unset, loss, check_labels(loss, y, raw), weight)
        gradient, hessian = weighted_derivatives(loss, y, raw, weight)
        return gradient.reshape(np.shape(scores)), hessian.reshape(np.shape(scores))


@dataclass(frozen=True, eq=False)
class MatrixMetric:
    """The weighted mean of a loss for the native interface: ``metric(scores, matrix) -> name, value``.

    The host shows it for evaluation sets and uses it for early stopping; lower is better.

    Parameters
    ----------
    loss : Loss
        The loss, evaluated at raw scores and prepared for the labels of each matrix.
    name : str
        The name of the metric in the host.
    """

    loss: Loss
    name: str
    _cache: PreparedLossCache = field(default_factory=PreparedLossCache, repr=False)

    def __call__(self, scores: Array, matrix: Any) -> tuple[str, float]:
        """Name and value, as ``xgboost.train(custom_metric=...)`` expects them."""
        return self.name, mean_loss(*self._cache.prepare(self.loss, scores, matrix))


@dataclass(frozen=True, eq=False)
class ArrayObjective:
    """A prepared loss for the scikit-learn interface: ``objective(y, scores, weight) -> gradient, hessian``.

    `conversion` maps the host's scores to raw scores; derivatives are with respect to the host's.
    """

    loss: Loss
    conversion: ScoreConversion = field(default_factory=ScoreConversion)

    def __call__(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
        """Derivatives, of the shape of `y_pred`."""
        raw, slope = self.conversion.raw(y_pred), self.conversion.slope
        gradient, hessian = weighted_derivatives(self.loss, y_true, raw, float_weights(sample_weight, len(raw)))
        return (gradient / slope).reshape(np.shape(y_pred)), (hessian / slope**2).reshape(np.shape(y_pred))


@dataclass(frozen=True, eq=False)
class ArrayMetric:
    """The weighted mean of a prepared loss for the scikit-learn interface: ``metric(y, scores, weight) -> float``.

    `conversion` maps the host's scores to raw scores; `name` is the name of the metric in the host.
    """

    loss: Loss
    name: str
    conversion: ScoreConversion = field(default_factory=ScoreConversion)

    @property
    def __name__(self) -> str:
        """The name of the function, which XGBoost reads."""
        return self.name

    def __call__(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> float:
        """The weighted mean."""
        raw = self.conversion.raw(y_pred)
        return mean_loss(self.loss, y_true, raw, float_weights(sample_weight, len(raw)))


def metric_on_predictions(
    metric: Callable[..., Any], loss: Loss, conversion: ScoreConversion
) -> Callable[..., Any]:
    """Wrap a user's metric of predictions for a host that passes scores, as with a callable objective.

    The result has the name and signature of `metric`, which hosts inspect.
    """

    @wraps(metric)
    def wrapped(y_true: Array, y_pred: Array, *args: Any, **kwargs: Any) -> Any:
        raw = conversion.raw(y_pred)
        response = np.asarray(loss.inverse_link(raw))
        # Hosts pass the probabilities of the second of two classes.
        return metric(y_true, response[:, -1] if raw.shape[1] == 1 else response, *args, **kwargs)

    # XGBoost reads the name, which a callable object may lack.
    wrapped.__name__ = getattr(metric, "__name__", type(metric).__name__)
    return wrapped


def metric(loss: str | Loss) -> MatrixMetric:
    """The weighted mean of a loss as the ``custom_metric`` of ``xgboost.train``, beside ``objective``.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown or invalid.
    """
    loss = LOSSES.create(loss)
    return MatrixMetric(loss, LOSSES.name_of(loss))


def warn_of_start(start: float, loss: Loss, y: Array, weight: Array) -> None:
    """Warn if training starts far from the baseline of a prepared loss."""
    baseline = loss.baseline(y, weight)
    if not np.allclose(baseline, start, atol=1e-3):
        warn_user(
            f"training starts from {start:g}, the baseline of {loss!r} is {baseline.round(4)}: see intercept() in "
            f"rffboost_ext.interop"
        )


def read_labels(matrix: Any) -> Array:
    """The labels of a matrix, in float64; a ValueError if it has none, a TypeError if it is not a matrix."""
    if not hasattr(matrix, "get_label"):
        raise TypeError(
            f"the objective and metric are for train(), which passes a matrix; got {type(matrix).__name__}. "
            f"For the scikit-learn interface use XGBClassifier, XGBRegressor, LGBMClassifier or LGBMRegressor of "
            f"rffboost_ext.interop with loss=..."
        )
    labels = matrix.get_label()
    if labels is None or not len(labels):
        raise ValueError("the matrix has no labels, which the objective and metric need")
    return np.asarray(labels, dtype=np.float64)


def read_weights(matrix: Any, n_samples: int) -> Array:
    """The sample weights of a matrix, (n,), 1 if it has none."""
    weight = matrix.get_weight()
    weight = float_weights(weight if weight is not None and len(weight) else None, n_samples)
    if not np.any(weight):
        raise ValueError("the weights of the matrix must not all be 0")
    return weight


def float_weights(weight: Array | None, n_samples: int) -> Array:
    """Sample weights in float64, 1 by default."""
    return np.ones(n_samples) if weight is None else np.asarray(weight, dtype=np.float64)


def check_labels(loss: Loss, y: Array, raw: Array) -> Array:
    """Labels as targets, (n, 1) or (n, C), or a ValueError if the loss does not accept them."""
    y = np.asarray(y, dtype=np.float64).reshape(len(raw), -1)
    require_targets(loss, y, max(2, raw.shape[1]))
    return y


def require_targets(loss: Loss, y: Array, n_classes: int) -> None:
    """Raise a ValueError unless a loss accepts targets (n, C); class indices are 0 .. `n_classes` - 1."""
    if y.shape[1] > 1 and not loss.multi_output:
        raise ValueError(f"loss {loss!r} is for one target, got {y.shape[1]} columns of labels")
    if loss.task == "regression":
        return
    invalid = y[(y != np.floor(y)) | (y < 0) | (y >= n_classes)]
    if invalid.size:
        more = "; for more classes set num_class" if loss.multiclass else ""
        raise ValueError(
            f"objective of {loss!r}: labels must be class indices 0 .. {n_classes - 1}, got {invalid[0]:g}{more}"
        )


def prepare_for_labels(loss: Loss, y: Array, weight: Array, n_outputs: int | None = None) -> Loss:
    """The loss prepared for labels (n, C), with the number of classes from the outputs if these are known."""
    n_classes = max(2, int(y.max()) + 1 if n_outputs is None else n_outputs)
    require_targets(loss, y, n_classes)
    return prepare_loss(loss, y, weight, None if loss.task == "regression" or n_outputs is None else n_classes)


def prepare_for_outputs(loss: Loss, n_outputs: int) -> Loss:
    """The loss whose link applies to a model of `n_outputs` outputs if its labels are not available."""
    many = loss.task == "classification" and n_outputs > 1
    return loss.prepared(np.zeros((1, 1)), np.ones(1), n_outputs) if many else loss


def prepare_with_baseline(loss: Loss, y: Array, weight: Array) -> tuple[Loss, Array]:
    """The prepared loss and its baseline, (C,), for labels (n,) or (n, C), checked as by the boosting loop."""
    y = as_columns(y)
    loss = prepare_for_labels(loss, y, weight)
    baseline = compute_baseline(loss, y, weight)
    check_baseline(loss, baseline, y)
    require_targets(loss, y, max(2, len(baseline)))
    check_value_and_response(loss, y, np.tile(baseline, (len(y), 1)), weight)
    return loss, baseline


def weighted_derivatives(loss: Loss, y: Array, raw: Array, weight: Array) -> tuple[Array, Array]:
    """Gradient and bounded hessian of ``loss.unit`` times a prepared loss, weights applied, (n, C) each.

    Hessians may be negative, unlike in the boosting loop: they are bounded below.

    Raises
    ------
    ValueError
        If the derivatives are not finite arrays of the shape of `raw`, or the loss changes an array.
    """
    # The host's round is not known: each call is checked as the first round is.
    derivatives = scale_derivatives(
        loss, compute_derivatives(loss, check_labels(loss, y, raw), raw, weight, index=0)
    )
    require_derivatives(loss, derivatives, raw, "in training")
    gradient, hessian = derivatives
    return gradient * weight[:, None], np.maximum(hessian, LEAST_HESSIAN) * weight[:, None]


def mean_loss(loss: Loss, y: Array, raw: Array, weight: Array) -> float:
    """The weighted mean of a loss for labels and raw scores."""
    return MeanLoss(loss)(check_labels(loss, y, raw), raw, weight)
