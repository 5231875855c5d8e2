"""The other methods of the papers: random features, landmarks, kernel learning, greedy features, kernel boosting.

Functions build a classifier as a paper describes it; classes are the feature maps, learners and weightings that
they are composed of. The papers' grids are in :mod:`benchmarks.papers.reproduce.papers`.
"""

from .feature_map import FeatureMap, MappedSVM
from .greedy_features import GreedyConstruction, RidgePair, RidgeStep
from .greedy_kernel import ChiSquare, GreedyKernel, second_order_loss
from .kernel_boosting import BestSVC, BestSVR, FromZero
from .kernel_terms import Kernel, KernelSum, Votes
from .landmarks import PBLandmarks, RBFLandmarks
from .methods import (
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
from .pac_bayes_bounds import (
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
from .random_fourier_features import Cauchy, Laplace, Matern, RandomFourier

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
