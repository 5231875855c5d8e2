"""Scales of the features of a Gaussian kernel: the factors on standardised features."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..._signals import defer_signals
from ...core import Round
from ...terms.projection import Projection
from ...utils.typing import Array

# More trees give gains to more uninformative features.
N_TREES = 10
TREE_PARAMS = {"max_depth": 4, "eta": 0.3, "max_bin": 64, "tree_method": "hist", "nthread": 1, "base_score": 0.0}


def unit_scale(round: Round, target: Array, rows: Array) -> Array:
    """1 for each feature."""
    return np.ones(round.design.n_features)


def original_scale(round: Round, target: Array, rows: Array) -> Array:
    """The standard deviations, for features that share a unit, such as pixels."""
    scale = round.design.feature_map.scale
    if scale is None:
        return unit_scale(round, target, rows)
    # Constant features are divided by infinity, and stay 0.
    return normalise_scale(np.where(scale < np.inf, scale, 0.0))


def gain_scale(round: Round, target: Array, rows: Array) -> Array:
    """The square roots of the total gains of a few XGBoost trees, for many features of which few are informative.

    A learned metric as in recursive feature machines (Radhakrishnan et al., Mechanism for feature learning in
    neural networks and backpropagation-free machine learning models, Science 2024), but from trees, which need
    fewer rows.
    """
    if not len(rows):
        return unit_scale(round, target, rows)
    weight = round.weight[rows]
    gains = total_gains(feature_columns(round, rows).T, target[rows], weight / weight.mean())
    return normalise_scale(np.sqrt([gains.get(f"f{k}", 0.0) for k in range(round.design.n_features)]))


@defer_signals()
def total_gains(X: Array, target: Array, weight: Array) -> dict[str, float]:
    """The total gain of each column of X (n, d) in a few trees, by XGBoost's names "f0", "f1", ..."""
    from xgboost import DMatrix, train

    found: dict[str, float] = train(TREE_PARAMS, DMatrix(X, target, weight=weight, nthread=1), N_TREES).get_score(
        importance_type="total_gain"
    )
    return found


ScaleFunction: TypeAlias = Callable[[Round, Array, Array], Array]
"""From a round, its target (n, C) and some ascending rows to the factors on the features, (d,)."""
SCALES: tuple[ScaleFunction, ...] = (unit_scale, original_scale, gain_scale)


def normalise_scale(scale: Array) -> Array:
    """The scale divided by its root mean square; 1 for each feature if all are 0."""
    largest = scale.max(initial=0.0)
    if largest == 0.0:
        return np.ones_like(scale)
    scale = scale / largest
    return np.asarray(scale / np.sqrt(np.mean(np.square(scale))))


def feature_columns(round: Round, rows: Array, projection: Projection | None = None) -> Array:
    """Standardised features (d, m) of ascending `rows`, or their coordinates (r, m), in the passes' precision."""
    design = round.design
    if projection is None:
        return design.tiles.gather(rows, np.arange(design.n_features))
    coordinates = design.cache(projection.key, lambda: projection(design.X).T.astype(design.tiles.dtype))
    return np.ascontiguousarray(coordinates[:, rows])
