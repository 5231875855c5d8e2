"""Feature importances as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from ..utils.param_validation import Integer, require
from ..utils.pipelines import final_estimator
from ..utils.typing import Array
from . import plot_style as style
from .plot_style import MAIN, QUIET, check_booster, distinct_labels, get_axes, style_axes

CUT = 2.0
"""Length of the bar of the remaining features at most, in that of the first."""


class ImportanceDisplay:
    """Feature importances as horizontal bars, the largest on top.

    Parameters
    ----------
    importances : ndarray of shape (d,)
        The importance of each feature.
    names : sequence of str
        Their names.
    max_features : int, default=15
        Maximum number of bars; the remaining features are summed in a grey one, which is cut off at twice the
        length of the first.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Axes and figure of the plot.
    bars_ : matplotlib BarContainer
        The bars, from top to bottom.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from rffboost_ext.displays import ImportanceDisplay
    >>> X = np.random.default_rng(0).standard_normal((100, 2))
    >>> model = RFFBoostRegressor(learner="tree", n_estimators=5).fit(X, X[:, 0])
    >>> display = ImportanceDisplay.from_estimator(model, feature_names=["size", "age"])
    >>> display.figure_.savefig("importances.png")  # doctest: +SKIP
    """

    def __init__(self, importances: Array, names: Sequence[str], max_features: int = 15) -> None:
        require(type(self).__name__, "max_features", max_features, Integer(1))
        self.importances = np.asarray(importances)
        self.names = list(names)
        self.max_features = max_features

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        feature_names: Sequence[str] | None = None,
        max_features: int = 15,
        ax: Any = None,
        **kwargs: Any,
    ) -> ImportanceDisplay:
        """Plot ``estimator.feature_importances_``.

        Parameters
        ----------
        estimator : fitted booster, such as RFFBoostRegressor, or Pipeline
            A fitted model, or a pipeline or a search that ends in one.
        feature_names : sequence of str, optional
            Names; by default those of the columns in fit, of a pipeline those that its steps put out.
        max_features : int, default=15
            Maximum number of bars.
        ax : matplotlib Axes, optional
            Axes to plot on.
        **kwargs
            Passed to :meth:`matplotlib.axes.Axes.barh`.

        Returns
        -------
        ImportanceDisplay
        """
        if (
            isinstance(whole := getattr(estimator, "best_estimator_", estimator), Pipeline)
            and feature_names is None
        ):
            feature_names = names_of_steps(whole)
        estimator = final_estimator(estimator)
        check_booster(cls.__name__, estimator)
        names = style.feature_names(estimator, feature_names)
        return cls(estimator.feature_importances_, names, max_features).plot(ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> ImportanceDisplay:
        """Plot on `ax` or a new figure; `kwargs` are passed to :meth:`matplotlib.axes.Axes.barh`."""
        values, names, n_others = self._rows()
        self.ax_ = get_axes(ax, height=1.0 + 0.26 * len(values))
        self.figure_ = self.ax_.figure
        colours = [MAIN] * (len(values) - (n_others > 0)) + [QUIET] * (n_others > 0)
        widths = values.copy()
        if n_others and len(values) > 1:
            # The bar of many others would leave no room for the rest.
            widths[-1] = min(values[-1], CUT * values[0])
        self.bars_ = self.ax_.barh(np.arange(len(values)), widths, **{"height": 0.72, "color": colours, **kwargs})
        self.ax_.bar_label(self.bars_, [f"{one:.1%}" for one in values], padding=3, fontsize=8, color="0.3")
        self.ax_.set_yticks(np.arange(len(values)), distinct_labels(names))
        self.ax_.set_ylim(len(values) - 0.4, -0.6)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.margins(x=0.12)
        if not np.any(values):
            self.ax_.set_xlim(0.0, 1.0)
        self.ax_.xaxis.set_major_formatter("{x:.0%}")
        self.ax_.set_xlabel("share of the explained variance")
        style_axes(self.ax_, "x")
        return self

    def _rows(self) -> tuple[Array, list[str], int]:
        """Length and label of each bar, and the number of features that the last bar sums."""
        order = np.argsort(-self.importances, kind="stable")
        if len(order) <= self.max_features:
            return self.importances[order], [self.names[i] for i in order], 0
        shown, others = order[: self.max_features - 1], order[self.max_features - 1 :]
        names = [self.names[i] for i in shown] + [f"{len(others):,} others"]
        return np.append(self.importances[shown], self.importances[others].sum()), names, len(others)


def names_of_steps(pipeline: Pipeline) -> list[str] | None:
    """The names of the columns that the steps before the last one put out, if they know them."""
    try:
        return list(pipeline[:-1].get_feature_names_out()) if len(pipeline) > 1 else None
    except (AttributeError, ValueError):
        return None
