"""Calibration of predicted distributions: probability integral transforms as a curve or a histogram."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..metrics.distributions import checked_rows
from ..utils.param_validation import Integer, OneOf, require
from ..utils.typing import Array
from .plot_style import ACCENT, MAIN, check_booster, get_axes, style_axes

# Points of the curve.
LEVELS = np.linspace(0.0, 1.0, 101)
# Standard errors of the band, in which 95 % of shares are if the predictions are right.
BAND = 1.96


class DistributionCalibrationDisplay:
    r"""Calibration of predicted distributions on rows that were not in the fit.

    If the distributions F are right, the probability integral transforms F(y) are uniformly distributed. The
    curve, ``kind="reliability"``, is the share of targets below the quantiles of each level: it is the diagonal if
    the predictions are calibrated, and steeper in the middle if they are too wide. The histogram, ``kind="pit"``,
    is flat then, U-shaped if the predictions are too narrow, and inclined if they are too low or too high. The
    band and the dashed lines hold 95 % of the shares of as many rows of calibrated predictions.

    For counts the transform is spread uniformly between F(y - 1) and F(y), without random numbers.

    Parameters
    ----------
    levels : ndarray of shape (k,)
        Levels, from 0 to 1.
    shares : ndarray of shape (k,)
        The share of targets below the quantiles of each level.
    n_samples : int
        Number of rows.
    kind : "reliability" or "pit", default="reliability"
        Curve or histogram.
    n_bins : int, default=10
        Bins of the histogram.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Axes and figure of the plot.

    References
    ----------
    Gneiting, Balabdaoui and Raftery, Probabilistic forecasts, calibration and sharpness, JRSS B 69, 2007. Czado,
    Gneiting and Held, Predictive model assessment for count data, Biometrics 65, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> from rffboost_ext.displays import DistributionCalibrationDisplay
    >>> X, y = np.arange(60.0)[:, None], np.sin(np.arange(60.0))
    >>> model = RFFBoostDistribution(learner="tree", n_estimators=5).fit(X, y)
    >>> DistributionCalibrationDisplay.from_estimator(model, X, y).ax_.get_ylabel()
    'share of targets below'
    """

    def __init__(
        self, levels: Array, shares: Array, n_samples: int, kind: str = "reliability", n_bins: int = 10
    ) -> None:
        require(type(self).__name__, "kind", kind, OneOf(("reliability", "pit")))
        require(type(self).__name__, "n_bins", n_bins, Integer(2))
        self.levels = np.asarray(levels)
        self.shares = np.asarray(shares)
        self.n_samples = n_samples
        self.kind = kind
        self.n_bins = n_bins

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> DistributionCalibrationDisplay:
        """Plot the calibration of ``estimator.predict_dist(X)``.

        Parameters
        ----------
        estimator : fitted RFFBoostDistribution
            A fitted model.
        X : array-like of shape (n, d)
            Rows that were not in the fit.
        y : array-like of shape (n,)
            Their targets.
        **options
            As for :meth:`from_predictions`; `label` is the name of the class by default.

        Returns
        -------
        DistributionCalibrationDisplay
        """
        check_booster(cls.__name__, estimator)
        if not hasattr(estimator, "predict_dist"):
            raise TypeError(
                f"{cls.__name__}: estimator must be an RFFBoostDistribution, got {estimator!r}; the "
                f"CalibrationDisplay of scikit-learn is for classifiers"
            )
        options = {"label": type(estimator).__name__} | options
        return cls.from_predictions(y, estimator.predict_dist(X), **options)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_dist: Any,
        *,
        sample_weight: Any = None,
        kind: str = "reliability",
        n_bins: int = 10,
        ax: Any = None,
        **kwargs: Any,
    ) -> DistributionCalibrationDisplay:
        """Plot the calibration of predicted distributions.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Targets.
        y_dist : frozen distribution of scipy.stats
            One for each row, or one for all rows.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights.
        kind : "reliability" or "pit", default="reliability"
            Curve or histogram.
        n_bins : int, default=10
            Bins of the histogram.
        ax : matplotlib Axes, optional
            Axes to plot on.
        **kwargs
            Passed to ``Axes.plot`` or ``Axes.bar``.

        Returns
        -------
        DistributionCalibrationDisplay
        """
        y, weight = checked_rows(cls.__name__, y_true, y_dist, sample_weight)
        levels = np.union1d(LEVELS, np.linspace(0.0, 1.0, n_bins + 1))
        shares = np.average(transforms_below(y_dist, y, levels), axis=1, weights=weight)
        return cls(levels, shares, len(y), kind, n_bins).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> DistributionCalibrationDisplay:
        """Plot on `ax` or a new figure; `kwargs` are passed to ``Axes.plot`` or ``Axes.bar``."""
        self.ax_ = get_axes(ax, 4.2, 3.8)
        self.figure_ = self.ax_.figure
        if self.kind == "pit":
            self._plot_histogram(kwargs)
        else:
            self._plot_curve(kwargs)
        # Several models on the same axes share the lines of calibrated predictions.
        handles, labels = self.ax_.get_legend_handles_labels()
        shown = dict(zip(labels, handles, strict=True))
        above = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 2} if self.kind == "pit" else {}
        self.ax_.legend(shown.values(), shown.keys(), frameon=False, fontsize=9, **above)
        style_axes(self.ax_, "y" if self.kind == "pit" else "both")
        return self

    def _plot_curve(self, options: dict[str, Any]) -> None:
        level = self.levels
        margin = BAND * np.sqrt(level * (1.0 - level) / self.n_samples)
        self.ax_.fill_between(
            level, level - margin, level + margin, color="0.85", linewidth=0, label="95 % if calibrated"
        )
        self.ax_.plot(level, level, color="0.4", linewidth=0.8, label="calibrated")
        looks = {"color": MAIN, "linewidth": 1.8, "label": "predictions"}
        self.ax_.plot(level, self.shares, **looks | options)
        self.ax_.set(xlabel="level of the predicted quantile", ylabel="share of targets below", aspect="equal")
        self.ax_.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))

    def _plot_histogram(self, options: dict[str, Any]) -> None:
        edges = np.linspace(0.0, 1.0, self.n_bins + 1)
        height = self.n_bins * np.diff(np.interp(edges, self.levels, self.shares))
        margin = BAND * np.sqrt((self.n_bins - 1.0) / self.n_samples)
        looks = {"width": 0.94 / self.n_bins, "align": "edge", "color": MAIN, "label": "predictions"}
        self.ax_.bar(edges[:-1], height, **looks | options)
        self.ax_.axhline(1.0, color="0.2", linewidth=0.8, label="calibrated")
        bounds, dashes = (1.0 - margin, 1.0 + margin), {"colors": ACCENT, "linewidths": 0.8, "linestyles": "--"}
        self.ax_.hlines(bounds, 0.0, 1.0, **dashes, label="95 % if calibrated")
        self.ax_.set(xlabel="probability integral transform", ylabel="density", xlim=(0.0, 1.0))


def transforms_below(frozen: Any, y: Array, levels: Array) -> Array:
    """The share of the transform of each row below each level, (k, n): 0 or 1, or a part of a count's interval."""
    high = frozen.cdf(y)
    low = frozen.cdf(y - 1.0) if hasattr(frozen.dist, "pmf") else high
    level, width = levels[:, None], high - low
    part = np.divide(
        level - low, width, out=np.zeros(np.broadcast_shapes(level.shape, y.shape)), where=width > 0.0
    )
    return np.where(width > 0.0, np.clip(part, 0.0, 1.0), high <= level)
