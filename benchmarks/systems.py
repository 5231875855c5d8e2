"""The systems that are timed, each as one call that fits it, and the data of the papers' figure 4."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier
from sklearn.datasets import make_classification
from xgboost import XGBClassifier

from rffboost_ext import presets

from . import plain

Array = np.ndarray
Fit = Callable[[Array, Array, int, int], Any]
"""Fits X (n, d) and y (n,) in so many rounds on so many threads."""


def gbrff1(X: Array, y: Array, rounds: int, threads: int) -> Any:
    """GBRFF1 with K = 10."""
    return presets.gbrff1(n_estimators=rounds, random_state=0, n_jobs=threads).fit(X, y)


def gbrff2(X: Array, y: Array, rounds: int, threads: int) -> Any:
    """GBRFF2."""
    return presets.gbrff2(n_estimators=rounds, random_state=0, n_jobs=threads).fit(X, y)


def gbrff2_throughout(X: Array, y: Array, rounds: int, threads: int) -> Any:
    """GBRFF2 whose searches see all rows throughout, however many there are."""
    model = presets.gbrff2(n_estimators=rounds, random_state=0, n_jobs=threads)
    return model.set_params(learner__start_rows=None).fit(X, y)


def plain_gbrff1(X: Array, y: Array, rounds: int, threads: int) -> Any:
    """GBRFF1 in NumPy and SciPy; the environment holds BLAS to the threads."""
    return plain.gbrff1(X, y, rounds)


def plain_gbrff2(X: Array, y: Array, rounds: int, threads: int) -> Any:
    """GBRFF2 in NumPy and SciPy; the environment holds BLAS to the threads."""
    return plain.gbrff2(X, y, rounds)


def xgboost(X: Array, y: Array, rounds: int, threads: int) -> Any:
    """XGBoost's histogram trees of depth 5."""
    return XGBClassifier(n_estimators=rounds, max_depth=5, tree_method="hist", n_jobs=threads).fit(X, y)


def lightgbm(X: Array, y: Array, rounds: int, threads: int) -> Any:
    """LightGBM's trees of depth 5, with as many leaves as that allows."""
    model = LGBMClassifier(n_estimators=rounds, max_depth=5, num_leaves=32, n_jobs=threads, verbose=-1)
    return model.fit(X, y)


SYSTEMS: dict[str, Fit] = {
    "gbrff1": gbrff1,
    "gbrff1, plain": plain_gbrff1,
    "gbrff2": gbrff2,
    "gbrff2, plain": plain_gbrff2,
    "XGBoost": xgboost,
    "LightGBM": lightgbm,
}


def figure_data(n: int) -> tuple[Array, Array]:
    """The data of figure 4: n rows of 20 features, two classes."""
    return make_classification(n_samples=n, n_features=20, random_state=1)


def wave_data(n: int, d: int) -> tuple[Array, Array]:
    """Rows of d normal features in float32, and two classes that a wave and a slope tell apart, with noise.

    Rows do not depend on how many follow, so that data of any size are of one kind.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    noise = np.random.default_rng(1).standard_normal(n, dtype=np.float32)
    return X, (np.sin(2.0 * X[:, 0]) + X[:, 1] + noise > 0.0).astype(int)
