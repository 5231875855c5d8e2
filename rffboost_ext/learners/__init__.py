# ruff: noqa: F401 - the learners are names of rffboost_ext
"""Weak learners: they fit one round. Terms of type ``Cosines`` and ``Trees`` need no exporter of their own."""

from .fourier.first_order import RFF1, RFFK
from .fourier.fit_criteria import FIT_CRITERIA, FitCriterion
from .fourier.parts import PLACEMENTS, SPECTRA, WEIGHTINGS, Placement, Spectrum, Weighting
from .fourier.second_order import RFFNewton
from .kernel_machines.irls import RFFIRLS
from .kernel_machines.ridge import RFFRidge
from .lasso import LassoPath
from .mixture import Mixture
from .registry import LEARNERS
from .ridge import RidgePath
from .trees.learner import Tree
from .trees.symmetric.learner import SymmetricTree

__all__ = [
    "FIT_CRITERIA",
    "PLACEMENTS",
    "SPECTRA",
    "WEIGHTINGS",
    "FitCriterion",
    "Placement",
    "Spectrum",
    "Weighting",
]
