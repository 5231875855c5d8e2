"""LightGBM's scikit-learn estimators with our losses."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from ..core import Array, Loss
from ..estimators import squeeze
from ..losses import LOSSES
from .objectives import ArrayMetric, ArrayObjective, baseline_of, columns, metric_name


@dataclass(frozen=True)
class Evaluation:
    """A metric as LightGBM wants it: name, value, and that higher is not better."""

    metric: ArrayMetric

    def __call__(self, y_true: Array, y_pred: Array, weight: Array | None = None) -> tuple[str, float, bool]:
        """The triple."""
        return self.metric.name, self.metric(y_true, y_pred, weight), False


class Shell:
    """What both estimators share: the loss takes the place of the objective, its baseline that of the average.

    LightGBM stores no intercept for a callable, so the baseline is kept here and added to its raw scores.
    """

    task: str
    loss: str | Loss
    loss_: Loss
    objective: Any
    _other_params: dict[str, Any]
    baseline_: Array

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # The constructor hands the rest over as keywords, which scikit-learn does not look into.
        return sorted({"loss", *super()._get_param_names()})  # type: ignore[misc]

    def _prepare(self, codes: Array, sample_weight: Any) -> None:
        """Set what LightGBM's own fit reads."""
        name = type(self).__name__
        loss: Loss = LOSSES.create(self.loss)
        if loss.task != self.task:
            raise ValueError(f"{name}: loss {self.loss!r} is for {loss.task}, not for {self.task}")
        if not (self.objective is None or isinstance(self.objective, ArrayObjective)):
            raise ValueError(
                f"{name}: objective must be left alone, the loss takes its place; got {self.objective!r}"
            )
        if getattr(self, "class_weight", None) is not None:
            raise ValueError(f"{name}: class_weight is not seen by the baseline; give sample_weight")
        if loss.task == "classification" and codes.max() > 1 and not loss.multiclass:
            raise ValueError(f"{name}: loss {loss!r} is for two classes, got {int(codes.max()) + 1}")
        self.loss_, self.baseline_ = loss, baseline_of(loss, codes, sample_weight)
        self.objective = self._objective = ArrayObjective(loss, self.baseline_)

    def _process_params(self, stage: str) -> dict[str, Any]:
        # "loss" is LightGBM's other name for its objective: its own class is asked, which has no such parameter.
        plain = copy(self)
        plain.__class__ = type(self).__mro__[2]
        plain._other_params = {k: v for k, v in self._other_params.items() if k != "loss"}
        params: dict[str, Any] = plain._process_params(stage)
        # LightGBM's own metrics would misread our raw scores.
        return params if "metric" in plain._other_params else params | {"metric": "None"}

    def _metric(self) -> Evaluation:
        return Evaluation(ArrayMetric(self.loss_, metric_name(self.loss_), self.baseline_))

    def _scores(self, X: Any, **kwargs: Any) -> Array:
        """Raw scores, (n, C), the baseline included."""
        return columns(lightgbm.LGBMModel.predict(self, X, raw_score=True, **kwargs)) + self.baseline_


class LGBMClassifier(Shell, lightgbm.LGBMClassifier):
    """``lightgbm.LGBMClassifier`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, probabilities are by its own link, sample weights count. Pickle keeps all
    of it; a file of ``booster_.save_model`` holds the trees alone.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        A classification loss: a registered name or an instance.
    **kwargs
        Parameters of ``lightgbm.LGBMClassifier`` but for objective and class_weight.

    Attributes
    ----------
    loss_ : Loss
        The loss that was minimised.
    baseline_ : ndarray of shape (C,)
        Raw score before the first tree.
    """

    task = "classification"

    def __init__(self, *, loss: str | Loss = "log_loss", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> LGBMClassifier:
        """Fit to X (n, d) and labels y (n,); further arguments are LightGBM's.

        Raises
        ------
        ValueError, TypeError
            If the loss is unknown, not for classification, or not for so many classes.
        """
        self._prepare(np.unique(np.asarray(y), return_inverse=True)[1], sample_weight)
        kwargs.setdefault("eval_metric", self._metric())
        super().fit(X, y, sample_weight=sample_weight, **kwargs)
        return self

    def predict_proba(self, X: Any, raw_score: bool = False, **kwargs: Any) -> Array:
        """Class probabilities, (n, K), by the loss's own link; raw scores if `raw_score`."""
        scores = self._scores(X, **kwargs)
        return squeeze(scores) if raw_score else self.loss_.inverse_link(scores)

    def predict(self, X: Any, raw_score: bool = False, **kwargs: Any) -> Array:
        """The most probable class of each row, (n,); raw scores if `raw_score`."""
        scores = self._scores(X, **kwargs)
        if raw_score:
            return squeeze(scores)
        index = (scores[:, 0] > 0.0).astype(int) if scores.shape[1] == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[index])

    def decision_function(self, X: Any, **kwargs: Any) -> Array:
        """Raw scores, (n,) where there is one output, else (n, C)."""
        return squeeze(self._scores(X, **kwargs))


class LGBMRegressor(Shell, lightgbm.LGBMRegressor):
    """``lightgbm.LGBMRegressor`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, predictions are by its own link, sample weights count. Pickle keeps all
    of it; a file of ``booster_.save_model`` holds the trees alone.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        A regression loss: a registered name or an instance.
    **kwargs
        Parameters of ``lightgbm.LGBMRegressor`` but for objective and class_weight.

    Attributes
    ----------
    loss_ : Loss
        The loss that was minimised.
    baseline_ : ndarray of shape (1,)
        Raw score before the first tree.
    """

    task = "regression"

    def __init__(self, *, loss: str | Loss = "squared_error", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> LGBMRegressor:
        """Fit to X (n, d) and y (n,); further arguments are LightGBM's.

        Raises
        ------
        ValueError, TypeError
            If the loss is unknown or not for regression.
        """
        self._prepare(np.asarray(y, dtype=np.float64), sample_weight)
        kwargs.setdefault("eval_metric", self._metric())
        super().fit(X, y, sample_weight=sample_weight, **kwargs)
        return self

    def predict(self, X: Any, raw_score: bool = False, **kwargs: Any) -> Array:
        """Predictions by the loss's own link, (n,); raw scores if `raw_score`."""
        scores = self._scores(X, **kwargs)
        return squeeze(scores if raw_score else self.loss_.inverse_link(scores))
