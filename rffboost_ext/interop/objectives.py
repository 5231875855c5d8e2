"""A loss as the objective and the metric of another library's loop.

The native interfaces of XGBoost and LightGBM hand over scores and a matrix that knows labels and weights; their
scikit-learn interfaces hand over arrays.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import Array, Loss
from ..losses import LOSSES

# A leaf divides by the sum of hessians; XGBoost bounds those of its own logistic loss by the same number.
LEAST_HESSIAN = 1e-16


@dataclass(frozen=True)
class Objective:
    """A loss as the native interface wants it: ``objective(scores, matrix) -> gradient, hessian``.

    Instances can be pickled and hold no state, so one may serve many boosters at once. Sample weights of
    the matrix are applied; hessians are bounded below by 1e-16 times the weight.

    Parameters
    ----------
    loss : Loss
        The loss to minimise. A classification loss wants labels 0 .. K-1.
    unset : float, optional
        The score at which the host starts where nobody has told it the baseline: met with a warning.
    """

    loss: Loss
    unset: float | None = None

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
        y, weight = labels(matrix), weights(matrix)
        if self.unset is not None and np.ravel(scores)[0] == self.unset and np.all(scores == self.unset):
            warn_of_start(self.unset, self.loss, y.reshape(len(scores), -1), weight)
        return weighted_derivatives(self.loss, y, scores, weight)


@dataclass(frozen=True)
class ArrayObjective:
    """A loss as the scikit-learn interfaces want it: ``objective(y, scores, weight) -> gradient, hessian``.

    Parameters
    ----------
    loss : Loss
        The loss to minimise.
    offset : ndarray of shape (C,), default=0
        What is added to scores: the baseline, where the host cannot hold it.
    """

    loss: Loss
    offset: Array = field(default_factory=lambda: np.zeros(1))

    def __call__(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
        """Derivatives, of the shape of `y_pred`."""
        return weighted_derivatives(self.loss, y_true, moved(y_pred, self.offset), sample_weight)


@dataclass(frozen=True)
class Metric:
    """The weighted mean of a loss: what the host shows for evaluation sets, and stops early by; lower is better.

    Parameters
    ----------
    loss : Loss
        The loss, evaluated at raw scores.
    name : str
        How the host calls it.
    """

    loss: Loss
    name: str

    def __call__(self, scores: Array, matrix: Any) -> tuple[str, float]:
        """Name and value, as ``xgboost.train(custom_metric=...)`` wants them."""
        return self.name, mean_loss(self.loss, labels(matrix), scores, weights(matrix))


@dataclass(frozen=True)
class ArrayMetric:
    """The same for scikit-learn interfaces: ``metric(y, scores, weight) -> float``.

    Parameters
    ----------
    loss : Loss
    name : str
        How the host calls it.
    offset : ndarray of shape (C,), default=0
        What is added to scores.
    """

    loss: Loss
    name: str
    offset: Array = field(default_factory=lambda: np.zeros(1))

    @property
    def __name__(self) -> str:
        """XGBoost asks functions for their name."""
        return self.name

    def __call__(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> float:
        """The weighted mean."""
        return mean_loss(self.loss, y_true, moved(y_pred, self.offset), sample_weight)


def warn_of_start(start: float, loss: Loss, y: Array, weight: Array | None) -> None:
    """Warn if training starts far from the baseline of the loss."""
    baseline = baseline_of(loss, y, weight)
    if not np.allclose(baseline, start, atol=1e-3):
        warnings.warn(
            f"training starts from {start:g}, the baseline of {loss!r} is {baseline.round(4)}: see intercept() in "
            f"rffboost_ext.interop",
            stacklevel=4,
        )


def labels(matrix: Any) -> Array:
    """The labels of a matrix, as it has them; a ValueError if it has none, a TypeError if it is no matrix."""
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
    return None if found is None or not len(found) else np.asarray(found, dtype=np.float64)


def targets(loss: Loss, y: Array, raw: Array) -> Array:
    """Labels as `loss` wants them, (n, 1) or (n, C), checked."""
    y = np.asarray(y, dtype=np.float64).reshape(len(raw), -1)
    if loss.task == "classification":
        require_indices(y, max(2, raw.shape[1]), loss)
    return y


def columns(scores: Array) -> Array:
    """Scores (n,) or (n, C) as (n, C) in float64."""
    return np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)


def moved(scores: Array, offset: Array) -> Array:
    """Scores plus an offset (C,), in the shape of `scores`."""
    return np.asarray((columns(scores) + offset).reshape(np.shape(scores)))


def weighted_derivatives(loss: Loss, y: Array, scores: Array, weight: Array | None) -> tuple[Array, Array]:
    """Gradient and bounded hessian at `scores`, weights applied, each of the shape of `scores`."""
    raw = columns(scores)
    gradient, hessian = loss.derivatives(targets(loss, y, raw), raw)
    hessian = np.maximum(hessian, LEAST_HESSIAN)
    if weight is not None:
        gradient, hessian = gradient * weight[:, None], hessian * weight[:, None]
    return gradient.reshape(np.shape(scores)), hessian.reshape(np.shape(scores))


def mean_loss(loss: Loss, y: Array, scores: Array, weight: Array | None) -> float:
    """The weighted mean of a loss over rows."""
    raw = columns(scores)
    return float(np.average(loss.value(targets(loss, y, raw), raw), weights=weight))


def require_indices(y: Array, n_classes: int, loss: Loss) -> None:
    """Raise a ValueError unless y holds class indices; labels -1 and 1 would be taken for others silently."""
    strange = y[(y != np.floor(y)) | (y < 0) | (y >= n_classes)]
    if strange.size:
        raise ValueError(
            f"objective of {loss!r}: labels must be class indices 0 .. {n_classes - 1}, got {strange[0]:g}"
        )


def baseline_of(loss: Loss, y: Array, weight: Array | None) -> Array:
    """The constant raw score that `loss` starts from, (C,), for labels (n,) or (n, C)."""
    y = np.asarray(y, dtype=np.float64).reshape(len(y), -1)
    if loss.task == "classification":
        require_indices(y, max(2, int(y.max()) + 1), loss)
    return loss.baseline(y, np.ones(len(y)) if weight is None else np.asarray(weight, dtype=np.float64))


def metric_name(loss: Loss) -> str:
    """What an evaluation log calls a loss: its registered name, else that of its class."""
    return LOSSES.name_of(loss)
