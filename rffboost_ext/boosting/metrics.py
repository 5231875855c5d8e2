"""Evaluation metrics: losses, scorers of scikit-learn, functions."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..core import Loss
from ..losses import LabelRegression
from ..losses.registry import LOSSES
from ..utils.param_validation import Check
from ..utils.typing import Array
from .mean_loss import MeanLoss
from .scorers import Score, View, checked, computed, is_scorer, lacking, scored

# Scorers of scikit-learn by their names in XGBoost and LightGBM.
ELSEWHERE = {
    "auc": "roc_auc",
    "aucpr": "average_precision",
    "error": "accuracy",
    "merror": "accuracy",
    "logloss": "log_loss",
    "mlogloss": "log_loss",
    "multi_logloss": "log_loss",
    "rmse": "neg_root_mean_squared_error",
    "mse": "neg_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "mape": "neg_mean_absolute_percentage_error",
}


@dataclass(frozen=True)
class Metric:
    """A metric of raw scores.

    Parameters
    ----------
    name : str
        Its name.
    greater : bool
        Whether greater is better.
    on : callable
        From rows X (n, d) to ``score(y, raw, weight) -> float``, with y (n, 1) or (n, C) as a loss sees it, raw
        (n, C) and weight (n,).
    view : View, optional
        What scores and targets stand for, by which errors tell of classes that no row has.
    """

    name: str
    greater: bool
    on: Callable[[Array], Score]
    view: View | None = None

    def error_on(self, X: Array) -> Score:
        """The score on rows X (n, d) with the sign by which less is better; a ValueError if it lacks a class."""
        score, view, sign = self.on(X), self.view, -1.0 if self.greater else 1.0
        if view is None:
            return score

        def error(y: Array, raw: Array, weight: Array) -> float:
            found = sign * score(y, raw, weight)
            if np.isnan(found) and lacking(y, view):
                raise ValueError(
                    f"eval_metric: {self.name!r} must be a number on the held-out rows, got nan{lacking(y, view)}"
                )
            return found

        return error


class Metrics(Check):
    """What ``eval_metric`` may be: None, a name, a loss, a function, or a list of these."""

    def fits(self, value: object) -> bool:
        if isinstance(value, list | tuple):
            return len(value) > 0 and all(self._one(item) for item in value)
        return value is None or self._one(value)

    def accepts(self, value: object) -> bool:
        return True

    def __str__(self) -> str:
        return "None, a name, a Loss, a function of (y, prediction), or a list of these that is not empty"

    @staticmethod
    def _one(value: object) -> bool:
        return isinstance(value, str | Loss) or (callable(value) and not isinstance(value, type))


def metrics_of(given: Any, view: View) -> tuple[Metric, ...]:
    """The metrics that ``eval_metric`` stands for; the loss itself if it is None.

    Raises
    ------
    ValueError
        If a name is unknown, a loss interprets raw scores differently from that of the fit, or two names are
        equal.
    """
    several: Sequence[Any] = given if isinstance(given, list | tuple) else [given]
    made = tuple(metric_of(one, view) for one in several)
    names = [metric.name for metric in made]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"eval_metric must have names that differ, got {', '.join(twice)} more than once")
    return made


def metric_of(given: Any, view: View) -> Metric:
    """One metric."""
    if given is None or is_loss(given):
        return of_loss(given, view)
    name, greater = described(given)
    scorer = named_scorer(given) if isinstance(given, str) else given
    asks = is_scorer(scorer)

    def on(X: Array) -> Score:
        return checked(name, scored(scorer, view, X) if asks else computed(scorer, view), view)

    return Metric(name, greater, on, view)


def described(given: Any) -> tuple[str, bool]:
    """The name of a given metric, and whether greater is better."""
    if isinstance(given, str):
        return given, not is_loss(given)
    if isinstance(given, Loss):
        return LOSSES.name_of(given), False
    # A scorer of scikit-learn is named after its function, with its sign.
    function = getattr(given, "_score_func", given)
    while isinstance(function, partial):
        function = function.func
    name = getattr(function, "__name__", type(function).__name__)
    name = name if getattr(given, "_sign", 1) > 0 else f"neg_{name}"
    return name, is_scorer(given) or name.endswith("_score")


def is_loss(given: Any) -> bool:
    """Whether a metric that is given is a loss."""
    return isinstance(given, Loss) or given in LOSSES.names()


def of_loss(given: str | Loss | None, view: View) -> Metric:
    """The weighted mean of a loss."""
    name = view.name if given is None else described(given)[0]
    loss = view.loss if given is None or given == view.name else other_loss(given, view)
    return Metric(name, False, lambda X: MeanLoss(loss))


def other_loss(given: str | Loss, view: View) -> Loss:
    """A loss other than that of the fit, prepared; a ValueError if it interprets raw scores differently."""
    loss = LOSSES.create(given)
    if view.classes is not None and loss.task == "regression":
        loss = LabelRegression(loss)
    if view.n_targets > 1 and not loss.multi_output:
        raise ValueError(
            f"eval_metric: loss {given!r} is of one target, and y has {view.n_targets}; use a scorer of "
            f"scikit-learn, such as 'neg_mean_absolute_error'"
        )
    if loss.task == view.loss.task:
        loss = view.prepare(loss)
        raw = np.random.default_rng(0).uniform(-3.0, 3.0, (16, 1 if view.classes is None else outputs_of(view)))
        found, wanted = loss.inverse_link(raw), view.loss.inverse_link(raw)
        if found.shape == wanted.shape and np.allclose(found, wanted):
            return loss
    raise ValueError(
        f"eval_metric: loss {given!r} reads raw scores in another way than {view.loss!r}, the loss of the fit; "
        f"use a scorer of scikit-learn, such as {'neg_log_loss' if view.classes is not None else 'r2'!r}"
    )


def outputs_of(view: View) -> int:
    """Raw scores per row of a classifier."""
    n_classes = 2 if view.classes is None else len(view.classes)
    return 1 if n_classes == 2 else n_classes


def named_scorer(name: str) -> Any:
    """The scorer of scikit-learn of that name, or a ValueError that names close ones."""
    from sklearn.metrics import get_scorer, get_scorer_names

    known = [*LOSSES.names(), *get_scorer_names()]
    if name not in known:
        same = [ELSEWHERE[name.casefold()]] if name.casefold() in ELSEWHERE else []
        near = [other for other in known if name.casefold() in other.replace("_", "") or name in other]
        close = same or difflib.get_close_matches(name, known, n=3, cutoff=0.5) or near[:3]
        hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
        raise ValueError(
            f"eval_metric: unknown name {name!r}.{hint} It may be a loss ({', '.join(LOSSES.names())}) or one "
            f"of sklearn.metrics.get_scorer_names()"
        )
    return get_scorer(name)
