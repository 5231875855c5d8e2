"""LightGBM's scikit-learn estimators with our losses."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from ..core import Loss
from ..preprocessing.targets import decode_labels, squeeze
from ..utils.atomic_fit import atomic_fit
from ..utils.typing import Array
from .estimator_mixin import PARAMETERS, HostEstimatorMixin
from .initial_scores import PreviousModel, in_scores, increases
from .lightgbm_model import TextModel, parsed
from .links import LIGHTGBM, link_of
from .objectives import ArrayMetric, ArrayObjective
from .score_conversion import ScoreConversion

WITHOUT = "objective, class_weight, scale_pos_weight, is_unbalance and those of its own losses, such as alpha"
RANKING = {"auc", "average_precision"}
"""Metrics that depend on the order of scores only."""

# LightGBM's aliases of parameters; its alias "loss" of the objective is our own parameter.
OBJECTIVE = ("objective_type", "app", "application")
METRIC = ("metric", "metrics", "metric_types")
FOREIGN = {
    "alpha": ("quantile", "delta"),
    "tweedie_variance_power": ("power",),
    **dict.fromkeys(("fair_c", "poisson_max_delta_step", "reg_sqrt", "sigmoid", "boost_from_average"), ()),
    **dict.fromkeys(("lambdarank_truncation_level", "lambdarank_norm", "label_gain"), ()),
    "lambdarank_position_bias_regularization": (),
}
"""Parameters of LightGBM's objectives, none of which has an alias, and what our losses call them."""


@dataclass(frozen=True)
class Evaluation:
    """A metric for LightGBM: name, value, and False, as lower is better."""

    metric: ArrayMetric

    def __call__(self, y_true: Array, y_pred: Array, weight: Array | None = None) -> tuple[str, float, bool]:
        """The triple."""
        return self.metric.name, self.metric(y_true, y_pred, weight), False


