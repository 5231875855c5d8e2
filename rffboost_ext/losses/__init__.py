"""Losses: what a booster minimises. One family per file."""

from .binary import Exponential, LogLoss
from .label_regression import LabelRegression
from .links import BinaryLogitLink, IdentityLink, LabelMeanLink, LogitLink, LogLink, MultinomialLogitLink
from .log_link import Gamma, Poisson, Tweedie
from .multinomial import MultinomialLogLoss
from .ranking import LambdaRank, Pairwise
from .registry import LOSSES
from .robust import AbsoluteError, Huber, Quantile
from .squared import SquaredError

__all__ = [
    "LOSSES",
    "AbsoluteError",
    "BinaryLogitLink",
    "Exponential",
    "Gamma",
    "Huber",
    "IdentityLink",
    "LabelMeanLink",
    "LabelRegression",
    "LambdaRank",
    "LogLink",
    "LogLoss",
    "LogitLink",
    "MultinomialLogLoss",
    "MultinomialLogitLink",
    "Pairwise",
    "Poisson",
    "Quantile",
    "SquaredError",
    "Tweedie",
]
