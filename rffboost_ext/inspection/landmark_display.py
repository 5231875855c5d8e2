"""Learned landmarks in the plane of two features, over the raw score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from ..terms import Cosines
from ..terms.ensemble import Ensemble
from ..utils.param_validation import Integer, require
from ..utils.typing import Array
from . import plot_style as style
from .plot_style import check_booster, feature_pair, get_axes, limit_ticks, style_axes

# Contour levels: an odd number of bands, the middle one white.
LEVELS = 18
# Tolerance for rounding errors of phases, in radians, and of a constant score, relative.
ROUNDING = 1e-6


@dataclass(eq=False, repr=False)
class LandmarkDisplay:
    """The landmarks of a model in the plane of two features, over its raw score.

    All cosines of a round are 1 at its landmark. The raw score is plotted over the range of the data, with all
    other features at their medians. Landmarks may lie outside this range.

    Parameters
    ----------
    landmarks : ndarray of shape (T, 2)
        The landmarks.
    grid : pair of ndarray, of shapes (G,) and (H,)
        Coordinates of the score.
    score : ndarray of shape (H, G)
        The raw score on the grid.
    names : pair of str
        Names of the features.
    middle : float, default=0.0
        The score that is white; higher scores are blue, lower ones red.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Axes and figure of the plot.
    dots_ : matplotlib PathCollection
        The landmarks.
    contours_ : matplotlib QuadContourSet
        The score.
    """

    landmarks: Array
    grid: tuple[Array, Array]
    score: Array
    names: tuple[str, str]
    middle: float = 0.0

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        features: tuple[int | str, int | str] = (0, 1),
        *,
        output: int = 0,
        feature_names: Sequence[str] | None = None,
        grid_resolution: int = 120,
        ax: Any = None,
        **kwargs: Any,
    ) -> LandmarkDisplay:
        """Plot the landmarks of a fitted model.

        Parameters
        ----------
        estimator : fitted booster, such as RFFBoostRegressor
            A model with landmarks, as of learner "rff_k" with at least as many components as features.
        X : array-like of shape (n, d)
            Rows for the range of the plane and the medians.
        features : pair of int or str, default=(0, 1)
            Indices or names of two features.
        output : int, default=0
            Index of the raw score, if there are several.
        feature_names : sequence of str, optional
            Names; by default those of the columns in fit.
        grid_resolution : int, default=120
            Number of grid points per feature.
        ax : matplotlib Axes, optional
            Axes to plot on.
        **kwargs
            Passed to :meth:`matplotlib.axes.Axes.scatter`.

        Returns
        -------
        LandmarkDisplay

        Raises
        ------
        ValueError
            If the model has no landmarks, or one-hot columns or missing indicators.
        """
        check_booster(cls.__name__, estimator)
        require(cls.__name__, "grid_resolution", grid_resolution, Integer(2))
        require(cls.__name__, "output", output, Integer(0, estimator.ensemble_.n_outputs - 1))
        names = style.feature_names(estimator, feature_names)
        pair = feature_pair(features, names)
        points, ensemble = landmarks(estimator.ensemble_), estimator.ensemble_
        grid, plane = plane_through_medians(
            np.asarray(estimator.encoder_.transform(X), dtype=np.float64), pair, grid_resolution
        )
        score = ensemble.raw(plane)[:, output].reshape(len(grid[1]), len(grid[0]))
        middle = 0.0 if is_classifier(estimator) else float(ensemble.baseline[output])
        display = cls(points[:, pair], grid, score, (names[pair[0]], names[pair[1]]), middle)
        return display.plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> LandmarkDisplay:
        """Plot on `ax` or a new figure; `kwargs` are passed to :meth:`matplotlib.axes.Axes.scatter`."""
        from matplotlib.ticker import MaxNLocator

        self.ax_ = get_axes(ax, 5.4, 4.4)
        self.figure_ = self.ax_.figure
        reach = float(np.abs(self.score - self.middle).max())
        # A score that is constant up to rounding is white.
        reach = reach if reach > ROUNDING * abs(self.middle) else abs(self.middle) or 1.0
        levels = self.middle + np.linspace(-reach, reach, LEVELS)
        self.contours_ = self.ax_.contourf(*self.grid, self.score, levels=levels, cmap="RdBu")
        outside = sum(
            not all(g[0] <= x <= g[-1] for g, x in zip(self.grid, at, strict=True)) for at in self.landmarks
        )
        label = f"landmarks ({outside} more outside)" if outside else "landmarks"
        looks = {"s": 28, "color": "0.1", "edgecolors": "white", "linewidths": 0.8, "label": label}
        self.dots_ = self.ax_.scatter(*self.landmarks.T, **(looks | kwargs))
        ticks = MaxNLocator(8)
        self.figure_.colorbar(self.contours_, ax=self.ax_, label="raw score", pad=0.02, ticks=ticks)
        self.ax_.set_xlim(self.grid[0][0], self.grid[0][-1])
        limit_ticks(self.ax_)
        self.ax_.set_ylim(self.grid[1][0], self.grid[1][-1])
        self.ax_.set_xlabel(style.label(self.names[0]))
        self.ax_.set_ylabel(style.label(self.names[1]))
        # A common power of ten of the ticks is on the left.
        self.ax_.legend(frameon=False, fontsize=9, loc="lower right", bbox_to_anchor=(1.02, 0.99))
        style_axes(self.ax_)
        return self


def landmarks(ensemble: Ensemble) -> Array:
    """Landmarks of the rounds that have one, (T, d): the point at which the arguments of all cosines are 0."""
    found = [pair for pair in map(Cosines.within, ensemble.terms) if pair is not None]
    expansions = [columns.expansion for _, columns in found if columns.expansion is not None]
    if any(len(one.indicators) or len(one.categorical) for one in expansions):
        raise ValueError(
            "LandmarkDisplay: estimator must be fitted to numbers without missing values, got missing values or "
            "categories"
        )
    points = [point for point in (landmark(term) for term, _ in found) if point is not None]
    if not points:
        raise ValueError(
            "LandmarkDisplay: estimator must have rounds of landmarks, as of the learner 'rff_k' with at least as "
            "many components as features, none of them constant; got none"
        )
    return np.array(points)


def landmark(term: Cosines) -> Array | None:
    """The point x with ``omega (x - center) = phase``, (d,), if there is exactly one."""
    # Scaled, since the rank is determined relative to the largest frequency.
    if len(term.omega) < term.n_features:
        return None
    unit = np.maximum(np.abs(term.omega).max(axis=0), np.finfo(np.float64).tiny)
    solution, _, rank, _ = np.linalg.lstsq(term.omega / unit, term.phase, rcond=None)
    solution /= unit
    if rank < term.n_features or np.abs(term.omega @ solution - term.phase).max() > ROUNDING:
        return None
    return np.asarray(solution if term.center is None else solution + term.center)


def plane_through_medians(X: Array, pair: tuple[int, int], resolution: int) -> tuple[tuple[Array, Array], Array]:
    """A grid of two features, and its points (G * G, d) with all other features at their medians."""
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    # A constant feature needs a range too.
    margin = 0.08 * np.where(high > low, high - low, np.maximum(np.abs(low), 1.0))
    first, second = (np.linspace(low[j] - margin[j], high[j] + margin[j], resolution) for j in pair)
    plane = np.tile(np.nanmedian(X, axis=0), (resolution**2, 1))
    plane[:, pair[0]], plane[:, pair[1]] = np.tile(first, resolution), np.repeat(second, resolution)
    return (first, second), plane
