"""Selection of landmarks: at random or by clustering, the same number per class."""

from __future__ import annotations

import math

import numpy as np

from ...learners.fourier.parts import GAMMA
from ...utils.param_validation import Integer, OneOf, Real
from ...utils.typing import Array
from ...utils.warnings import warn_user
from .feature_map import TrainingData

SELECTIONS = ("random", "centroids", "replacement")

# Round-off of products such as 0.07 * 100.
ROUNDING = 1e-9
LANDMARK_CHECKS = {
    "n_landmarks": Integer(1) | Real(0.0, 1.0),
    "gamma": GAMMA,
    "selection": OneOf(SELECTIONS),
}


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
    chosen = [_select_from_class(X[codes == c], size, selection, data.rng) for c, size in enumerate(share) if size]
    return np.vstack(chosen), np.repeat(np.arange(len(share)), share)


def _select_from_class(X: Array, size: int, selection: str, rng: np.random.RandomState) -> Array:
    if selection == "random":
        return X[rng.choice(len(X), size, replace=False)]
    from sklearn.cluster import KMeans

    distinct = len(np.unique(X, axis=0))
    if size > distinct:
        raise ValueError(f"n_landmarks asks for {size} centroids of a class that has {distinct} distinct rows")
    return np.asarray(KMeans(size, random_state=rng).fit(X).cluster_centers_)
