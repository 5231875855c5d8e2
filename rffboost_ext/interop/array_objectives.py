"""A prepared loss as the objective and the metric of a host's scikit-learn interface, which passes arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np

from ..boosting.metrics import resolve_metric
from ..boosting.scorers import ScoreDecoder, ScoreFunction
from ..core import Loss, Observations
from ..utils.typing import Array
from .prepared_losses import score_of_rows, weighted_in_units
from .score_conversion import ScoreConversion, as_columns, float_weights


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
        weight = float_weights(sample_weight, len(raw))
        if self.class_factors is not None:
            weight = weight * self.class_factors[y[:, 0].astype(np.intp)]
        rows = Observations(y.reshape(len(raw), -1), weight)
        gradient, hessian = weighted_in_units(self.loss, rows, raw)
        return (gradient / slope).reshape(np.shape(y_pred)), (hessian / slope**2).reshape(np.shape(y_pred))


@dataclass(frozen=True, eq=False)
class ArrayMetric:
    """A metric of raw scores for the scikit-learn interface: ``metric(y, scores, weight) -> float``.

    `score` is that of rows and raw scores (n, C), such as a mean loss; `conversion` maps the host's scores to raw
    scores; `name` is the name of the metric in the host.
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
        raw, y = self.conversion.raw(y_pred), as_columns(y_true)
        rows = Observations(y.reshape(len(raw), -1), float_weights(sample_weight, len(raw)))
        return score_of_rows(self.score, rows, raw)

    def with_direction(self, y_true: Array, y_pred: Array, weight: Array | None = None) -> tuple[str, float, bool]:
        """Name, value, and whether greater is better, as LightGBM expects them."""
        return self.name, self(y_true, y_pred, weight), self.greater_is_better


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
