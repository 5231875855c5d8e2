"""Scores of a host as raw scores of a loss, and objectives and metrics of arrays for the hosts' estimators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np

from ..boosting.metrics import resolve_metric
from ..boosting.scorers import ScoreDecoder, ScoreFunction
from ..core import Link, Loss, Observations
from ..losses.links import BinaryLogitLink
from ..utils.typing import Array
from .prepared_losses import score_of_rows, weighted_in_units


@dataclass(frozen=True, eq=False)
class ScoreConversion:
    """The conversion of a host's scores to raw scores: ``raw = scores / slope + offset``.

    Attributes
    ----------
    slope : float
        The host's score per unit of raw score.
    offset : ndarray of shape (C,)
        The baseline if the host cannot store it, else 0.
    """

    slope: float = 1.0
    offset: Array = field(default_factory=lambda: np.zeros(1))

    def raw(self, scores: Any) -> Array:
        """Raw scores, (n, C), for scores of the host, (n,) or (n, C)."""
        return np.asarray(as_columns(scores) / self.slope + self.offset)


def as_columns(scores: Any) -> Array:
    """Scores (n,) or (n, C) as (n, C) in float64."""
    scores = np.asarray(scores, dtype=np.float64)
    return scores[:, None] if scores.ndim == 1 else scores


def float_weights(weight: Array | None, n_samples: int) -> Array:
    """Sample weights in float64, 1 by default."""
    return np.ones(n_samples) if weight is None else np.asarray(weight, dtype=np.float64)


def slope_of(loss: Loss) -> float:
    """Log-odds per unit of raw score if the link is ``sigmoid(slope raw)``, else 1.

    The host then works on log-odds ``F = slope raw``, with derivatives of the scale of its own logistic loss: for
    the exponential loss, ``exp(-s F / 2)``, they are 1/2 and 1/4 at even odds. Learning rate and penalties keep
    their meaning, and the host's own link, metrics and files are correct.
    """
    return loss.link.slope if isinstance(loss.link, BinaryLogitLink) else 1.0


def host_link(loss: Loss) -> Link:
    """The link of a host's scores, ``slope`` times the raw scores of a loss."""
    return BinaryLogitLink() if isinstance(loss.link, BinaryLogitLink) else loss.link


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
