"""Initial scores of XGBoost: its ``base_score``, or an earlier model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..learners.trees.xgboost_model import count_outputs, parse_base_score
from ..losses.links import sigmoid
from ..utils.typing import Array
from .links import XGBOOST

CLOSE = 0.01
"""Tolerance on an initial score, in log-odds."""


CLOSEST = 1e-6
"""XGBoost clips a base score that is a probability to this distance from 0 and 1."""


def logit(p: Array) -> Array:
    """The log-odds of p as XGBoost computes them: in float32, with p clipped to [1e-6, 1 - 1e-6]."""
    clipped = np.clip(p, CLOSEST, 1.0 - CLOSEST).astype(np.float32)
    return np.asarray(-np.log(np.float32(1.0) / clipped - np.float32(1.0)), dtype=np.float64)


WITH_LOG_LINK = "count:poisson", "reg:gamma", "reg:tweedie", "survival:aft", "survival:cox"
BASE_SCORE_TO_RAW: dict[str, Callable[[Array], Array]] = {
    **dict.fromkeys(("binary:logistic", "reg:logistic"), logit),
    **dict.fromkeys(WITH_LOG_LINK, np.log),
}
"""From XGBoost's stored ``base_score`` to a raw score, by objective; for others it is a raw score."""
RAW_TO_BASE_SCORE: dict[str, Callable[[Array], Array]] = {
    **dict.fromkeys(("binary:logistic", "reg:logistic"), sigmoid),
    **dict.fromkeys(WITH_LOG_LINK, np.exp),
}
"""The inverse."""


def is_representable(baseline: Array, objective: str) -> bool:
    """Whether XGBoost can store initial scores (C,) as a ``base_score``, in float32."""
    if objective not in RAW_TO_BASE_SCORE:
        return True
    with np.errstate(over="ignore"):
        stored = RAW_TO_BASE_SCORE[objective](baseline).astype(np.float32)
    if not (np.isfinite(stored) & (stored >= np.finfo(np.float32).tiny)).all():
        return False
    return bool(np.abs(BASE_SCORE_TO_RAW[objective](stored) - baseline).max() < CLOSE)


def base_score_of(baseline: Array, objective: str) -> Any:
    """The ``base_score`` for initial scores `baseline` (C,) with one of XGBoost's objectives."""
    stored = RAW_TO_BASE_SCORE.get(objective, np.asarray)(baseline)
    return float(stored[0]) if (stored == stored[0]).all() else [float(value) for value in stored]


def raw_of_base_score(base_score: Any, objective: str, n_scores: int) -> Array:
    """The initial scores, (C,), of a ``base_score`` in units of one of XGBoost's objectives, or a ValueError."""
    try:
        given = np.broadcast_to(np.asarray(base_score, dtype=np.float64), n_scores)
    except (TypeError, ValueError) as error:
        several = f" or {n_scores} of them" if n_scores > 1 else ""
        raise ValueError(f"must be a number{several}, got {base_score!r}") from error
    to_raw, to_base_score = (
        BASE_SCORE_TO_RAW.get(objective, np.asarray),
        RAW_TO_BASE_SCORE.get(objective, np.asarray),
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        raw = np.array(to_raw(given), dtype=np.float64)
    if not (np.isfinite(raw).all() and np.allclose(to_base_score(raw), given, rtol=1e-4)):
        raise ValueError(f"must be what objective {objective!r} can predict, got {base_score!r}")
    return raw


def initial_score(learner: dict[str, Any]) -> Array:
    """The initial scores of a parsed model, (C,)."""
    objective, stored = learner["objective"]["name"], learner["learner_model_param"]["base_score"]
    if objective not in XGBOOST:
        known = ", ".join(sorted(XGBOOST))
        raise ValueError(f"objective {objective!r} of XGBoost has no link here; supported: {known}")
    margin = BASE_SCORE_TO_RAW.get(objective, np.asarray)(parse_base_score(stored))
    return np.array(np.broadcast_to(margin, count_outputs(learner)))
