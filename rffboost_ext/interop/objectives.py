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
    check_class_indices,
    check_derivatives,
    check_values_of_some_rows,
    compute_baseline,
    compute_derivatives,
    prepare_loss,
    prepare_with_baseline,
    require_columns,
    require_finite_target,
    require_multiclass,
    scale_derivatives,
)
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .attachments import is_unbinned
from .score_conversion import ScoreConversion, as_columns

# A leaf divides by the sum of hessians, which may be 0 where the fit is perfect; XGBoost has the same lower bound
# in its own logistic loss.
LEAST_HESSIAN = 1e-16


class PreparedLossCache:
    """Losses prepared for the targets of matrices, which may take sorting all of them."""

    def __init__(self) -> None:
        self._entries: WeakKeyDictionary[Any, tuple[Any, Loss]] = WeakKeyDictionary()

    def prepare(self, loss: Loss, raw: Array, matrix: Any) -> tuple[Loss, Array, Array, bool]:
        """The prepared loss, targets (n, K), weights, and whether they are new, for raw scores on a matrix."""
        y, weight = read_targets(matrix), read_weights(matrix, len(raw))
        data: tuple[Any, ...] = y, weight, raw.shape[1]
        cached, prepared = self._entries.get(matrix, (None, loss))
        is_new = cached is None or not all(map(np.array_equal, cached, data))
        if is_new:
            prepared = prepare_for_scores(loss, y, raw, weight)
            self._entries[matrix] = data, prepared
        return prepared, y, weight, is_new

    def __reduce__(self) -> tuple[type[PreparedLossCache], tuple[()]]:
        # Matrices can neither be pickled nor copied.
        return PreparedLossCache, ()


@dataclass(frozen=True, eq=False)
class MatrixObjective:
    """A loss for the native interface: ``objective(scores, matrix) -> gradient, hessian``.

    Instances can be pickled, and one may serve many boosters at once. Sample weights of the matrix are applied,
    and the loss is prepared for the targets of the matrix: its labels, or those of ``attach(matrix, y=...)``.

    Parameters
    ----------
    loss : Loss
        The loss to minimise. A classification loss expects labels 0 .. K-1.
    unset : float, optional
        The host's initial score if no baseline was set; the objective warns if it is far from the baseline.

    Raises
    ------
    ValueError
        In a call: if the matrix has no labels or labels that the loss does not accept, the host grows another
        number of scores, or the loss returns invalid values or derivatives.
    """

    loss: Loss
    unset: float | None = None
    _cache: PreparedLossCache = field(default_factory=PreparedLossCache, repr=False)

    def __call__(self, scores: Array, matrix: Any) -> tuple[Array, Array]:
        """Derivatives at raw `scores`, of their shape, (n,) or (n, C), for targets and weights of a matrix."""
        raw = as_columns(scores)
        loss, y, weight, is_new = self._cache.prepare(self.loss, raw, matrix)
        if self.unset is not None and np.all(scores == self.unset):
            warn_of_start(self.unset, loss, y, weight)
        gradient, hessian = weighted_derivatives(loss, y, raw, weight, 0 if is_new else None)
        return gradient.reshape(np.shape(scores)), hessian.reshape(np.shape(scores))


@dataclass(frozen=True, eq=False)
class MatrixMetric:
    """The weighted mean of a loss for the native interface: ``metric(scores, matrix) -> name, value``.

    The host shows it for evaluation sets and uses it for early stopping; lower is better.

    Parameters
    ----------
    loss : Loss
        The loss, evaluated at raw scores and prepared for the targets of each matrix.
    name : str
        The name of the metric in the host.
    """

    loss: Loss
    name: str
    _cache: PreparedLossCache = field(default_factory=PreparedLossCache, repr=False)

    def __call__(self, scores: Array, matrix: Any) -> tuple[str, float]:
        """Name and value, as ``xgboost.train(custom_metric=...)`` expects them."""
        raw = as_columns(scores)
        loss, y, weight, _ = self._cache.prepare(self.loss, raw, matrix)
        return self.name, mean_loss(loss, y, raw, weight)


