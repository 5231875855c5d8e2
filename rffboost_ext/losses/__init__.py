"""Losses: what a booster minimises. One family per file."""

from .aft import AFTExtreme, AFTLogistic, AFTNormal
from .binary import Exponential, LogLoss
from .cox import Cox
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
    "AFTExtreme",
    "AFTLogistic",
    "AFTNormal",
    "AbsoluteError",
    "BinaryLogitLink",
    "Cox",
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
