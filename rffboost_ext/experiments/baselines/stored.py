"""Registers the parts and terms of this room under their names in model files."""

from __future__ import annotations

from ...persistence.values import storable
from .greedy_features import RidgePair, RidgeStep
from .greedy_kernel import ChiSquare
from .kernel_boosting import BestSVC, BestSVR, FromZero
from .kernel_terms import Kernel, KernelSum, Votes

PARTS = BestSVC, BestSVR, ChiSquare, FromZero, RidgePair, RidgeStep
for _stored in (*PARTS, Kernel, KernelSum, Votes):
    storable(f"rffboost_ext.baselines.{_stored.__name__}")(_stored)
