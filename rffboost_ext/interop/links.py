"""Links of other libraries' objectives, and initial scores of XGBoost: its ``base_score``."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from ..core import Link
from ..learners.trees.xgboost_model import count_outputs, parse_base_score
from ..losses.links import BinaryLogitLink, IdentityLink, LogitLink, LogLink, MultinomialLogitLink, sigmoid
from ..utils.typing import Array


@dataclass(frozen=True)
class RankingLink(Link):
    """The link of ranking objectives, whose scores have an order but no response: it is NaN."""

    def inverse(self, raw: Array) -> Array:
        return np.full(raw.shape, np.nan)


@dataclass(frozen=True)
class HingeLink(Link):
    """The link of the hinge loss: the probability, (n, 2), of the class with the sign of the score is 1."""

    def inverse(self, raw: Array) -> Array:
        return np.hstack([raw <= 0.0, raw > 0.0]).astype(np.float64)


@dataclass(frozen=True)
class OneVsRestLink(Link):
    """One log-odds per class: the response, (n, K), is ``1 / (1 + exp(-slope raw))`` and does not sum to 1.

    Parameters
    ----------
    slope : float, default=1.0
        Log-odds per unit of raw score.
    """

    slope: float = 1.0

    def inverse(self, raw: Array) -> Array:
        return LogitLink(self.slope).inverse(raw)


@dataclass(frozen=True)
class SoftplusLink(Link):
    """The response is ``log(1 + exp(raw))``."""

    def inverse(self, raw: Array) -> Array:
        return np.logaddexp(0.0, raw)


@dataclass(frozen=True)
class SignedSquareLink(Link):
    """The response is ``sign(raw) raw^2``, for targets of which the square root was taken."""

    def inverse(self, raw: Array) -> Array:
        return np.abs(raw) * raw


XGBOOST: dict[str, Link] = {
    "binary:logistic": BinaryLogitLink(),
    "binary:logitraw": BinaryLogitLink(),
    "binary:hinge": HingeLink(),
    "reg:logistic": LogitLink(),
    **dict.fromkeys(("multi:softprob", "multi:softmax"), MultinomialLogitLink()),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie", "survival:aft", "survival:cox"), LogLink()),
    **dict.fromkeys(("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"), IdentityLink()),
    **dict.fromkeys(("reg:quantileerror", "reg:squaredlogerror"), IdentityLink()),
    **dict.fromkeys(("rank:pairwise", "rank:ndcg", "rank:map"), RankingLink()),
}
"""By the name of the objective."""

LIGHTGBM: dict[str, Link] = {
    "binary": BinaryLogitLink(),
    "multiclass": MultinomialLogitLink(),
    "multiclassova": OneVsRestLink(),
    "cross_entropy": LogitLink(),
    "cross_entropy_lambda": SoftplusLink(),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), LogLink()),
    **dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), IdentityLink()),
    **dict.fromkeys(("lambdarank", "rank_xendcg"), RankingLink()),
}
"""By the first word of the model's objective."""


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
