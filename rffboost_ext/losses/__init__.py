"""Losses: what a booster minimises. One family per file."""

from .binary import Exponential, LogLoss
from .label_regression import LabelRegression
from .log_link import Gamma, Poisson, Tweedie
from .multinomial import MultinomialLogLoss
from .registry import LOSSES
from .robust import AbsoluteError, Huber, Quantile
from .squared import SquaredError

__all__ = [
    "LOSSES",
    "AbsoluteError",
    "Exponential",
    "Gamma",
    "Huber",
    "LabelRegression",
    "LogLoss",
    "MultinomialLogLoss",
    "Poisson",
    "Quantile",
    "SquaredError",
    "Tweedie",
]
