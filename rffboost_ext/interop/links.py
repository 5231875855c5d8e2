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


XGBOOST: dict[str, Link] = {
    "binary:logistic": BinaryLogitLink(),
    "binary:logitraw": BinaryLogitLink(),
    "reg:logistic": LogitLink(),
    **dict.fromkeys(("multi:softprob", "multi:softmax"), MultinomialLogitLink()),
    **dict.fromkeys(("count:poisson", "reg:gamma", "reg:tweedie"), LogLink()),
    **dict.fromkeys(("reg:squarederror", "reg:absoluteerror", "reg:pseudohubererror"), IdentityLink()),
    "reg:quantileerror": IdentityLink(),
    **dict.fromkeys(("rank:pairwise", "rank:ndcg", "rank:map"), RankingLink()),
}
"""By the name of the objective."""

LIGHTGBM: dict[str, Link] = {
    "binary": BinaryLogitLink(),
    "multiclass": MultinomialLogitLink(),
    "cross_entropy": LogitLink(),
    **dict.fromkeys(("poisson", "gamma", "tweedie"), LogLink()),
    **dict.fromkeys(("regression", "regression_l1", "huber", "fair", "quantile", "mape"), IdentityLink()),
    "lambdarank": RankingLink(),
}
"""By the first word of the model's objective."""


def link_of(table: dict[str, Link], objective: str, library: str) -> Link:
    """The link of an objective; a ValueError that lists those known if it is none of them."""
    if objective not in table:
        raise ValueError(
            f"objective {objective!r} of {library} has no link here; supported: {', '.join(sorted(table))}"
        )
    return table[objective]
