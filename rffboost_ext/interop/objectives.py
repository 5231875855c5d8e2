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

from ..boosting.metrics import resolve_metric
from ..boosting.scorers import ScoreDecoder, ScoreFunction
from ..core import Loss, Observations
from ..losses.registry import LOSSES
from ..losses.validation import check_baseline, compute_baseline
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .matrix_rows import (
    float_weights,
    read_targets,
    read_weights,
    require_whole_groups,
    rows_of_weight,
    times_class_factors,
)
from .prepared_losses import prepare_for_scores
from .score_conversion import ScoreConversion, as_columns
from .weighted_losses import mean_loss, weighted_derivatives


class PreparedLossCache:
    """Losses prepared for the targets of matrices, which may take sorting all of them."""

    def __init__(self) -> None:
        self._entries: WeakKeyDictionary[Any, tuple[Any, Loss]] = WeakKeyDictionary()

    def prepare(self, loss: Loss, raw: Array, matrix: Any) -> tuple[Loss, Array, Array, bool]:
        """The prepared loss, targets (n, K), weights, and whether they are new, for raw scores on a matrix."""
        y, weight = read_targets(matrix, loss), read_weights(matrix, len(raw))
        data: tuple[Any, ...] = y, weight, raw.shape[1]
        cached, prepared = self._entries.get(matrix, (None, loss))
        is_new = cached is None or not all(map(np.array_equal, cached, data))
        if is_new:
            require_whole_groups(loss, y, matrix)
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
    """A metric of raw scores for the scikit-learn interface: ``metric(y, scores, weight) -> float``.

    `score` is that of rows and raw scores (n, C), such as a mean loss; `conversion` maps
    the host's scores to raw scores; `name` is the name of the metric in the host.
    """

    score: ScoreFunction
    name: str
    conversion: ScoreConversion = field(default_factory=ScoreConversion)
    greater_is_better: bool = False

    @property
    def __name__(self) -> str:
        """The name of the function, which XGBoost reads."""
        return self.name

    def __call__(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> float:
        """The weighted mean."""
        raw = self.conversion.raw(y_pred)
        y, weight = as_columns(y_true).reshape(len(raw), -1), float_weights(sample_weight, len(raw))
        y, raw, weight = rows_of_weight(weight, y, raw, weight)
        return self.score(Observations(y, weight), raw)


def named_metric(name: str, loss: Loss, conversion: ScoreConversion, n_outputs: int) -> ArrayMetric:
    """The metric of ``rffboost_ext.metrics`` of a name, such as "ndcg@10", for a prepared loss."""
    found = resolve_metric(name, ScoreDecoder(loss, name, None, lambda other: other, n_outputs))
    return ArrayMetric(found.score, name, conversion, found.greater_is_better)


def metric_on_predictions(
    metric: Callable[..., Any], loss: Loss, conversion: ScoreConversion
) -> Callable[..., Any]:
    """Wrap a user's metric of predictions for a host that passes scores, as with a callable objective.

    The result has the name and signature of `metric`, which hosts inspect.
    """

    @wraps(metric)
    def wrapped(y_true: Array, y_pred: Array, *args: Any, **kwargs: Any) -> Any:
        response = np.asarray(loss.link.inverse(conversion.raw(y_pred)))
        # Hosts pass the probabilities of the second of two classes.
        one = not loss.multilabel and response.shape[1] == (2 if loss.task == "classification" else 1)
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
    baseline = compute_baseline(loss, Observations(y, weight))
    check_baseline(loss, baseline, y)
    if not np.allclose(baseline, start, atol=1e-3):
        warn_user(
            f"training starts from {start:g}, the baseline of {loss!r} is {baseline.round(4)}: see intercept() in "
            f"rffboost_ext.interop"
        )
