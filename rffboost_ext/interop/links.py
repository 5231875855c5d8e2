"""Links of other libraries' objectives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import Link
from ..losses.links import BinaryLogitLink, IdentityLink, LogitLink, LogLink, MultinomialLogitLink
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
