"""The rows on which a fit is evaluated round by round, and by what."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .boosting import prepared
from .callbacks import Error
from .core import Array, Loss
from .ensemble import Ensemble
from .history import History
from .losses import LOSSES
from .metrics import Metric, View, metrics_of
from .rows import weighted_rows
from .training import Rows


@dataclass(frozen=True)
class Evaluation:
    """Sets of rows and metrics; the last of each is what early stopping watches.

    Parameters
    ----------
    sets : mapping of str to Rows
        The user's sets by name.
    metrics : tuple of Metric
        What is computed on each.
    """

    sets: Mapping[str, Rows]
    metrics: tuple[Metric, ...]

    @property
    def watched(self) -> Rows | None:
        """The rows of the user's that early stopping watches."""
        return list(self.sets.values())[-1] if self.sets else None

    @property
    def error(self) -> Error:
        """What early stopping watches."""
        return self.metrics[-1].error

    def history(self, start: Callable[[], Ensemble]) -> History | None:
        """A callback that keeps the metrics; None where there are no sets."""
        return History(self.sets, self.metrics, start()) if self.sets else None


def evaluation_of(
    model: Any, sets: Mapping[str, Rows], loss: Loss, rows: Rows, classes: Array | None
) -> Evaluation:
    """How the fit of an estimator that minimises `loss` on `rows` is evaluated."""
    n_classes = None if classes is None else len(classes)
    auto = isinstance(model.loss, str) and model.loss == "auto"
    given = model.default_loss if auto else model.loss
    name = given if isinstance(given, str) else LOSSES.name_of(given)
    view = View(loss, name, classes, lambda other: prepared(other, rows.y, rows.weight, n_classes))
    return Evaluation(sets, metrics_of(model.eval_metric, view))


def sets_of(
    model: Any, eval_set: Any, encode: Callable[[Array], Array], factors: Array | None = None
) -> dict[str, Rows]:
    """The user's sets, validated and encoded, by name; `factors` are the weights of classes, if they have any.

    Raises
    ------
    TypeError, ValueError
        If ``eval_set`` is neither a list of pairs or triples nor a mapping to such, or one does not fit the model.
    """
    owner = type(model).__name__
    if eval_set is None:
        return {}
    pairs = eval_set if isinstance(eval_set, list | Mapping) else [eval_set]
    named = pairs if isinstance(pairs, Mapping) else {f"validation_{k}": pair for k, pair in enumerate(pairs)}
    sizes = (2, 3) if pairs is eval_set else (2,)
    if not named or not all(isinstance(pair, tuple) and len(pair) in sizes for pair in named.values()):
        raise TypeError(
            f"{owner}: eval_set must be a list of (X, y) pairs or (X, y, weight) triples, or such by name, got "
            f"{reprlib.repr(eval_set)}"
        )
    return {str(name): rows_of(model, str(name), pair, encode, factors) for name, pair in named.items()}


def rows_of(
    model: Any, name: str, given: tuple[Any, ...], encode: Callable[[Array], Array], factors: Array | None
) -> Rows:
    """One set, a pair or a triple, as a fit has it: without the rows of weight 0."""
    try:
        X, y = model._validated(given[0]), np.asarray(given[1])
    except (ValueError, TypeError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"eval_set {name!r}: {error}") from error
    if len(y) != len(X):
        raise ValueError(f"{type(model).__name__}: eval_set must have as many y as X, got {len(y)} and {len(X)}")
    X, y, weight = weighted_rows(X, encode(y), *given[2:] or (None,))
    if not np.isfinite(y).all():
        raise ValueError(f"{type(model).__name__}: eval_set must have finite y, got {y[~np.isfinite(y)][0]}")
    return Rows(X, y, weight if factors is None else weight * factors[y[:, 0].astype(np.int64)])