class Shell(HostEstimatorMixin):
    """Base class of classifier and regressor.

    LightGBM stores no intercept for a callable, so the baseline is kept here and added to its raw scores.
    """

    _other_params: dict[str, Any]
    weighing = ("scale_pos_weight", "is_unbalance", "unbalance", "unbalanced_sets")
    foreign = FOREIGN

    @classmethod
    def _host(cls) -> Any:
        """LightGBM's own class."""
        return next(base for base in cls.__mro__ if base.__module__.startswith("lightgbm."))

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # The constructor passes the rest on as keywords, which scikit-learn does not inspect.
        return sorted({"loss", *cls._host()._get_param_names()})

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Fit to X (n, d) and y (n,); further arguments are LightGBM's.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Labels, or real targets.
        sample_weight : array-like of shape (n,), optional
        **kwargs
            Arguments of LightGBM's ``fit``. A fit that goes on from an ``init_model`` keeps its baseline, which is
            0 unless it is an estimator of ours; one with an ``init_score`` has none, and ``predict`` leaves the
            score to the user, as LightGBM does.

        Raises
        ------
        ValueError, TypeError
            If the loss is unknown, for another task, not for such targets, or not that of an ``init_model``.
        """
        self._prepare(y, sample_weight, kwargs.get("init_model"), kwargs.get("init_score"))
        self._require_readable("eval_metric", kwargs.get("eval_metric"))
        for spelling in METRIC:
            self._require_readable(spelling, self._other_params.get(spelling))
        given = kwargs.pop("eval_metric", None)
        metrics = Evaluation(self._own_metric()) if given is None else self._shown(given)
        super().fit(X, y, sample_weight=sample_weight, eval_metric=metrics, **kwargs)  # type: ignore[misc]
        return self

    def predict(self, X: Any, raw_score: bool = False, **kwargs: Any) -> Array:
        """Predict by the loss's own link.

        Parameters
        ----------
        X : array-like of shape (n, d)
        raw_score : bool, default=False
            Whether to return raw scores of the loss, baseline included.
        **kwargs
            Arguments of LightGBM's ``predict``. With ``pred_leaf`` leaves are returned as LightGBM numbers them,
            with ``pred_contrib`` contributions to raw scores, the bias term including the baseline.

        Returns
        -------
        ndarray of shape (n,)
            The most probable class, or the predicted mean; (n, C) for raw scores of several outputs.
        """
        if explains(kwargs):
            return self._explained(X, kwargs)
        raw = self._raw(X, **kwargs)
        return squeeze(raw) if raw_score else self._response(raw)

    def _prepare(self, y: Any, sample_weight: Any, model: Any, score: Any) -> None:
        """Set what LightGBM's own fit reads."""
        name, y = type(self).__name__, np.asarray(y)
        if getattr(self, "class_weight", None) is not None:
            raise ValueError(f"{name}: class_weight is not seen by the baseline; give sample_weight")
        if y.ndim == 2 and y.shape[1] > 1:
            raise ValueError(f"{name}: y must have one column, which is what LightGBM takes, got {y.shape[1]}")
        for spelling in OBJECTIVE:
            if spelling in self._other_params:
                given = self._other_params[spelling]
                raise ValueError(f"{name}: {spelling} must be left alone, the loss takes its place; got {given!r}")
        indices = np.unique(y, return_inverse=True)[1] if self.task == "classification" else y
        self._accept(indices.ravel(), sample_weight)
        n_outputs = len(self.baseline_)
        if model is not None:
            self.baseline_ = earlier(model).baseline(name, self.loss_, n_outputs)
        elif score is not None:
            self.baseline_ = np.zeros(n_outputs)
        self.objective = self._objective = ArrayObjective(self.loss_, self._reading(len(self.baseline_)))

    def _require_readable(self, parameter: str, metrics: Any) -> None:
        """Raise a ValueError for a metric of LightGBM's that would ignore the baseline and the link."""
        names = metrics if isinstance(metrics, list | tuple) else [metrics]
        ranking = sorted(RANKING) if increases(self.loss_, len(self.baseline_)) else []
        others = [name for name in names if isinstance(name, str) and name not in {*ranking, "None"}]
        if others:
            also = f", a function, or one of {ranking}" if ranking else " or a function"
            raise ValueError(
                f"{type(self).__name__}: {parameter} must be left alone{also}: LightGBM's metrics see scores "
                f"without baseline and link; got {others[0]!r}"
            )

    def _process_params(self, stage: str) -> dict[str, Any]:
        # "loss" is LightGBM's alias for its objective: call its own class, which has no such parameter.
        plain = copy(self)
        plain.__class__ = self._host()
        plain._other_params = {k: v for k, v in self._other_params.items() if k != "loss"}
        params: dict[str, Any] = plain._process_params(stage)
        # LightGBM's own metrics would ignore the baseline.
        return params if {*METRIC} & {*plain._other_params} else params | {"metric": "None"}

    def _reading(self, n_outputs: int) -> ScoreConversion:
        return ScoreConversion(super()._reading(n_outputs).slope, self.baseline_)

    def _raw(self, X: Any, **kwargs: Any) -> Array:
        """Raw scores, (n, C), the baseline included."""
        scores = lightgbm.LGBMModel.predict(self, X, raw_score=True, **kwargs)
        return self._reading(len(self.baseline_)).raw(scores)

    def _explained(self, X: Any, asked: dict[str, Any]) -> Array:
        """Leaves, or contributions to raw scores."""
        found = lightgbm.LGBMModel.predict(self, X, **asked)
        if asked.get("pred_leaf"):
            return np.asarray(found)
        # Those of sparse rows are sparse, one matrix for each output.
        parts = found if isinstance(found, list) else [found]
        shares = np.hstack([part.toarray() if hasattr(part, "toarray") else part for part in parts])
        return self._reading(len(self.baseline_)).contributions(shares)

    def _response(self, raw: Array) -> Array:
        return squeeze(self.loss_.inverse_link(raw))


