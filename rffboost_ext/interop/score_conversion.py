"""Losses at the scores of a host: conversion of these scores, prepared losses, and objectives of arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any

import numpy as np

from ..boosting.metrics import resolve_metric
from ..boosting.scorers import ScoreDecoder, ScoreFunction
from ..contracts.fit import (
    check_derivatives,
    check_in_fit,
    is_foreign,
    prepare,
    prepared_loss,
    require_finite_target,
    require_known_classes,
)
from ..core import Link, Loss, Observations
from ..losses.links import BinaryLogitLink
from ..utils.typing import Array


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

    `conversion` maps the host's scores to raw scores; derivatives are with respect to the host's.
    """

    loss: Loss
    conversion: ScoreConversion = field(default_factory=ScoreConversion)

    def __call__(self, y_true: Array, y_pred: Array, sample_weight: Array | None = None) -> tuple[Array, Array]:
        """Derivatives, of the shape of `y_pred`."""
        raw, slope, y = self.conversion.raw(y_pred), self.conversion.slope, as_columns(y_true)
        weight = float_weights(sample_weight, len(raw))
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
    metric = resolve_metric(name, ScoreDecoder(loss, name, None, lambda other: other, n_outputs))
    return ArrayMetric(metric.score, name, conversion, metric.greater_is_better)


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


# A leaf divides by the sum of hessians, which may be 0 where the fit is perfect; XGBoost has the same lower bound
# in its own logistic loss.
LEAST_HESSIAN = 1e-16


def prepare_for_training(loss: Loss, rows: Observations, n_classes: int | None = None) -> tuple[Loss, Array]:
    """The prepared loss and its baseline, (C,), checked."""
    rows = rows.take(rows.weight > 0.0)
    require_finite_target(loss, rows.y)
    return prepare(loss, rows, n_classes)


def prepare_for_scores(loss: Loss, rows: Observations, raw: Array) -> Loss:
    """The prepared loss, with the checks of the boosting loop at a host's raw scores (n, C)."""
    raw, rows = raw[rows.weight > 0.0], rows.take(rows.weight > 0.0)
    require_finite_target(loss, rows.y)
    n_classes = n_classes_of_scores(loss, rows.y, raw.shape[1])
    loss = prepared_loss(loss, rows, n_classes)
    require_known_classes(loss, rows.y, raw[0])
    if is_foreign(loss):
        check_in_fit(loss, rows, raw.mean(axis=0), n_classes)
    return loss


def prepare_for_outputs(loss: Loss, n_outputs: int, n_targets: int = 1) -> Loss:
    """The loss whose link applies to a model of `n_outputs` scores if its targets are not available.

    A classification of several targets, `n_targets`, is one of labels, which need not exclude one another. A
    ValueError says that the link depends on the targets: those made up here result in different links.
    """
    is_of_classes = loss.task == "classification" and n_targets == 1
    n_classes = max(2, n_outputs) if is_of_classes else None
    y = np.arange(float(n_classes))[:, None] if n_classes else np.tile([[0.0], [1.0], [1.0]], n_targets)
    try:
        if loss.n_scores(y, n_classes) != n_outputs:
            return loss
        samples = y, np.vstack([y, y[-1:]])
        prepared, other = (loss.prepared(rows, np.ones(len(rows)), n_classes) for rows in samples)
        if loss.task == "regression" or n_outputs == 1:
            prepared = loss
        if prepared.link == other.link:
            return prepared
    except Exception:  # a user's loss may raise anything, and targets of a regression are of any kind
        if loss.task == "regression":
            return loss
    raise ValueError(
        f"bind: the link of loss {loss!r} depends on the targets of the training; pass the objective of the "
        f"training, or the prepared loss"
    )


def n_classes_of_scores(loss: Loss, y: Array, n_scores: int) -> int | None:
    """The number of classes with which a loss has a host's number of scores; None for a regression.

    A loss that has another number of scores for any number of classes raises a ValueError.
    """
    n_present = None if loss.task == "regression" else max(2, int(y.max()) + 1)
    loss.n_scores(y, n_present)
    # Rows may lack classes.
    candidates = [n_present] if n_present is None or n_present > n_scores else [n_present, n_scores]
    for n_classes in candidates:
        if loss.n_scores(y, n_classes) == n_scores:
            return n_classes
    needed = loss.n_scores(y, n_present)
    name = "num_class" if loss.task == "classification" and not loss.multilabel else "num_target"
    raise ValueError(
        f"loss {loss!r} has {needed} scores for this target, the host grows {n_scores}: set {name}={needed}, as "
        f"intercept() of XGBoost does; LightGBM calls both num_class. Targets whose columns are not one for each "
        f"score are given by attach(matrix, y=...)"
    )


def has_score_for_each_class(loss: Loss, baseline: Array) -> bool:
    """Whether a prepared loss has as many scores as classes, as the hosts' own losses of several classes."""
    is_of_classes = loss.task == "classification" and not loss.multilabel
    return is_of_classes and loss.link.inverse(baseline[None]).shape[1] == len(baseline)


def weighted_in_units(loss: Loss, rows: Observations, raw: Array) -> tuple[Array, Array]:
    """Gradient and hessian of ``loss.scales.unit`` times a prepared loss, weights applied, (n, C) each.

    Rows of weight 0 are left out and have derivatives of 0. Invalid derivatives raise a ValueError.
    """
    counts = rows.weight > 0.0
    if not counts.all():
        gradient, hessian = np.zeros((2, *raw.shape))
        gradient[counts], hessian[counts] = weighted_in_units(loss, rows.take(counts), raw[counts])
        return gradient, hessian
    derivatives = loss.scales.apply(rows.derivatives(loss, raw))
    check_derivatives(loss, derivatives, raw, "in training")
    gradient, hessian = derivatives
    weight = rows.weight[:, None]
    return gradient * weight, np.maximum(hessian, LEAST_HESSIAN) * weight


def score_of_rows(score: ScoreFunction, rows: Observations, raw: Array) -> float:
    """The score of raw scores (n, C), such as a mean loss, without the rows of weight 0."""
    counts = rows.weight > 0.0
    return score(rows.take(counts), raw[counts])
