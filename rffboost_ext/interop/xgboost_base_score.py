"""Initial scores of XGBoost: its ``base_score``, or an earlier model."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

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


Conversion: TypeAlias = Callable[[Array], Array]
UNCHANGED: tuple[Conversion, Conversion] = np.asarray, np.asarray
CONVERSIONS: dict[str, tuple[Conversion, Conversion]] = {
    **dict.fromkeys(("binary:logistic", "reg:logistic"), (logit, sigmoid)),
    **dict.fromkeys(
        ("count:poisson", "reg:gamma", "reg:tweedie", "survival:aft", "survival:cox"), (np.log, np.exp)
    ),
}
"""From XGBoost's stored ``base_score`` to a raw score, and the inverse, by objective; for others it is one."""


def is_representable(baseline: Array, objective: str) -> bool:
    """Whether XGBoost can store initial scores (C,) as a ``base_score``, in float32."""
    if objective not in CONVERSIONS:
        return True
    to_raw, to_stored = CONVERSIONS[objective]
    with np.errstate(over="ignore"):
        stored = to_stored(baseline).astype(np.float32)
    if not (np.isfinite(stored) & (stored >= np.finfo(np.float32).tiny)).all():
        return False
    return bool(np.abs(to_raw(stored) - baseline).max() < CLOSE)


def base_score_of(baseline: Array, objective: str) -> Any:
    """The ``base_score`` for initial scores `baseline` (C,) with one of XGBoost's objectives."""
    _, to_stored = CONVERSIONS.get(objective, UNCHANGED)
    stored = to_stored(baseline)
    return float(stored[0]) if (stored == stored[0]).all() else [float(value) for value in stored]


def raw_of_base_score(owner: str, base_score: Any, objective: str, n_scores: int) -> Array:
    """The initial scores, (C,), of a ``base_score`` in units of one of XGBoost's objectives, or a ValueError."""
    to_raw, to_stored = CONVERSIONS.get(objective, UNCHANGED)
    with np.errstate(divide="ignore", invalid="ignore"), suppress(TypeError, ValueError):
        given = np.broadcast_to(np.asarray(base_score, dtype=np.float64), n_scores)
        raw = np.array(to_raw(given), dtype=np.float64)
        if np.isfinite(raw).all() and np.allclose(to_stored(raw), given, rtol=1e-4):
            return raw
    several = f", a number or {n_scores} of them" if n_scores > 1 else ""
    raise ValueError(
        f"{owner}: base_score must be what objective {objective!r} can predict{several}, got {base_score!r}"
    )


def initial_score(learner: dict[str, Any]) -> Array:
    """The initial scores of a parsed model, (C,)."""
    objective, stored = learner["objective"]["name"], learner["learner_model_param"]["base_score"]
    if objective not in XGBOOST:
        known = ", ".join(sorted(XGBOOST))
        raise ValueError(f"objective {objective!r} of XGBoost has no link here; supported: {known}")
    to_raw, _ = CONVERSIONS.get(objective, UNCHANGED)
    return np.array(np.broadcast_to(to_raw(parse_base_score(stored)), count_outputs(learner)))