@dataclass(frozen=True, eq=False)
class ArrayObjective:
    """A prepared loss for the scikit-learn interface: ``objective(y, scores, weight) -> gradient, hessian``.

    `conversion` maps the host's scores to raw scores; derivatives are with respect to the host's. `class_factors`,
    (K,), are factors on the weights of rows by their class.
    """

    loss: Loss
    conversion: ScoreConversion = field(default_factory=ScoreConversion)
    class_factors: Array | None = None

    def __call__(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
        """Derivatives, of the shape of `y_pred`."""
        raw, slope, y = self.conversion.raw(y_pred), self.conversion.slope, as_columns(y_true)
        weight = times_class_factors(float_weights(sample_weight, len(raw)), y, self.class_factors)
        gradient, hessian = weighted_derivatives(self.loss, y.reshape(len(raw), -1), raw, weight)
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
        y = as_columns(y_true).reshape(len(raw), -1)
        return mean_loss(self.loss, y, raw, float_weights(sample_weight, len(raw)))


def metric_on_predictions(
    metric: Callable[..., Any], loss: Loss, conversion: ScoreConversion
) -> Callable[..., Any]:
    """Wrap a user's metric of predictions for a host that passes scores, as with a callable objective.

    The result has the name and signature of `metric`, which hosts inspect.
    """

    @wraps(metric)
    def wrapped(y_true: Array, y_pred: Array, *args: Any, **kwargs: Any) -> Any:
        response = np.asarray(loss.inverse_link(conversion.raw(y_pred)))
        # Hosts pass the probabilities of the second of two classes.
        one = response.shape[1] == (2 if loss.task == "classification" else 1)
        return metric(y_true, response[:, -1] if one else response, *args, **kwargs)

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
    y, weight = rows_of_weight(weight, y, weight)
    baseline = compute_baseline(loss, y, weight)
    check_baseline(loss, baseline, y)
    if not np.allclose(baseline, start, atol=1e-3):
        warn_user(
            f"training starts from {start:g}, the baseline of {loss!r} is {baseline.round(4)}: see intercept() in "
            f"rffboost_ext.interop"
        )


def read_targets(matrix: Any) -> Array:
    """The targets of a matrix, (n, K) in float64; a ValueError if it has none, a TypeError if it is no matrix."""
    if not hasattr(matrix, "get_label"):
        raise TypeError(
            f"the objective and metric are for train(), which passes a matrix; got {type(matrix).__name__}. "
            f"For the scikit-learn interface use XGBClassifier, XGBRegressor, LGBMClassifier or LGBMRegressor of "
            f"rffboost_ext.interop with loss=..."
        )
    labels = matrix.get_label()
    if labels is None or not len(labels):
        raise ValueError("the matrix has no labels, which the objective and metric need")
    return as_columns(labels)


def read_weights(matrix: Any, n_samples: int) -> Array:
    """The sample weights of a matrix, (n,), 1 if it has none."""
    # get_weight() of a Dataset fails before its data are binned, which train() does with its parameters.
    weight = matrix.weight if is_unbinned(matrix) else matrix.get_weight()
    weight = float_weights(weight if weight is not None and len(weight) else None, n_samples)
    if not np.any(weight):
        raise ValueError("the weights of the matrix must not all be 0")
    return weight


def float_weights(weight: Array | None, n_samples: int) -> Array:
    """Sample weights in float64, 1 by default."""
    return np.ones(n_samples) if weight is None else np.asarray(weight, dtype=np.float64)


def times_class_factors(weight: Array, y: Array, factors: Array | None) -> Array:
    """Sample weights (n,) times factors by class, (K,), of class indices (n, 1)."""
    return weight if factors is None else weight * factors[y[:, 0].astype(np.intp)]


def rows_of_weight(weight: Array, *arrays: Array) -> tuple[Array, ...]:
    """The rows of arrays whose weight is positive: others are left out of a loss."""
    counts = weight > 0.0
    return arrays if counts.all() else tuple(array[counts] for array in arrays)


def prepare_for_scores(loss: Loss, y: Array, raw: Array, weight: Array) -> Loss:
    """The loss prepared for targets (n, K), with the checks of the boosting loop at a host's raw scores (n, C)."""
    y, raw, weight = rows_of_weight(weight, y, raw, weight)
    require_finite_target(loss, y)
    with require_columns(loss, y):
        loss = prepare_loss(loss, y, weight, n_classes_of_scores(loss, y, raw.shape[1]))
        check_class_indices(loss, y, raw[0])
        check_values_of_some_rows(loss, y, raw, weight)
    return loss


def n_classes_of_scores(loss: Loss, y: Array, n_scores: int) -> int | None:
    """The number of classes with which a loss has a host's number of scores; None for a regression.

    Raises
    ------
    ValueError
        If the loss has another number of scores for the targets, or does not support as many classes.
    """
    seen = None if loss.task == "regression" else max(2, int(y.max()) + 1)
    if seen is not None:
        require_multiclass(loss, seen)
    # Rows may lack classes.
    known = [seen] if seen is None or seen > n_scores else [seen, n_scores]
    for n_classes in known:
        if loss.n_scores(y, n_classes) == n_scores:
            return n_classes
    raise wrong_number_of_scores(loss, loss.n_scores(y, seen), n_scores)


def wrong_number_of_scores(loss: Loss, needed: int, n_scores: int) -> ValueError:
    """The error for a host that grows another number of scores than a loss needs."""
    name = "num_class" if loss.task == "classification" else "num_target in XGBoost, or num_class in LightGBM,"
    return ValueError(
        f"loss {loss!r} has {needed} scores for this target, the host grows {n_scores}: set {name}={needed}, and "
        f"give a target whose columns are not one for each score by attach(matrix, y=...)"
    )


def prepare_for_outputs(loss: Loss, n_outputs: int) -> Loss:
    """The loss whose link applies to a model of `n_outputs` scores if its targets are not available."""
    y, weight = np.zeros((1, 1)), np.ones(1)
    if loss.task == "regression" or n_outputs == 1 or loss.n_scores(y, n_outputs) != n_outputs:
        return loss
    return loss.prepared(y, weight, n_outputs)


def prepare_for_training(loss: Loss, y: Array, weight: Array, n_classes: int | None = None) -> tuple[Loss, Array]:
    """The prepared loss and its baseline, (C,), for targets (n, K), with every check of a first round."""
    y, weight = rows_of_weight(weight, y, weight)
    require_finite_target(loss, y)
    with require_columns(loss, y):
        loss, baseline = prepare_with_baseline(loss, y, weight, n_classes)
        weighted_derivatives(loss, y, np.tile(baseline, (len(y), 1)), weight, index=0)
    return loss, baseline


def weighted_derivatives(
    loss: Loss, y: Array, raw: Array, weight: Array, index: int | None = None
) -> tuple[Array, Array]:
    """Gradient and hessian of ``loss.unit`` times a prepared loss, weights applied, (n, C) each.

    `index` is the host's round, None if unknown. Rows of weight 0 are left out and have derivatives of 0.

    Raises
    ------
    ValueError
        If the derivatives are not finite arrays of the shape of `raw`, hessians are negative, or the loss changes
        an array.
    """
    counts = weight > 0.0
    if not counts.all():
        gradient, hessian = np.zeros((2, *raw.shape))
        found = weighted_derivatives(loss, y[counts], raw[counts], weight[counts], index)
        gradient[counts], hessian[counts] = found
        return gradient, hessian
    derivatives = scale_derivatives(loss, compute_derivatives(loss, y, raw, weight, index))
    check_derivatives(loss, derivatives, raw, index)
    gradient, hessian = derivatives
    return gradient * weight[:, None], np.maximum(hessian, LEAST_HESSIAN) * weight[:, None]


def newton_step(loss: Loss, y: Array, weight: Array) -> Array:
    """The scores, (C,), after a step of Newton's method from 0: where XGBoost starts if it weights classes."""
    n_scores = len(compute_baseline(loss, y, weight))
    gradient, hessian = weighted_derivatives(loss, y, np.zeros((len(y), n_scores)), weight)
    return -gradient.sum(axis=0) / hessian.sum(axis=0)


def mean_loss(loss: Loss, y: Array, raw: Array, weight: Array) -> float:
    """The weighted mean of a loss for targets (n, K) and raw scores (n, C)."""
    return MeanLoss(loss)(*rows_of_weight(weight, y, raw, weight))
