"""Losses: what a booster minimises. One family per file."""

from ..core import Loss
from ..registry import Registry

LOSSES: Registry[Loss] = Registry("loss", Loss)  # type: ignore[type-abstract]

from .margin import Exponential, LogLoss  # noqa: E402
from .multinomial import MultinomialLogLoss  # noqa: E402
from .positive import Gamma, Poisson, Tweedie  # noqa: E402
from .robust import AbsoluteError, Huber, Quantile  # noqa: E402
from .signed import Signed  # noqa: E402
from .squared import SquaredError  # noqa: E402

__all__ = [
    "LOSSES",
    "AbsoluteError",
    "Exponential",
    "Gamma",
    "Huber",
    "LogLoss",
    "MultinomialLogLoss",
    "Poisson",
    "Quantile",
    "Signed",
    "SquaredError",
    "Tweedie",
]
