"""Selection of a Gaussian kernel, and of the scales of its features, by the leave-one-out error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..._signals import defer_signals
from ...core import Round
from ...rows.sampling import draw_uniform
from ...utils.kernel_ridge import PenaltySearch, SelectedKernel, best_kernel, best_ridge
from ...utils.typing import Array
from .random_features import feature_columns

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

    booster = train(TREE_PARAMS, DMatrix(X, target, weight=weight, nthread=1), N_TREES)
    gains: dict[str, float] = booster.get_score(importance_type="total_gain")
    return gains


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


# Numbers of rows to compare kernels on: fewer are too noisy, and more take long.
MIN_SCORED, MAX_SCORED = 96, 192
# Minimum number of rows to compare scales of features on: with fewer, scales of trees lose accuracy.
MIN_COMPARED = 256


@dataclass(frozen=True)
class KernelSelection:
    """The rows and targets of a round on which kernels are compared.

    Parameters
    ----------
    round : Round
    target : ndarray of shape (n, C)
        Targets of C outputs, in units in which their errors can be added.
    fitted, scored : ndarray of shape (u,) and (m,), ascending
        Rows that are fitted, and the subset on which kernels are compared.
    scales : sequence of callable
        The functions of `SCALES` that are compared.
    """

    round: Round
    target: Array
    fitted: Array
    scored: Array
    scales: Sequence[ScaleFunction]

    @classmethod
    def from_round(cls, round: Round, target: Array, max_samples: int, compare_scales: bool) -> KernelSelection:
        """Draw at most `max_samples` rows, and score on a quarter of them, from `MIN_SCORED` to `MAX_SCORED`."""
        fitted = draw_uniform(round.rng, np.flatnonzero(round.weight), max_samples)
        scored = draw_uniform(round.rng, fitted, min(MAX_SCORED, max(MIN_SCORED, len(fitted) // 4)))
        if round.output_weights is not None:
            target = np.sqrt(round.output_weights) * target
        scales = SCALES if compare_scales and len(fitted) >= MIN_COMPARED else SCALES[:1]
        return cls(round, target, fitted, scored, scales)

    def best_ridge(self, gammas: Array, penalties: Array) -> SelectedKernel:
        """The kernel and penalty of the best kernel ridge regression."""
        target, weight = self.target[self.scored], self.round.weight[self.scored]
        return best_ridge(self._scaled_features(), target, weight, gammas, penalties)

    def best_kernel(self, gammas: Array, search: PenaltySearch) -> SelectedKernel:
        """The best kernel of the first scale."""
        return best_kernel(next(self._scaled_features()), gammas, search)

    def _scaled_features(self) -> Iterator[Array]:
        """The scored rows, (m, d), in each scale; scales are learned from the other fitted rows."""
        others = np.setdiff1d(self.fitted, self.scored, assume_unique=True)
        X = feature_columns(self.round, self.scored).T.astype(np.float64)
        return (scale(self.round, self.target, others) * X for scale in self.scales)
