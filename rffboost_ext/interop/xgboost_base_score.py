"""Where XGBoost starts from: its ``base_score``, or an earlier model."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from xgboost import Booster, XGBModel
from xgboost.callback import TrainingCallback

from ..core import Loss
from ..learners.trees.xgboost_model import base_score, number_of_outputs, parsed
from ..losses.links import sigmoid
from ..utils.typing import Array
from .initial_scores import PreviousModel, in_scores
from .links import XGBOOST, link_of
from .stored import restored

FITTED, GIVEN = "rffboost_loss", "rffboost_loss_given"
"""Attributes of the booster: the loss that was minimised, and the parameter."""
CLOSE = 0.01
"""Log-odds by which a start may be off."""


CLOSEST = 1e-6
"""XGBoost clips a base score that is a probability to this distance from 0 and 1."""


def logit(p: Array) -> Array:
    """The log-odds of p as XGBoost computes them: in float32, with p clipped to [1e-6, 1 - 1e-6]."""
    clipped = np.clip(p, CLOSEST, 1.0 - CLOSEST).astype(np.float32)
    return np.asarray(-np.log(np.float32(1.0) / clipped - np.float32(1.0)), dtype=np.float64)


BASE_SCORE_TO_RAW: dict[str, Callable[[Array], Array]] = {
    **dict.fromkeys(("binary:logistic", "reg:logistic"), logit),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie"), np.log),
}
"""From XGBoost's stored ``base_score`` to a raw score, by objective; for others it is a raw score."""


class Named(TrainingCallback):
    """Names a booster's objective before training, where XGBoost's estimators would name one for any function.

    Parameters
    ----------
    objective : str
        The objective whose link ``base_score`` is read by.
    """

    def __init__(self, objective: str) -> None:
        self.objective = objective

    def before_training(self, model: Any) -> Any:
        """Set it; the booster is returned."""
        model.set_param("objective", self.objective)
        return model


def is_held(log_odds: Array) -> bool:
    """Whether XGBoost can start at log-odds (1,), which it stores as a clipped probability in float32."""
    return bool(np.abs(logit(sigmoid(log_odds)) - log_odds).max() < CLOSE)


def base_score_of(baseline: Array, objective: str) -> Any:
    """The ``base_score`` that starts XGBoost at scores `baseline` (C,), under one of its objectives."""
    if len(baseline) == 1:
        return float((sigmoid(baseline) if objective == "binary:logistic" else baseline)[0])
    if (baseline == baseline[0]).all():
        return float(baseline[0])
    return [float(value) for value in baseline]


def start_of(learner: dict[str, Any]) -> Array:
    """Where the scores of a parsed model start, (C,)."""
    objective, stored = learner["objective"]["name"], learner["learner_model_param"]["base_score"]
    link_of(XGBOOST, objective, "XGBoost")
    margin = BASE_SCORE_TO_RAW.get(objective, np.asarray)(base_score(stored))
    return np.array(np.broadcast_to(margin, number_of_outputs(learner)))


def earlier(model: Any, at_hand: str | Loss) -> PreviousModel:
    """The `xgb_model` of a fit: a model of XGBoost or the path of one, and a loss that it may be of."""
    if isinstance(model, XGBModel):
        booster = model.get_booster()
    elif isinstance(model, Booster):
        booster = model
    elif isinstance(model, str | os.PathLike):
        booster = Booster(model_file=model)
    else:
        raise TypeError(f"xgb_model must be a model of XGBoost or the path of its file, got {model!r}")
    learner, loss = parsed(booster), booster.attr(FITTED)
    start, objective = start_of(learner), learner["objective"]["name"]
    if loss is not None:
        return PreviousModel("xgb_model", start, in_scores(restored(loss, at_hand), len(start)))
    # A callable leaves the default in the place of its name.
    unknown = objective == "reg:squarederror" or (isinstance(model, XGBModel) and callable(model.objective))
    return PreviousModel("xgb_model", start, None if unknown else XGBOOST[objective].inverse)
