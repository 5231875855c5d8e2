"""Link functions of other libraries' objectives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..losses.binary import sigmoid, two_columns
from ..utils.typing import Array

CLOSEST = 1e-6
"""XGBoost clips a base score that is a probability to this distance from 0 and 1."""


@dataclass(frozen=True)
class Link:
    """The link of an objective.

    Attributes
    ----------
    response : callable
        From raw scores (n, C) to class probabilities (n, K) or means (n, C).
    margin : callable
        From XGBoost's ``base_score`` as stored to a raw score.
    """

    response: Callable[[Array], Array]
    margin: Callable[[Array], Array] = np.asarray


def logit(p: Array) -> Array:
    """The log-odds of p as XGBoost computes them: in float32, with p clipped to [1e-6, 1 - 1e-6]."""
    clipped = np.clip(p, CLOSEST, 1.0 - CLOSEST).astype(np.float32)
    return np.asarray(-np.log(np.float32(1.0) / clipped - np.float32(1.0)), dtype=np.float64)


def softmax(raw: Array) -> Array:
    """``exp(raw_c) / sum_k exp(raw_k)``."""
    powers = np.exp(raw - raw.max(axis=1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def order_alone(raw: Array) -> Array:
    """NaN: scores of which only the order counts have no response."""
    return np.full(raw.shape, np.nan)


def names(link: Link, *objectives: str) -> dict[str, Link]:
    """The same link for several objectives."""
    return dict.fromkeys(objectives, link)


XGBOOST = {
    "binary:logistic": Link(two_columns, logit),
    "binary:logitraw": Link(two_columns),
    "reg:logistic": Link(sigmoid, logit),
    **names(Link(softmax), "multi:softprob", "multi:softmax"),
    **names(Link(np.exp, np.log), "count:poisson", "reg:gamma", "reg:tweedie"),
    **names(Link(np.asarray), "reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"),
    "reg:quantileerror": Link(np.asarray),
    **names(Link(order_alone), "rank:pairwise", "rank:ndcg", "rank:map"),
}
"""By the name of the objective."""

LIGHTGBM = {
    "binary": Link(two_columns),
    "multiclass": Link(softmax),
    "cross_entropy": Link(sigmoid),
    **names(Link(np.exp), "poisson", "gamma", "tweedie"),
    **names(Link(np.asarray), "regression", "regression_l1", "huber", "fair", "quantile", "mape"),
    "lambdarank": Link(order_alone),
}
"""By the first word of the model's objective."""


def link_of(table: dict[str, Link], objective: str, library: str) -> Link:
    """The link of an objective; a ValueError that lists those known if it is none of them."""
    if objective not in table:
        raise ValueError(
            f"objective {objective!r} of {library} has no link here; supported: {', '.join(sorted(table))}"
        )
    return table[objective]
