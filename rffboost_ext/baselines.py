"""The other methods of the papers: random features, landmarks, kernel learning, greedy features, kernel boosting.

Functions build a classifier as a paper describes it; classes are the feature maps, learners and weightings that
they are composed of. The papers' grids are in :mod:`rffboost_ext.experiments.reproduce.papers`.
"""

from .experiments.baselines import stored  # noqa: F401 - registers how these parts are stored
from .experiments.baselines.feature_map import FeatureMap, MappedSVM
from .experiments.baselines.greedy_features import GreedyConstruction, RidgePair, RidgeStep
from .experiments.baselines.greedy_kernel import ChiSquare, GreedyKernel, second_order_loss
from .experiments.baselines.kernel_boosting import BestSVC, BestSVR, FromZero
from .experiments.baselines.kernel_terms import Kernel, KernelSum, Votes
from .experiments.baselines.landmarks import PBLandmarks, RBFLandmarks
from .experiments.baselines.methods import (
    bmkr,
    gbrff_random,
    gfc,
    greedy_pbrff,
    mkboost,
    okrff,
    pbrff,
    rbf_landmarks_svm,
    rff_svm,
)
from .experiments.baselines.pac_bayes_bounds import (
    LandmarkReport,
    PosteriorReport,
    alignment_bound,
    chi_square_bound,
    chi_square_divergence,
    kl_divergence,
    landmark_bound,
    report_landmarks,
    report_posterior,
    second_order_bound,
)
from .experiments.baselines.random_fourier_features import Cauchy, Laplace, Matern, RandomFourier

__all__ = [
    "BestSVC",
    "BestSVR",
    "Cauchy",
    "ChiSquare",
    "FeatureMap",
    "FromZero",
    "GreedyConstruction",
    "GreedyKernel",
    "Kernel",
    "KernelSum",
    "LandmarkReport",
    "Laplace",
    "MappedSVM",
    "Matern",
    "PBLandmarks",
    "PosteriorReport",
    "RBFLandmarks",
    "RandomFourier",
    "RidgePair",
    "RidgeStep",
    "Votes",
    "alignment_bound",
    "bmkr",
    "chi_square_bound",
    "chi_square_divergence",
    "gbrff_random",
    "gfc",
    "greedy_pbrff",
    "kl_divergence",
    "landmark_bound",
    "mkboost",
    "okrff",
    "pbrff",
    "rbf_landmarks_svm",
    "report_landmarks",
    "report_posterior",
    "rff_svm",
    "second_order_bound",
    "second_order_loss",
]
