"""Boosting with random Fourier features and trees: one loop, pluggable losses and weak learners."""

from . import interop, presets  # noqa: F401 - interop registers readers of the hosts' models
from ._version import __version__
from .boosting.boost import boost
from .boosting.callbacks import Progress, TimeBudget
from .boosting.loop import Shrunk
from .boosting.steps import STEPS, Decay
from .core import CoupledLoss, Learner, Link, Loss, Observations, Optimizer, Round, Scales, Step, Term
from .estimators import serialization  # noqa: F401 - registers how estimators are stored
from .estimators.averaging import average
from .estimators.classifier import RFFBoostClassifier
from .estimators.conformal import ConformalRegressor
from .estimators.distribution import RFFBoostDistribution
from .estimators.policies import LEARNER_POLICIES, LearnerPolicy
from .estimators.quantile import RFFBoostQuantileRegressor
from .estimators.ranker import RFFBoostRanker
from .estimators.regressor import RFFBoostRegressor
from .estimators.survival import RFFBoostSurvival
from .learners import (
    RFF1,
    RFFIRLS,
    RFFK,
    LassoPath,
    Mixture,
    RFFNewton,
    RFFRidge,
    RidgePath,
    SymmetricTree,
    Tree,
)
from .learners.design import Design
from .learners.optimizers import OPTIMIZERS
from .learners.registry import LEARNERS
from .losses.distributions.base import DISTRIBUTIONS
from .losses.registry import LOSSES
from .persistence.model_file import ModelDescription, describe_model, load_model, save_model
from .persistence.values import storable
from .terms import Cosines, SymmetricTrees, Trees
from .terms.ensemble import Ensemble
from .utils.registry import Registry
from .utils.warmup import warmup

__all__ = [
    "DISTRIBUTIONS",
    "LEARNERS",
    "LEARNER_POLICIES",
    "LOSSES",
    "OPTIMIZERS",
    "RFF1",
    "RFFIRLS",
    "RFFK",
    "STEPS",
    "ConformalRegressor",
    "Cosines",
    "CoupledLoss",
    "Decay",
    "Design",
    "Ensemble",
    "LassoPath",
    "Learner",
    "LearnerPolicy",
    "Link",
    "Loss",
    "Mixture",
    "ModelDescription",
    "Observations",
    "Optimizer",
    "Progress",
    "RFFBoostClassifier",
    "RFFBoostDistribution",
    "RFFBoostQuantileRegressor",
    "RFFBoostRanker",
    "RFFBoostRegressor",
    "RFFBoostSurvival",
    "RFFNewton",
    "RFFRidge",
    "Registry",
    "RidgePath",
    "Round",
    "Scales",
    "Shrunk",
    "Step",
    "SymmetricTree",
    "SymmetricTrees",
    "Term",
    "TimeBudget",
    "Tree",
    "Trees",
    "__version__",
    "average",
    "boost",
    "describe_model",
    "load_model",
    "presets",
    "save_model",
    "storable",
    "warmup",
]
