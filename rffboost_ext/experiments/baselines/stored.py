"""Registers the parts and terms of this room under their names in model files."""

from __future__ import annotations

from ...persistence.parts import part_builder
from ...persistence.values import storable
from .greedy_features import RidgePair, RidgeStep
from .greedy_kernel import ChiSquare
from .kernel_boosting import BestSVC, BestSVR, FromZero
from .kernel_terms import Kernel, KernelSum, Votes
from .random_fourier_features import Cauchy, Laplace, Matern

for _part in (BestSVC, BestSVR, Cauchy, ChiSquare, FromZero, Laplace, Matern, RidgePair, RidgeStep):
    storable(f"rffboost_ext.baselines.{_part.__name__}", build=part_builder(_part))(_part)
for _fitted in (Kernel, KernelSum, Votes):
    storable(f"rffboost_ext.baselines.{_fitted.__name__}")(_fitted)
