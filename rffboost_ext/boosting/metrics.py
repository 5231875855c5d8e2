"""Evaluation metrics: losses, scorers of scikit-learn, functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..core import Loss, Observations
from ..losses import LabelRegression
from ..losses.coupling import Coupling, Grouped
from ..losses.registry import LOSSES
from ..metrics.registry import METRICS, find_metric
from ..utils.param_validation import OPTIONAL, Function, Instance, SequenceOf
from ..utils.registry import did_you_mean
from ..utils.typing import Array
from .early_stopping.monitor import ErrorFunction, MeanLoss
from .scorers import ScoreDecoder, ScoreFunction, metric_score, score_function

METRIC = Instance(str) | Instance(Loss) | Function("(y, prediction)")
EVAL_METRIC = OPTIONAL | METRIC | SequenceOf(METRIC, "these")
"""Allowed values of ``eval_metric``."""


@dataclass(frozen=True)
class EvaluationMetric:
    """A metric of raw scores.

    Parameters
    ----------
    name : str
        Its name.
    greater_is_better : bool
        Whether greater is better.
    score : callable
        ``score(rows, raw) -> float`` of rows with encoded targets, and raw scores (n, C) without their offset.
    decoder : ScoreDecoder, optional
        Names absent classes in errors; None for a loss.
    coupling : Coupling, optional
        How it couples rows: a loss, or groups of a loss; None if it may be computed on any rows.
    """

    name: str
    greater_is_better: bool
    score: ScoreFunction
    decoder: ScoreDecoder | None = None
    coupling: Coupling | None = None

    @property
    def error(self) -> ErrorFunction:
        """The score, negated if greater is better; it raises a ValueError if it is NaN for want of a class."""
        decoder, sign = self.decoder, -1.0 if self.greater_is_better else 1.0
        if decoder is None:
            return self.score

        def error(rows: Observations, raw: Array) -> float:
            value = sign * self.score(rows, raw)
            if np.isnan(value) and (absent := decoder.absent_classes(rows.y)):
                raise ValueError(
                    f"eval_metric: {self.name!r} must be a number on the held-out rows, got nan{absent}"
                )
            return value

        return error


def resolve_metrics(metric: Any, decoder: ScoreDecoder) -> tuple[EvaluationMetric, ...]:
    """The metrics of ``eval_metric``.

    Raises
    ------
    ValueError
        If a name is unknown, a loss interprets raw scores differently from that of the fit, or two names are
        equal.
    """
    items: Sequence[Any] = metric if isinstance(metric, list | tuple) else [metric]
    if not items:
        raise ValueError(f"eval_metric must have at least one metric, got {metric!r}")
    metrics = tuple(resolve_metric(one, decoder) for one in items)
    names = [metric.name for metric in metrics]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"eval_metric must have names that differ, got {', '.join(twice)} more than once")
    return metrics


def resolve_metric(metric: Any, decoder: ScoreDecoder) -> EvaluationMetric:
    """One metric."""
    if isinstance(metric, Loss) or metric in LOSSES.names():
        loss = decoder.loss if metric == decoder.name else compatible_loss(metric, decoder)
        return EvaluationMetric(name_and_direction(metric)[0], False, MeanLoss(loss), coupling=loss)
    named, coupling = find_metric(metric) if isinstance(metric, str) else None, None
    if named is not None:
        name, greater, function = metric, named.greater_is_better, named.function
        coupling = Grouped(decoder.loss) if named.of_groups else None
        if named.needs_loss:
            function = partial(function, loss=decoder.loss)
            decoder = replace(decoder, whole_response=True)
    else:
        name, greater = name_and_direction(metric)
        function = named_scorer(metric) if isinstance(metric, str) else metric
    return EvaluationMetric(name, greater, metric_score(name, function, decoder), decoder, coupling)


def name_and_direction(metric: Any) -> tuple[str, bool]:
    """The name of a metric, and whether greater is better."""
    if isinstance(metric, str):
        return metric, metric not in LOSSES.names()
    if isinstance(metric, Loss):
        return LOSSES.name_of(metric), False
    # A scorer of scikit-learn is named after its function, with its sign.
    function = score_function(metric) or metric
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    name = name if getattr(metric, "_sign", 1) > 0 else f"neg_{name}"
    return name, score_function(metric) is not None or name.endswith("_score")


def compatible_loss(metric: str | Loss, decoder: ScoreDecoder) -> Loss:
    """A loss other than that of the fit, prepared; a ValueError if it interprets raw scores differently."""
    loss = LOSSES.create(metric)
    if decoder.classes is not None and loss.task == "regression":
        loss = LabelRegression(loss)
    if loss.task == decoder.loss.task:
        try:
            loss, _ = decoder.prepare(loss)
        except ValueError as error:
            raise ValueError(f"eval_metric: {error}; a scorer of scikit-learn may do") from error
        if loss.link == decoder.loss.link:
            return loss
    raise ValueError(
        f"eval_metric: loss {metric!r} reads raw scores in another way than {decoder.loss!r}, the loss of the "
        f"fit; use a scorer of scikit-learn, such as {'neg_log_loss' if decoder.classes is not None else 'r2'!r}"
    )


def named_scorer(name: str) -> Any:
    """The scorer of scikit-learn of that name, or a ValueError that names close ones."""
    from sklearn.metrics import get_scorer, get_scorer_names

    names = [*LOSSES.names(), *METRICS, *get_scorer_names()]
    if name not in names:
        raise ValueError(
            f"eval_metric: unknown name {name!r}.{did_you_mean(name, names, 'Metrics')} It may be a loss "
            f"({', '.join(LOSSES.names())}), a metric ({', '.join(METRICS)}) or one "
            f"of sklearn.metrics.get_scorer_names()"
        )
    return get_scorer(name)
