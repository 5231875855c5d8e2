"""A loss as the objective and the metric of another library's loop.

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

from ..core import Loss
from ..losses.registry import LOSSES
from ..losses.validation import compute_baseline, prepare_loss, scale_derivatives
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .score_conversion import ScoreConversion, columns

# A leaf divides by the sum of hessians; XGBoost has the same lower bound in its own logistic loss.
LEAST_HESSIAN = 1e-16


class Preparations:
    """A cache of losses prepared for the labels of matrices: some sort them to estimate a scale."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Any, tuple[Any, ...]] = WeakKeyDictionary()

    def __call__(self, loss: Loss, y: Array, weight: Array | None, n_outputs: int, matrix: Any) -> Loss:
        """The loss prepared for the current labels and weights of `matrix` and for `n_outputs` outputs."""
        data = y, np.ones(len(y)) if weight is None else weight, n_outputs
        *known, made = self._known.get(matrix, (None,))
        if not known or not all(map(np.array_equal, known, data)):
            made = prepared_for(loss, y.reshape(len(data[1]), -1), weight, n_outputs)
            self._known[matrix] = *data, made
        return made

    def __reduce__(self) -> tuple[type[Preparations], tuple[()]]:
        # Matrices can neither be pickled nor copied.
        return Preparations, ()


@dataclass(frozen=True)
class Objective:
    """A loss for the native interface: ``objective(scores, matrix) -> gradient, hessian``.

    Instances can be pickled, and one may serve many boosters at once. Sample weights of the matrix are applied;
    hessians are bounded below by 1e-16 times the weight. What a loss estimates from its targets, such as a scale,
    is estimated from the labels of the matrix.

    Parameters
    ----------
    loss : Loss
        The loss to minimise. A classification loss expects labels 0 .. K-1.
    unset : float, optional
        The host's initial score when no baseline was set; the objective warns if that is far from the baseline.
    """

    loss: Loss
    unset: float | None = None
    _prepared: Preparations = field(default_factory=Preparations, repr=False, compare=False)

    def __call__(self, scores: Array, matrix: Any) -> tuple[Array, Array]:
        """Derivatives at raw `scores`, (n,) or (n, C), for the labels and weights of a matrix.

        Parameters
        ----------
        scores : ndarray of shape (n,) or (n, C)
        matrix : xgboost.DMatrix or lightgbm.Dataset

        Returns
        -------
        gradient, hessian : ndarray of the shape of `scores`

        Raises
        ------
        ValueError
            If the matrix has no labels, or labels that the loss cannot use.
        """
        raw, y, weight = columns(scores), labels(matrix), weights(matrix)
        loss = self._prepared(self.loss, y, weight, raw.shape[1], matrix)
        if self.unset is not None and np.ravel(scores)[0] == self.unset and np.all(scores == self.unset):
            warn_of_start(self.unset, loss, targets(loss, y, raw), weight)
        gradient, hessian = weighted_derivatives(loss, y, raw, weight)
        return gradient.reshape(np.shape(scores)), hessian.reshape(np.shape(scores))


@dataclass(frozen=True)
class Metric:
    """The weighted mean of a loss: what the host shows for evaluation sets, and stops early by; lower is better.

    Parameters
    ----------
    loss : Loss
        The loss, evaluated at raw scores. What it estimates from its targets, such as Huber's delta unless that is
        a number, is estimated from the labels of each matrix.
    name : str
        How the host calls it.
    """

    loss: Loss
    name: str
    _prepared: Preparations = field(default_factory=Preparations, repr=False, compare=False)

    def __call__(self, scores: Array, matrix: Any) -> tuple[str, float]:
        """Name and value, as ``xgboost.train(custom_metric=...)`` expects them."""
        raw, y, weight = columns(scores), labels(matrix), weights(matrix)
        loss = self._prepared(self.loss, y, weight, raw.shape[1], matrix)
        return self.name, mean_loss(loss, y, raw, weight)


