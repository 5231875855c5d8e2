"""Boosting with random Fourier features and trees: one loop, pluggable losses and weak learners."""

from . import presets
from .averaging import average
from .boosting import boost
from .callbacks import Progress, ProgressBar
from .checkpoint import Checkpoint
from .compression import compress
from .conformal import ConformalRegressor
from .core import Learner, Loss, Optimizer, Round, Step, Term
from .design import Design
from .ensemble import Ensemble
from .estimators import RFFBoostClassifier, RFFBoostRegressor
from .learners import (
    LEARNERS,
    MATCHES,
    PLACEMENTS,
    RFF1,
    RFFIRLS,
    RFFK,
    SPECTRA,
    WEIGHTINGS,
    Match,
    Mixture,
    Placement,
    RFFNewton,
    RFFRidge,
    Spectrum,
    Tree,
    Weighting,
)
from .losses import LOSSES
from .model_file import load_model, save_model
from .optimizers import OPTIMIZERS
from .quantiles import RFFBoostQuantileRegressor
from .registry import Registry
from .schedules import Decay
from .steps import STEPS, Shrunk
from .storage import storable
from .terms import Cosines, Trees

__version__ = "0.1.0"

__all__ = [
    "LEARNERS",
    "LOSSES",
    "MATCHES",
    "OPTIMIZERS",
    "PLACEMENTS",
    "RFF1",
    "RFFIRLS",
    "RFFK",
    "SPECTRA",
    "STEPS",
    "WEIGHTINGS",
    "Checkpoint",
    "ConformalRegressor",
    "Cosines",
    "Decay",
    "Design",
    "Ensemble",
    "Learner",
    "Loss",
    "Match",
    "Mixture",
    "Optimizer",
    "Placement",
    "Progress",
    "ProgressBar",
    "RFFBoostClassifier",
    "RFFBoostQuantileRegressor",
    "RFFBoostRegressor",
    "RFFNewton",
    "RFFRidge",
    "Registry",
    "Round",
    "Shrunk",
    "Spectrum",
    "Step",
    "Term",
    "Tree",
    "Trees",
    "Weighting",
    "average",
    "boost",
    "compress",
    "load_model",
    "presets",
    "save_model",
    "storable",
]
