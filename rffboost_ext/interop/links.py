"""The links of the objectives of XGBoost and LightGBM."""

from __future__ import annotations

from ..core import Link
from ..losses.links import (
    BinaryLogitLink,
    HingeLink,
    IdentityLink,
    LogitLink,
    LogLink,
    MultinomialLogitLink,
    OneVsRestLink,
    RankingLink,
    SoftplusLink,
)

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