@dataclass(frozen=True)
class ArrayObjective:
    """A loss for the scikit-learn interfaces: ``objective(y, scores, weight) -> gradient, hessian``.

    Parameters
    ----------
    loss : Loss
        The loss to minimise, prepared.
    reading : Reading
        From the host's scores to raw ones. Derivatives are with respect to the host's.
    """

    loss: Loss
    reading: ScoreConversion = field(default_factory=ScoreConversion)

    def __call__(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
        """Derivatives, of the shape of `y_pred`."""
        raw, slope = self.reading.raw(y_pred), self.reading.slope
        gradient, hessian = weighted_derivatives(self.loss, y_true, raw, sample_weight)
        return (gradient / slope).reshape(np.shape(y_pred)), (hessian / slope**2).reshape(np.shape(y_pred))


@dataclass(frozen=True)
class ArrayMetric:
    """The same for scikit-learn interfaces: ``metric(y, scores, weight) -> float``.

    Parameters
    ----------
    loss : Loss
        Prepared.
    name : str
        How the host calls it.
    reading : Reading
        From the host's scores to raw ones.
    """

    loss: Loss
    name: str
    reading: ScoreConversion = field(default_factory=ScoreConversion)

    @property
    def __name__(self) -> str:
        """XGBoost reads the name of a function."""
        return self.name

    def __call__(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> float:
        """The weighted mean."""
        return mean_loss(self.loss, y_true, self.reading.raw(y_pred), sample_weight)


def on_predictions(metric: Callable[..., Any], loss: Loss, reading: ScoreConversion) -> Callable[..., Any]:
    """A user's metric, given predictions where a host with a callable objective passes its scores.

    Parameters
    ----------
    metric : callable
        ``metric(y, predictions, ...)``, as the host takes it.
    loss : Loss
        Prepared; its link maps raw scores to predictions.
    reading : Reading
        From the host's scores to raw ones.

    Returns
    -------
    callable
        Of the same name and signature, which hosts inspect.
    """

    @wraps(metric)
    def shown(y_true: Array, y_pred: Array, *args: Any, **kwargs: Any) -> Any:
        return metric(y_true, predictions(loss, reading.raw(y_pred)), *args, **kwargs)

    # A callable object need not have a name, which XGBoost reads.
    shown.__name__ = getattr(metric, "__name__", type(metric).__name__)
    return shown


def predictions(loss: Loss, raw: Array) -> Array:
    """What hosts pass to metrics: means, (n, K) probabilities, or (n,) those of the second of two classes."""
    found = np.asarray(loss.inverse_link(raw))
    return found[:, -1] if raw.shape[1] == 1 else found


def metric(loss: str | Loss) -> Metric:
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
    made = LOSSES.create(loss)
    return Metric(made, metric_name(made))


def warn_of_start(start: float, loss: Loss, y: Array, weight: Array | None) -> None:
    """Warn if training starts far from the baseline of a prepared loss."""
    baseline = loss.baseline(y, np.ones(len(y)) if weight is None else weight)
    if not np.allclose(baseline, start, atol=1e-3):
        warn_user(
            f"training starts from {start:g}, the baseline of {loss!r} is {baseline.round(4)}: see intercept() in "
            f"rffboost_ext.interop"
        )


def labels(matrix: Any) -> Array:
    """The labels of a matrix, in float64; a ValueError if it has none, a TypeError if it is not a matrix."""
    if not hasattr(matrix, "get_label"):
        raise TypeError(
            f"the objective and metric are for train(), which hands over a matrix; got {type(matrix).__name__}. "
            f"For the scikit-learn interface take XGBClassifier, XGBRegressor, LGBMClassifier or LGBMRegressor of "
            f"rffboost_ext.interop with loss=..."
        )
    found = matrix.get_label()
    if found is None or not len(found):
        raise ValueError("the matrix has no labels, which the objective and metric need")
    return np.asarray(found, dtype=np.float64)


def weights(matrix: Any) -> Array | None:
    """The sample weights of a matrix, None if it has none."""
    found = matrix.get_weight()
    if found is None or not len(found):
        return None
    if not np.any(found):
        raise ValueError("the weights of the matrix must not all be 0")
    return np.asarray(found, dtype=np.float64)


def targets(loss: Loss, y: Array, raw: Array) -> Array:
    """Labels in the shape that `loss` expects for raw scores, (n, 1) or (n, C), checked."""
    y = np.asarray(y, dtype=np.float64).reshape(len(raw), -1)
    require_targets(loss, y, max(2, raw.shape[1]))
    return y


def require_targets(loss: Loss, y: Array, n_classes: int) -> None:
    """Raise a ValueError unless labels suit a loss; -1 and 1 would be taken for other classes silently."""
    if y.shape[1] > 1 and not loss.multi_output:
        raise ValueError(f"loss {loss!r} is for one target, got {y.shape[1]} columns of labels")
    if loss.task == "regression":
        return
    strange = y[(y != np.floor(y)) | (y < 0) | (y >= n_classes)]
    if strange.size:
        more = "; for more classes set num_class" if loss.multiclass else ""
        raise ValueError(
            f"objective of {loss!r}: labels must be class indices 0 .. {n_classes - 1}, got {strange[0]:g}{more}"
        )


def prepared_for(loss: Loss, y: Array, weight: Array | None, n_outputs: int | None = None) -> Loss:
    """The loss prepared for labels (n, C), with the number of classes from the outputs if these are known."""
    n_classes = int(y.max()) + 1 if n_outputs is None else n_outputs
    require_targets(loss, y, max(2, n_classes))
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    known = None if loss.task == "regression" or n_outputs is None else max(2, n_outputs)
    return prepare_loss(loss, y, weight, known)


def for_outputs(loss: Loss, n_outputs: int) -> Loss:
    """The loss whose link applies to a model of `n_outputs` outputs, where its labels are no longer available."""
    many = loss.task == "classification" and n_outputs > 1
    return loss.prepared(np.zeros((1, 1)), np.ones(1), n_outputs) if many else loss


def fitted_to(loss: Loss, y: Array, weight: Array | None) -> tuple[Loss, Array]:
    """The prepared loss and its baseline, (C,), for labels (n,) or (n, C)."""
    y = columns(y)
    loss = prepared_for(loss, y, weight)
    weight = np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64)
    return loss, compute_baseline(loss, y, weight)


def weighted_derivatives(loss: Loss, y: Array, raw: Array, weight: Array | None) -> tuple[Array, Array]:
    """Gradient and bounded hessian of a prepared loss at raw scores, in its unit, weights applied, (n, C) each."""
    gradient, hessian = scale_derivatives(loss, loss.derivatives(targets(loss, y, raw), raw))
    hessian = np.maximum(hessian, LEAST_HESSIAN)
    if weight is None:
        return gradient, hessian
    return gradient * weight[:, None], hessian * weight[:, None]


def mean_loss(loss: Loss, y: Array, raw: Array, weight: Array | None) -> float:
    """The weighted mean of a loss over rows."""
    return float(np.average(loss.value(targets(loss, y, raw), raw), weights=weight))


def metric_name(loss: Loss) -> str:
    """What an evaluation log calls a loss: its registered name, else that of its class."""
    return LOSSES.name_of(loss)
