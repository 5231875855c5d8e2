"""Predictions and scores of a model on the rows of a source, in bounded memory."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from sklearn.base import is_classifier, is_regressor

from ..core.loss import COUPLED
from ..rows.tables import number_array
from ..utils.typing import Array
from .core import Batch, Part, Source
from .sample import batch_weight, draw, groups_or_rows, positive_rows
from .schema import conforming, require_count, rows_named

T = TypeVar("T")

LossOfRows: TypeAlias = Callable[[Any, Any, Any, Any], float]
"""The mean loss of rows X, y with weights and groups, of which there may be none."""


def predict(model: Any, rows: Source, method: str = "predict") -> Iterator[Array]:
    """Predictions for the rows of a source, batch by batch in the order in which they are read.

    Parameters
    ----------
    model : fitted estimator
    rows : Source
        It needs no targets.
    method : str, default="predict"
        The method of the model, such as "predict_proba" or "predict_interval", that is called with each batch.

    Yields
    ------
    ndarray of shape (m,) or (m, W)
        What the method returns for the m rows of a batch.

    Raises
    ------
    TypeError, ValueError
        If `rows` is no source, or the model has no such method.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, sources
    >>> X = np.linspace(-3, 3, 1000)[:, None]
    >>> model = RFFBoostRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
    >>> sum(len(part) for part in sources.predict(model, sources.arrays(X)))
    1000
    """
    require_source("sources.predict", rows)
    call = getattr(model, method, None)
    if not callable(call):
        raise ValueError(f"sources.predict: method must be one of {type(model).__name__}, got {method!r}")
    return predictions(call, rows)


def predictions(call: Callable[[Any], T], rows: Source) -> Iterator[T]:
    """What a function returns for each batch; a ValueError if there are not as many rows as the source said."""
    count, latest = 0, None
    for part in rows.parts():
        for batch, schema in conforming(part, schema=latest):
            latest = schema
            with rows_named(batch.row, batch.name_of):
                values = call(batch.X)
            count += len(batch)
            yield values
    require_count("the source", rows.n_rows, count)


def score(model: Any, rows: Source) -> float:
    """The score of a model, ``model.score``, on the rows of a source, with their weights.

    It is computed on all rows, up to rounding, where it is R2 or a mean over rows, such as an accuracy or a mean
    loss. Other scores, such as those of rankers, survival models and quantiles, are of a uniform sample of at most
    ``rows.max_rows`` rows, with whole groups.

    Parameters
    ----------
    model : fitted estimator
    rows : Source
        With targets.

    Returns
    -------
    float

    Raises
    ------
    TypeError, ValueError
        If `rows` is no source, or its rows have no target or no weight.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, sources
    >>> X = np.arange(100.0)[:, None]
    >>> rows = sources.arrays(X, X[:, 0])
    >>> model = RFFBoostRegressor(learner="tree", n_estimators=50).fit(rows)
    >>> sources.score(model, rows) > 0.9
    True
    """
    require_source("sources.score", rows)
    return score_and_loss(model, rows).score


class Scores(NamedTuple):
    """The score of a model and its mean loss, and the number of rows that they are of."""

    score: float
    loss: float
    n_rows: int


def score_and_loss(model: Any, rows: Source, loss: LossOfRows | None = None, coupled: bool = False) -> Scores:
    """The score of a model and its mean loss, 0 without `loss`, in one pass over the rows of a source.

    Both are of the same sample if one of them is not a mean over rows: a loss is not if its rows are `coupled`.
    """
    kind = kind_of_score(model)
    if kind is None or coupled:
        sample = draw(rows, 0, groups=groups_or_rows)
        query = {"qid": sample.groups} if "qid" in inspect.signature(model.score).parameters else {}
        with sample.rows_named():
            value = 0.0 if loss is None else loss(sample.X, sample.y, sample.weight, sample.groups)
        score = float(model.score(sample.X, sample.y, sample_weight=sample.weight, **query))
        return Scores(score, value, len(sample.y))
    moments = rows.reduce(ScorePass(model, kind == "r2", loss), Moments.merge)
    require_count("the source", rows.n_rows, moments.n_rows)
    if not 0.0 < moments.weight < np.inf:
        raise ValueError(f"sources.score: weight must have a positive and finite sum, got {moments.weight}")
    value = moments.r2() if kind == "r2" else float(np.squeeze(moments.mean))
    return Scores(value, moments.loss / moments.weight, moments.n_rows)


def kind_of_score(model: Any) -> str | None:
    """The score of a model: "r2", "mean" over rows, or None for one of all rows together."""
    if is_classifier(model):
        return "mean"
    # The score of quantiles is relative to the loss of constant quantiles of all rows.
    if not is_regressor(model) or hasattr(model, "quantiles"):
        return None
    loss = getattr(model, "loss_", None)
    if loss is None or loss.scored_by == "r2":
        return "r2"
    return None if loss.rows in COUPLED else "mean"


def require_source(owner: str, rows: Any) -> None:
    """Raise a TypeError unless `rows` is a source."""
    if not isinstance(rows, Source):
        raise TypeError(
            f"{owner}: rows must be a source, such as sources.arrays makes, got a {type(rows).__name__}"
        )


@dataclass(frozen=True)
class Moments:
    """Sums over weighted rows, by targets.

    Parameters
    ----------
    weight : float
        The sum of weights.
    mean, total : ndarray of shape (K,)
        The mean, and the sum of squared differences from it.
    residual : ndarray of shape (K,)
        The sum of squared errors.
    n_rows : int
        Number of rows.
    loss : float
        The sum of losses.
    """

    weight: float = 0.0
    mean: Array | float = 0.0
    total: Array | float = 0.0
    residual: Array | float = 0.0
    n_rows: int = 0
    loss: float = 0.0

    def merge(self, other: Moments) -> Moments:
        """The sums over the rows of two (Chan, Golub and LeVeque, 1983)."""
        weight, n_rows = self.weight + other.weight, self.n_rows + other.n_rows
        if not weight:
            return replace(self, n_rows=n_rows)
        share, step = other.weight / weight, np.subtract(other.mean, self.mean)
        return Moments(
            weight,
            self.mean + share * step,
            self.total + other.total + self.weight * share * np.square(step),
            self.residual + other.residual,
            n_rows,
            self.loss + other.loss,
        )

    def r2(self) -> float:
        """The coefficient of determination, on average over targets; of a constant target as scikit-learn's."""
        total, residual = np.atleast_1d(self.total), np.atleast_1d(self.residual)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(total > 0.0, residual / total, np.where(residual > 0.0, 1.0, 0.0))
        return float(np.mean(1.0 - share))


