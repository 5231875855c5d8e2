"""Distributions: losses whose scores are the parameters of a distribution of the target."""

from .base import DISTRIBUTIONS, ContinuousDistribution, Distribution
from .continuous import Beta, GammaDistribution
from .counts import NegativeBinomial, PoissonDistribution, ZeroInflatedPoisson
from .location_scale import LaplaceDistribution, LogNormal, Normal, StudentT

__all__ = [
    "DISTRIBUTIONS",
    "Beta",
    "ContinuousDistribution",
    "Distribution",
    "GammaDistribution",
    "LaplaceDistribution",
    "LogNormal",
    "NegativeBinomial",
    "Normal",
    "PoissonDistribution",
    "StudentT",
    "ZeroInflatedPoisson",
]
