"""Losses: what a booster minimises. One family per file."""

from .aft import AFTExtreme, AFTLogistic, AFTLoss, AFTNormal
from .classification import Exponential, LogLoss, MultilabelLogLoss, MultinomialLogLoss
from .distributions.base import ContinuousDistribution, Distribution
from .distributions.continuous import Beta, GammaDistribution
from .distributions.counts import NegativeBinomial, PoissonDistribution, ZeroInflatedPoisson
from .distributions.location_scale import LaplaceDistribution, LogNormal, Normal, StudentT
from .links import (
    AffineLink,
    BinaryLogitLink,
    FunctionLink,
    IdentityLink,
    LabelMeanLink,
    LogitLink,
    LogLink,
    MultinomialLogitLink,
    ParameterLink,
    SortedLink,
)
from .log_link import Gamma, Poisson, Tweedie
from .quantiles import Quantile, Quantiles
from .ranking import LambdaRank, Pairwise
from .robust import AbsoluteError, Huber
from .squared import SquaredError
from .survival import Cox, SurvivalLoss
from .wrapper import LabelRegression

__all__ = [
    "AFTExtreme",
    "AFTLogistic",
    "AFTLoss",
    "AFTNormal",
    "AbsoluteError",
    "AffineLink",
    "Beta",
    "BinaryLogitLink",
    "ContinuousDistribution",
    "Cox",
    "Distribution",
    "Exponential",
    "FunctionLink",
    "Gamma",
    "GammaDistribution",
    "Huber",
    "IdentityLink",
    "LabelMeanLink",
    "LabelRegression",
    "LambdaRank",
    "LaplaceDistribution",
    "LogLink",
    "LogLoss",
    "LogNormal",
    "LogitLink",
    "MultilabelLogLoss",
    "MultinomialLogLoss",
    "MultinomialLogitLink",
    "NegativeBinomial",
    "Normal",
    "Pairwise",
    "ParameterLink",
    "Poisson",
    "PoissonDistribution",
    "Quantile",
    "Quantiles",
    "SortedLink",
    "SquaredError",
    "StudentT",
    "SurvivalLoss",
    "Tweedie",
    "ZeroInflatedPoisson",
]
