"""Boosting with random Fourier features and trees: one loop, pluggable losses and weak learners."""

from . import presets
from .boosting import boost
from .callbacks import Progress
from .core import Learner, Loss, Optimizer, Round, Step, Term
from .design import Design
from .ensemble import Ensemble
from .estimators import RFFBoostClassifier, RFFBoostRegressor
from .learners import LEARNERS, MATCHES, PLACEMENTS, RFF1, RFFK, SPECTRA, WEIGHTINGS, Tree
from .losses import LOSSES
from .optimizers import OPTIMIZERS
from .registry import Registry
from .steps import STEPS, Shrunk
from .terms import Cosines, Trees

__version__ = "0.1.0"

__all__ = [
    "LEARNERS",
    "LOSSES",
    "MATCHES",
    "OPTIMIZERS",
    "PLACEMENTS",
    "RFF1",
    "RFFK",
    "SPECTRA",
    "STEPS",
    "WEIGHTINGS",
    "Cosines",
    "Design",
    "Ensemble",
    "Learner",
    "Loss",
    "Optimizer",
    "Progress",
    "RFFBoostClassifier",
    "RFFBoostRegressor",
    "Registry",
    "Round",
    "Shrunk",
    "Step",
    "Term",
    "Tree",
    "Trees",
    "boost",
    "presets",
]
