"""Feature maps of landmarks: kernel values and learned PAC-Bayesian similarities."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.utils import gen_batches

from rffboost_ext.boosting.boost import boost
from rffboost_ext.core import Optimizer, Round
from rffboost_ext.learners import RFFK, SPECTRA, Placement, Spectrum
from rffboost_ext.learners.fourier.fit_criteria import QuadraticCriterion
from rffboost_ext.learners.fourier.objectives import EmpiricalRisk
from rffboost_ext.learners.fourier.parts import GAMMA, bandwidth
from rffboost_ext.terms import Cosines
from rffboost_ext.utils.param_validation import Integer, OneOf, Real
from rffboost_ext.utils.typing import Array
from rffboost_ext.utils.warnings import warn_user

from .feature_map import FeatureMap, TrainingData

SELECTIONS = ("random", "centroids", "replacement")

# Round-off of products such as 0.07 * 100.
ROUNDING = 1e-9
LANDMARK_CHECKS = {
    "n_landmarks": Integer(1) | Real(0.0, 1.0),
    "gamma": GAMMA,
    "selection": OneOf(SELECTIONS),
}
ELEMENTS = 4_000_000
"""Cosines that are held in memory at once."""


@dataclass(eq=False, repr=False)
class FixedLandmarks(Placement):
    """Fixed landmarks, one per round.

    Parameters
    ----------
    landmarks : ndarray of shape (L, d)
        In the coordinates of ``round.design.X``.
    """

    landmarks: Array

    def place(self, round: Round, omega: Array, objective: EmpiricalRisk, optimizer: Optimizer) -> Array:
        return np.asarray(self.landmarks[round.index])


@dataclass(eq=False, repr=False)
class Alignment(QuadraticCriterion):
    """``(1 - s h) / 2`` with s = 1 on rows of the class of the round's landmark, else -1: PBRFF's loss.

    Parameters
    ----------
    labels : ndarray of shape (L,)
        The landmarks' classes, as indices.

    References
    ----------
    Letarte, Morvant and Germain, AISTATS 2019, section 4.
    """

    labels: Array

    def coefficients(self, round: Round) -> tuple[Array, Array, Array]:
        sign = np.where(round.y[:, 0] == self.labels[round.index], 1.0, -1.0)
        return -0.5 * sign, np.zeros(len(sign)), np.full(len(sign), 0.5)


class LandmarkMap(FeatureMap):
    """A map to one similarity per landmark."""

    n_landmarks: float
    gamma: float | str
    selection: str

    constraints = LANDMARK_CHECKS

    def _place(self, data: TrainingData) -> tuple[Array, Array]:
        """Choose the landmarks, (L, d) and standardised, and their classes, (L,); store them in original units."""
        landmarks, classes = choose_landmarks(data, self.selection, self.n_landmarks)
        center, scale = data.design.feature_map.center, data.design.feature_map.scale
        self.landmarks_ = landmarks if center is None or scale is None else center + landmarks * scale
        self.landmark_classes_ = self.classes_[classes]
        return landmarks, classes


@dataclass(eq=False, repr=False)
class RBFLandmarks(LandmarkMap):
    """Values of the Gaussian kernel to landmarks: ``exp(-gamma |x - x_l|^2)`` for each landmark x_l.

    Parameters
    ----------
    n_landmarks : int or float, default=100
        Number of landmarks, or their share of the rows; over all classes.
    gamma : float or "scale", default="scale"
        Parameter of the kernel; "scale" is 1 / d.
    selection : {"random", "centroids", "replacement"}, default="random"
        Rows of each class without replacement, equally many; k-means centroids of each class, equally many; or
        rows of any class with replacement.
    standardize : bool, default=True
        Whether features are brought to mean 0 and variance 1 before they are mapped.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    landmarks_ : ndarray of shape (L, d)
        The landmarks, in the units of X.
    landmark_classes_ : ndarray of shape (L,)
        The class of each landmark.
    n_features_in_ : int
        Number of features seen in fit.

    References
    ----------
    Balcan, Blum and Srebro, Improved guarantees for learning via similarity functions, COLT 2008; Letarte,
    Morvant and Germain, AISTATS 2019, section 4.2.
    """

    n_landmarks: float = 100
    gamma: float | str = "scale"
    selection: str = "random"
    standardize: bool = True
    random_state: Any = None

    def _learn(self, data: TrainingData) -> None:
        self._place(data)
        # Distances from squares are inaccurate far from the origin.
        self._standardized = data.design.feature_map
        self._gamma = bandwidth(self.gamma, data.design.n_features)

    def _features(self, X: Array) -> Array:
        from sklearn.metrics.pairwise import rbf_kernel

        near, far = map(self._standardized, (X, self.landmarks_))
        return np.asarray(rbf_kernel(near, far, gamma=self._gamma))


@dataclass(eq=False, repr=False)
class PBLandmarks(LandmarkMap):
    r"""PB-Landmarks, or PBRFF: learned similarities to landmarks.

    Around the landmark :math:`x_l`, with K frequencies drawn from the kernel's Fourier transform,

    .. math:: \phi_l(x) = \sum_{j=1}^K q_j \cos \omega_j \cdot (x - x_l), \qquad
              q_j \propto \exp(-\beta \sqrt n \, f_j), \qquad
              f_j = \frac{1}{n'} \sum_i \frac{1 - s_i \cos \omega_j \cdot (x_i - x_l)}{2},

    s_i being 1 on rows of the landmark's class and -1 on others. The mean is over the n' = n - 1 other rows where
    the landmark is one of the rows, and over all n where it is a centroid. It is a composition: one round per
    landmark, fixed placement, the alignment fit criterion, the posterior weighting, and a step of zero, which
    leaves the labels of all rounds the same.

    Parameters
    ----------
    n_landmarks : int or float, default=100
        Number of landmarks, or their share of the rows; over all classes.
    n_components : int, default=10
        Frequencies per landmark, K.
    gamma : float or "scale", default="scale"
        Parameter of the kernel, see the spectra; "scale" is 1 / d.
    beta : float, default=1.0
        Inverse temperature; 0 leaves the prior.
    selection : {"random", "centroids", "replacement"}, default="random"
        Rows of each class without replacement, equally many; k-means centroids of each class, equally many (both
        Letarte et al.); or rows of any class with replacement (Gautheron et al.).
    kernel : str or Spectrum, default="gaussian"
        "gaussian", "laplace", "cauchy", "matern", any registered spectrum, or an instance.
    standardize : bool, default=True
        Whether features are brought to mean 0 and variance 1 before they are mapped.
    random_state : int, RandomState or None, default=None
        Seed.

    Attributes
    ----------
    classes_ : ndarray
        Class labels.
    landmarks_ : ndarray of shape (L, d)
        The landmarks, in the units of X.
    landmark_classes_ : ndarray of shape (L,)
        The class of each landmark.
    ensemble_ : Ensemble
        One round per landmark; the term of each is its similarity.
    n_features_in_ : int
        Number of features seen in fit.

    References
    ----------
    Letarte, Morvant and Germain, Pseudo-Bayesian learning with kernel Fourier transform as prior, AISTATS 2019,
    section 4.2, equations 11 and 12; Gautheron et al., ECML-PKDD 2020.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from benchmarks.papers.baselines import PBLandmarks
    >>> X, y = load_wine(return_X_y=True)
    >>> PBLandmarks(n_landmarks=30, random_state=0).fit_transform(X, y).shape
    (178, 30)
    """

    n_landmarks: float = 100
    n_components: int = 10
    gamma: float | str = "scale"
    beta: float = 1.0
    selection: str = "random"
    kernel: str | Spectrum = "gaussian"
    standardize: bool = True
    random_state: Any = None

    # The product of beta with the root of the number of rows is finite.
    constraints = LANDMARK_CHECKS | {"n_components": Integer(1), "beta": Real(0.0, 1e300, closed="both")}
    roles = {"kernel": SPECTRA}

    def _learn(self, data: TrainingData) -> None:
        landmarks, classes = self._place(data)
        n = len(data.codes)
        # The mean over the other rows is the mean over all rows, up to a constant and this factor.
        left_out = n / (n - 1.0) if self.selection != "centroids" else 1.0
        learner = RFFK(
            self.n_components,
            self.gamma,
            placement=FixedLandmarks(landmarks),
            beta=self.beta * left_out,
            fit_criterion=Alignment(classes),
            spectrum=SPECTRA.make(self.kernel),
        )
        self.ensemble_ = boost(
            data.design,
            data.codes[:, None].astype(np.float64),
            loss="squared_error",
            learner=learner,
            step="zero",
            n_estimators=len(landmarks),
            random_state=data.seed(),
        )
        self._cosines = Cosines.stack(cast(Sequence[Cosines], self.ensemble_.terms))

    def losses(self, X: Array, y: Array) -> Array:
        """Loss f of each frequency alone, (L, K), on rows X (n, d) of labels y, the landmark itself left out.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The rows that the map was fitted to.
        y : ndarray of shape (n,)
            Their labels.
        """
        sums = np.zeros(len(self._cosines.phase))
        for rows in self._batches(X):
            sign = np.where(y[rows, None] == self.landmark_classes_, 1.0, -1.0)
            features = self._cosines.features(X[rows]).reshape(len(sign), len(self.landmarks_), -1)
            sums += np.einsum("il,ilk->lk", sign, features).ravel()
        own = 0.0 if self.selection == "centroids" else 1.0
        return 0.5 * (1.0 - (sums - own) / (len(y) - own)).reshape(len(self.landmarks_), -1)

    def _features(self, X: Array) -> Array:
        weight = self._cosines.weight.reshape(len(self.landmarks_), -1)
        similarities = np.empty((len(X), len(weight)))
        for rows in self._batches(X):
            features = self._cosines.features(X[rows]).reshape(-1, *weight.shape)
            np.einsum("ilk,lk->il", features, weight, out=similarities[rows])
        return similarities

    def _batches(self, X: Array) -> Iterator[slice]:
        return cast(Iterator[slice], gen_batches(len(X), max(1, ELEMENTS // len(self._cosines.phase))))


def count_landmarks(n_landmarks: float, n_samples: int) -> int:
    """The number of landmarks: an integer as it is, a float as a fraction of the rows."""
    if isinstance(n_landmarks, int | np.integer):
        return int(n_landmarks)
    return max(1, math.ceil(n_landmarks * n_samples - ROUNDING))


def class_counts(total: int, counts: Array) -> Array:
    """The number of landmarks per class, for classes of `counts` rows: equal, the remainder to the first classes.

    Landmarks beyond the rows of a small class go to the other classes.
    """
    if total > counts.sum():
        warn_user(f"n_landmarks={total} is more than the {counts.sum()} rows, each of which is a landmark")
        total = int(counts.sum())
    share = np.zeros_like(counts)
    while total:
        open_ = np.flatnonzero(share < counts)
        each, rest = divmod(total, len(open_))
        added = np.minimum(counts[open_] - share[open_], each + (np.arange(len(open_)) < rest))
        share[open_] += added
        total -= int(added.sum())
    return share


def choose_landmarks(data: TrainingData, selection: str, n_landmarks: float) -> tuple[Array, Array]:
    """Landmarks (L, d) in the coordinates of ``data.design.X``, and the indices of their classes (L,).

    Parameters
    ----------
    data : TrainingData
        The training data.
    selection : {"random", "centroids", "replacement"}
        Rows of each class without replacement, equally many; k-means centroids of each class, equally many; or
        rows of any class with replacement.
    n_landmarks : int or float
        Number of landmarks, L, or their share of the rows. More than there are rows are as many as rows, with a
        warning, unless rows are drawn with replacement.
    """
    X, codes = data.design.X, data.codes
    total = count_landmarks(n_landmarks, len(X))
    if selection == "replacement":
        rows = data.rng.choice(len(X), total, replace=True)
        return X[rows], codes[rows]
    share = class_counts(total, np.bincount(codes))
    landmarks = [
        _select_from_class(X[codes == c], size, selection, data.rng) for c, size in enumerate(share) if size
    ]
    return np.vstack(landmarks), np.repeat(np.arange(len(share)), share)


def _select_from_class(X: Array, size: int, selection: str, rng: np.random.RandomState) -> Array:
    if selection == "random":
        return X[rng.choice(len(X), size, replace=False)]
    from sklearn.cluster import KMeans

    distinct = len(np.unique(X, axis=0))
    if size > distinct:
        raise ValueError(f"n_landmarks asks for {size} centroids of a class that has {distinct} distinct rows")
    return np.asarray(KMeans(size, random_state=rng).fit(X).cluster_centers_)
