"""Scores of raw scores: by scorers of scikit-learn, and by metric functions of targets and predictions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..contracts.fit import require_accepted_target
from ..core import Loss, Observations
from ..rows.targets import decision_values, decode_labels, squeeze
from ..utils.typing import Array

ScoreFunction: TypeAlias = Callable[[Observations, Array], float]
"""``score(rows, raw)`` of rows with encoded targets (n, K), and raw scores (n, C) without the offset."""


@dataclass(frozen=True)
class ScoreDecoder:
    """Decodes the encoded targets and raw scores of a fit for metrics.

    Parameters
    ----------
    loss : Loss
        The loss of the fit, prepared.
    name : str
        The user's name of that loss.
    classes : ndarray, optional
        Class labels; None in regression.
    prepare : callable
        Prepares another loss for the targets of this fit, as :func:`~rffboost_ext.contracts.fit.prepare`.
    n_outputs : int, default=1
        Raw scores of each row.
    whole_response : bool, default=False
        Whether predictions are the response of the loss, such as all parameters of a distribution, not its mean.
    """

    loss: Loss
    name: str
    classes: Array | None
    prepare: Callable[[Loss], tuple[Loss, Array]]
    n_outputs: int = 1
    whole_response: bool = False

    def target(self, y: Array) -> Array:
        """Targets as passed to fit, (n,) or (n, C)."""
        if self.loss.multilabel:
            return y.astype(np.int64)
        if self.classes is not None:
            return np.asarray(self.classes[y[:, 0].astype(np.int64)])
        # A copy: a metric may modify it.
        return squeeze(y).copy()

    def prediction(self, raw: Array) -> Array:
        """Means (n,) or (n, C), or probabilities (n, K), of two classes the second's (n,), or of labels (n, L)."""
        response = self.loss.link.inverse(raw)
        if self.classes is not None and len(self.classes) == 2 and not self.loss.multilabel:
            return response[:, 1]
        return squeeze(response if self.whole_response else self.loss.prediction(response)).copy()

    def absent_classes(self, y: Array) -> str:
        """The classes without a row, for messages: many metrics require all of them."""
        if self.classes is None or self.loss.multilabel:
            return ""
        absent = np.setdiff1d(np.arange(len(self.classes)), y[:, 0]).astype(np.int64)
        return f"; none of these {len(y)} rows is of class {self.classes[absent].tolist()}" if len(absent) else ""


def score_of_loss(loss: Loss, y: Array, raw: Array, weight: Array) -> float:
    """The score of a regression by ``Loss.scored_by``: minus the mean loss, or R2 of a response for each target.

    A ValueError says that the prepared loss does not accept the targets (n, K), or they need other scores than the
    raw ones (n, C).
    """
    from sklearn.metrics import r2_score

    n_scores = loss.n_scores(y)
    if n_scores != raw.shape[1]:
        raise ValueError(
            f"y must have the columns of the fit: for {y.shape[1]} loss {loss!r} needs {n_scores} scores, and the "
            f"model has {raw.shape[1]}"
        )
    require_accepted_target(loss, y)
    response = loss.link.inverse(raw)
    if loss.scored_by == "r2" and response.shape == y.shape:
        return float(r2_score(y, response, sample_weight=weight))
    return -float(np.average(Observations(y, weight).losses(loss, raw), weights=weight))


def score_function(scorer: object) -> Callable[..., float] | None:
    """The metric function of a scorer of scikit-learn, which has no public attribute for it; else None."""
    return getattr(scorer, "_score_func", None)


def metric_score(name: str, metric: Callable[..., Any], decoder: ScoreDecoder) -> ScoreFunction:
    """The score by a scorer of scikit-learn or by a function ``metric(y_true, y_pred[, sample_weight])``.

    Its errors name the metric and its arguments.
    """
    function = score_function(metric)
    parameter = sample_weight_parameter(function or metric)
    estimator: RawScoreEstimator = RawScoreRegressor(decoder)
    arguments = "targets and means"
    if decoder.classes is not None:
        estimator = RawScoreClassifier(decoder)
        arguments = "labels and probabilities; a scorer of scikit-learn, by name, may take predicted labels"

    def score(rows: Observations, raw: Array) -> float:
        keywords, raw = {}, rows.total(raw)
        # Equal weights make no difference to a metric that does not require them.
        if parameter is not None and (parameter.default is parameter.empty or np.ptp(rows.weight) > 0.0):
            keywords["sample_weight"] = rows.weight.copy()
        try:
            if function is None:
                return float(metric(decoder.target(rows.y), decoder.prediction(raw), **keywords))
            return float(metric(estimator, raw, decoder.target(rows.y), **keywords))
        except Exception as error:  # a user's function may raise anything
            kind = TypeError if isinstance(error, TypeError | AttributeError) else ValueError
            reason = f"{type(error).__name__}: {error}"
            raise kind(
                f"eval_metric: {name!r} makes no number of {arguments}{decoder.absent_classes(rows.y)} ({reason})"
            ) from error

    return score


def sample_weight_parameter(function: Callable[..., Any]) -> inspect.Parameter | None:
    """The parameter ``sample_weight`` of a function; None without one, or of a compiled one without signature."""
    try:
        return inspect.signature(function).parameters.get("sample_weight")
    except ValueError:
        return None


class RawScoreEstimator(BaseEstimator):
    """A fitted estimator for scorers whose X are raw scores (n, C)."""

    def __init__(self, decoder: ScoreDecoder) -> None:
        self.decoder = decoder

    def __sklearn_is_fitted__(self) -> bool:
        return True


class RawScoreClassifier(ClassifierMixin, RawScoreEstimator):
    """A classifier whose X are raw scores."""

    @property
    def classes_(self) -> Array:
        """Class labels."""
        return np.asarray(self.decoder.classes)

    def decision_function(self, X: Array) -> Array:
        """The decision function, (n,), (n, K) or (n, L)."""
        return decision_values(X, len(self.classes_), self.decoder.loss)

    def predict_proba(self, X: Array) -> Array:
        """Class probabilities, (n, K)."""
        return self.decoder.loss.link.inverse(X)

    def predict(self, X: Array) -> Array:
        """The most probable classes, (n,), or indicators of labels, (n, L)."""
        return decode_labels(self.predict_proba(X), self.classes_, self.decoder.loss.multilabel)


class RawScoreRegressor(RegressorMixin, RawScoreEstimator):
    """A regressor whose X are raw scores."""

    def predict(self, X: Array) -> Array:
        """Means, (n,) or (n, C)."""
        return self.decoder.prediction(X)