def earlier(model: Any) -> PreviousModel:
    """The `init_model` of a fit: a model of LightGBM or the path of one."""
    if isinstance(model, Shell):
        n_outputs = len(model.baseline_)
        slope = HostEstimatorMixin._reading(model, n_outputs).slope
        return PreviousModel("init_model", slope * model.baseline_, in_scores(model.loss_, n_outputs))
    if isinstance(model, str | os.PathLike):
        booster = lightgbm.Booster(model_file=model)
    else:
        booster = model.booster_ if isinstance(model, lightgbm.LGBMModel) else model
    if not isinstance(booster, lightgbm.Booster):
        raise TypeError(f"init_model must be a model of LightGBM or the path of its file, got {model!r}")
    text = parsed(booster.model_to_string(num_iteration=1))
    start = np.zeros(booster.num_model_per_iteration())
    return PreviousModel("init_model", start, None if text.objective == "custom" else recorded_response(text))


def recorded_response(text: TextModel) -> Callable[[Array], Array]:
    """From the scores of a model of LightGBM to what it predicts."""
    link, slope = link_of(LIGHTGBM, text.objective, "LightGBM"), text.slope
    if text.squares:
        return lambda scores: np.sign(scores) * scores**2
    return lambda scores: link.inverse(slope * scores)


def explains(asked: dict[str, Any]) -> bool:
    """Whether arguments of LightGBM's ``predict`` ask for something other than scores."""
    return bool(asked.get("pred_leaf") or asked.get("pred_contrib"))


class LGBMClassifier(Shell, lightgbm.LGBMClassifier):
    __doc__ = f"""``lightgbm.LGBMClassifier`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, probabilities use its own link, sample weights apply. Pickle keeps all of
    it; a file of ``booster_.save_model`` holds the trees alone.

    Parameters
    ----------
    {PARAMETERS.format(loss="log_loss", task="classification", host="lightgbm.LGBMClassifier", without=WITHOUT)}

    Notes
    -----
    Where the loss reads raw scores as ``sigmoid(k raw)``, the booster grows on the log-odds ``k raw``, as for
    LightGBM's own logistic loss; ``raw_score=True`` returns ``raw``. Of LightGBM's own metrics those of ranking
    apply to two classes, auc and average_precision: others would ignore the baseline. A callable eval_metric is
    given probabilities as by LightGBM's own objectives: (n,) those of the second of two classes, else (n, K).
    """

    task = "classification"

    def __init__(self, *, loss: str | Loss = "log_loss", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def predict_proba(self, X: Any, raw_score: bool = False, **kwargs: Any) -> Array:
        """Class probabilities, (n, K), by the loss's own link; raw scores if `raw_score`."""
        if explains(kwargs):
            return self._explained(X, kwargs)
        raw = self._raw(X, **kwargs)
        return squeeze(raw) if raw_score else self.loss_.inverse_link(raw)

    def decision_function(self, X: Any, **kwargs: Any) -> Array:
        """Raw scores, (n,) where there is one output, else (n, C)."""
        return squeeze(self._raw(X, **kwargs))

    def _response(self, raw: Array) -> Array:
        return decode_labels(raw, self.classes_)


class LGBMRegressor(Shell, lightgbm.LGBMRegressor):
    __doc__ = f"""``lightgbm.LGBMRegressor`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, predictions use its own link, sample weights apply. Pickle keeps all of
    it; a file of ``booster_.save_model`` holds the trees alone.

    Parameters
    ----------
    {PARAMETERS.format(loss="squared_error", task="regression", host="lightgbm.LGBMRegressor", without=WITHOUT)}

    Notes
    -----
    A callable eval_metric is given what ``predict`` returns.
    """

    task = "regression"

    def __init__(self, *, loss: str | Loss = "squared_error", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)
