"""Learned frequencies in the plane of two features."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..terms import Cosines, FeatureMap
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from . import plot_style as style
from .plot_style import check_booster, feature_pair, get_axes, label, limit_ticks, style_axes

# The areas of the largest and the smallest dot, in square points.
LARGEST, SMALLEST = 110.0, 4.0


@dataclass(eq=False, repr=False)
class FrequencyDisplay:
    """Learned frequencies in the plane of two features: a dot for each frequency, and its mirror image.

    A cosine of frequency omega is also one of -omega. The area of a dot is proportional to the amplitude, the
    colour is the first round with this frequency. Dots on an axis are cosines that do not depend on one of the
    features. The frequency 0 of an intercept is omitted.

    Parameters
    ----------
    omega : ndarray of shape (M, 2)
        Frequencies, in radians per unit of each feature.
    amplitude : ndarray of shape (M,)
        Amplitudes, in units of the raw score.
    round : ndarray of shape (M,)
        The first round of each frequency, from 1.
    names : pair of str
        Names of the features.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Axes and figure of the plot.
    dots_ : matplotlib PathCollection
        The dots.
    """

    omega: Array
    amplitude: Array
    round: Array
    names: tuple[str, str]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        features: tuple[int | str, int | str] = (0, 1),
        *,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> FrequencyDisplay:
        """Plot the frequencies of the cosines of a fitted model.

        Units of a log-transformed feature are those at its anchor; see :class:`~rffboost_ext.terms.ClipAndLog`.

        Parameters
        ----------
        estimator : fitted booster, such as RFFBoostRegressor
            A model with cosines.
        features : pair of int or str, default=(0, 1)
            Indices or names of two numeric features.
        feature_names : sequence of str, optional
            Names; by default those of the columns in fit.
        ax : matplotlib Axes, optional
            Axes to plot on.
        **kwargs
            Passed to :meth:`matplotlib.axes.Axes.scatter`.

        Returns
        -------
        FrequencyDisplay

        Raises
        ------
        ValueError
            If the model has no cosines.
        """
        check_booster(cls.__name__, estimator)
        names = style.feature_names(estimator, feature_names)
        pair = feature_pair(features, names)
        omega, amplitude, round = frequencies(estimator.ensemble_)
        display = cls(omega[:, pair], amplitude, round, (names[pair[0]], names[pair[1]]))
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> FrequencyDisplay:
        """Plot on `ax` or a new figure; `kwargs` are passed to :meth:`matplotlib.axes.Axes.scatter`."""
        from matplotlib.ticker import MaxNLocator

        self.ax_ = get_axes(ax, 5.4, 4.4)
        self.figure_ = self.ax_.figure
        area = np.maximum(LARGEST * self.amplitude / (self.amplitude.max() or 1.0), SMALLEST)
        # Small dots are plotted last, on top of large ones.
        order = np.argsort(-area, kind="stable")
        both = np.concatenate([self.omega[order], -self.omega[order]])
        looks = {"s": np.tile(area[order], 2), "c": np.tile(self.round[order], 2), "cmap": "viridis"}
        looks |= {"alpha": 0.7, "linewidths": 0.4, "edgecolors": "white"}
        self.ax_.axhline(0.0, color="0.75", linewidth=0.8, zorder=0)
        self.ax_.axvline(0.0, color="0.75", linewidth=0.8, zorder=0)
        self.dots_ = self.ax_.scatter(*both.T, **(looks | kwargs))
        # All rounds of a kernel machine have the same frequencies.
        if len(set(self.round)) > 1:
            whole = MaxNLocator(integer=True)
            self.figure_.colorbar(self.dots_, ax=self.ax_, label="first boosting round", pad=0.02, ticks=whole)
        reach = 1.06 * np.abs(both).max(axis=0)
        # A feature without frequencies needs a range too.
        reach[reach == 0.0] = 1.0
        self.ax_.set(xlim=(-reach[0], reach[0]), ylim=(-reach[1], reach[1]))
        limit_ticks(self.ax_)
        self.ax_.set_xlabel(f"frequency in {label(self.names[0])} (radians per unit)")
        self.ax_.set_ylabel(f"frequency in {label(self.names[1])} (radians per unit)")
        style_axes(self.ax_)
        return self


def frequencies(ensemble: Ensemble) -> tuple[Array, Array, Array]:
    """Distinct nonzero frequencies (M, d), amplitudes over all outputs (M,), and first rounds (M,), from 1."""
    found: dict[Hashable, tuple[FeatureMap, list[tuple[int, Cosines]]]] = {}
    for t, (term, length) in enumerate(zip(ensemble.terms, ensemble.lengths, strict=True), 1):
        if (pair := Cosines.within(term)) is not None:
            found.setdefault(term.family, (pair[1], []))[1].append((t, pair[0].scaled(length)))
    parts = [merge_frequencies(columns, rounds) for columns, rounds in found.values()]
    if not any(len(omega) for omega, _, _ in parts):
        raise ValueError("FrequencyDisplay: estimator must have rounds of cosines, got none")
    omega, amplitude, round = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return omega, amplitude, round


def merge_frequencies(columns: FeatureMap, rounds: Sequence[tuple[int, Cosines]]) -> tuple[Array, Array, Array]:
    """Frequencies, amplitudes and first rounds of the cosines of several rounds, on the same columns."""
    terms = [term.centered(None) for _, term in rounds]
    omega = np.concatenate([term.frequencies for term in terms])
    weights = np.hstack([term.cos_sin_weights for term in terms])
    round = np.repeat([t for t, _ in rounds], [len(term.omega) for term in terms])
    distinct, first, inverse = np.unique(omega, axis=0, return_index=True, return_inverse=True)
    sums = np.zeros((len(distinct), 2, weights.shape[2]))
    np.add.at(sums, inverse.ravel(), weights.swapaxes(0, 1))
    order = np.argsort(first)
    order = order[distinct[order].any(axis=1)]
    amplitude = np.linalg.norm(sums, axis=(1, 2))[order]
    return to_original_columns(distinct[order], columns), amplitude, round[first[order]]


def to_original_columns(omega: Array, columns: FeatureMap) -> Array:
    """Frequencies in the columns of X, 0 for categorical ones, from those in imputed and encoded columns."""
    expansion = columns.expansion
    if expansion is None:
        return omega
    out = np.zeros((len(omega), expansion.n_features))
    out[:, expansion.numeric] = omega[:, : len(expansion.numeric)]
    return out