@dataclass(frozen=True)
class ScorePass:
    """What a pass over the rows of a source computes for the score of a model.

    Parameters
    ----------
    model : fitted estimator
    is_r2 : bool
        Whether the score is R2, and not a mean over rows.
    loss : callable, optional
        The mean loss of rows.
    """

    model: Any
    is_r2: bool
    loss: LossOfRows | None = None

    def __call__(self, part: Part) -> Moments:
        """The sums over the rows of a part."""
        moments = Moments()
        for batch, _ in conforming(part):
            if batch.y is None:
                raise ValueError("sources.score: rows must have targets, got none")
            used = positive_rows(batch)
            kept = batch if used.all() else batch.take(np.flatnonzero(used))
            with rows_named(kept.row, kept.name_of):
                own = self.read(kept) if len(kept) else Moments()
            moments = moments.merge(replace(own, n_rows=len(batch)))
        return moments

    def read(self, batch: Batch) -> Moments:
        """The sums over the rows of a batch."""
        weight = batch_weight(batch)
        total = float(weight.sum())
        loss = 0.0 if self.loss is None else total * self.loss(batch.X, batch.y, weight, batch.group)
        if not self.is_r2:
            return Moments(total, np.array([self.model.score(batch.X, batch.y, weight)]), loss=loss)
        y = number_array(batch.y).astype(np.float64).reshape(len(batch), -1)
        error = y - self.model.predict(batch.X).reshape(y.shape)
        mean = np.average(y, axis=0, weights=weight)
        return Moments(total, mean, weight @ np.square(y - mean), weight @ np.square(error), loss=loss)
