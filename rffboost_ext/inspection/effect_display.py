"""Partial dependence on one feature, and its individual conditional expectations."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.columns import is_missing
from ..preprocessing.tables import categorical_columns, column_values, is_table, read_table
from ..utils.param_validation import Integer, require
from ..utils.typing import Array
from . import plot_style as style
from .plot_style import (
    ACCENT,
    MAIN,
    QUIET,
    encoded_columns,
    feature_index,
    get_axes,
    label,
    labels,
    style_axes,
)
from .varied_column import with_varied_column

# Number of characters that fit side by side below the axes; longer labels are slanted.
MAX_CHARACTERS = 70
# Width of a new figure in inches: minimum, maximum and per category.
WIDTH, MAX_WIDTH, CATEGORY_WIDTH = 5.6, 40.0, 0.16
SLANTED: dict[str, Any] = {"rotation": 60, "ha": "right", "rotation_mode": "anchor", "fontsize": 7}


class EffectDisplay:
    """Predictions as a function of one feature: a thin line per row, and their mean.

    Parallel lines indicate an additive effect, crossing lines an interaction with other features.

    Parameters
    ----------
    grid : ndarray of shape (G,)
        Values of the feature: numbers, or categories, which are plotted as dots.
    curves : ndarray of shape (n, G)
        Prediction for each row with the feature set to these values.
    observed : ndarray of shape (n,)
        Values of the feature in the data; their deciles are marked.
    name : str
        Name of the feature.
    response : str, default="prediction"
        Label of the predictions.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes, Figure
        Axes and figure of the plot.
    line_ : matplotlib Line2D
        The mean.
    lines_ : list of matplotlib Line2D
        The lines of single rows.
    """

    def __init__(
        self, grid: Array, curves: Array, observed: Array, name: str, response: str = "prediction"
    ) -> None:
        self.grid = grid
        self.curves = curves
        self.observed = observed
        self.name = name
        self.response = response

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        feature: int | str,
        *,
        target: int = 0,
        grid_resolution: int = 100,
        n_curves: int = 40,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> EffectDisplay:
        """Plot the effect of a feature on the predictions for X.

        Parameters
        ----------
        estimator : fitted estimator
            Any estimator compatible with scikit-learn.
        X : array or pandas DataFrame of shape (n, d)
            Rows to predict; a few hundred are enough. Rows with a missing value of the feature are dropped.
        feature : int or str
            Index or name of the feature.
        target : int, default=0
            Index of the output: a class of more than two, or one of several targets.
        grid_resolution : int, default=100
            Number of values between the 5th and the 95th percentile of the feature, or its extremes if these are
            equal. Fewer distinct values, and categories, are all used.
        n_curves : int, default=40
            Number of single rows, evenly spread over the range of predictions; 0 for the mean only.
        feature_names : sequence of str, optional
            Names; by default those of the columns in fit.
        ax : matplotlib Axes, optional
            Axes to plot on.
        **kwargs
            Passed to :meth:`matplotlib.axes.Axes.plot`, of the mean.

        Returns
        -------
        EffectDisplay
        """
        from sklearn.inspection import partial_dependence

        check_is_fitted(estimator)
        require(cls.__name__, "target", target, Integer(0))
        require(cls.__name__, "n_curves", n_curves, Integer(0))
        names = style.feature_names(estimator, feature_names)
        index = feature_index(feature, names)
        require(cls.__name__, "grid_resolution", grid_resolution, Integer(2))
        X, observed = drop_missing_rows(cls.__name__, X, index, names)
        of_categories = not all_numbers(observed) or index in encoded_columns(estimator)
        coded = [index] if of_categories or index in categorical_columns(read_table(X)) else None
        X = X if coded else with_float_feature(X, index)
        values = None if coded else {index: feature_grid(observed.astype(np.float64), grid_resolution)}
        varied = with_varied_column(estimator, X, index)
        found = partial_dependence(
            varied, X, [index], categorical_features=coded, kind="individual", custom_values=values
        )
        if target >= len(found["individual"]):
            raise ValueError(f"{cls.__name__}: target must be below {len(found['individual'])}, got {target}")
        grid = np.asarray(found["grid_values"][0])
        display = cls(
            grid if coded is None else grid.astype(object),
            found["individual"][target],
            observed,
            names[index],
            response_name(estimator, target, len(found["individual"])),
        )
        return display.plot(ax, n_curves=n_curves, **kwargs)

    def plot(self, ax: Any = None, *, n_curves: int = 40, **kwargs: Any) -> EffectDisplay:
        """Plot on `ax` or a new figure; `kwargs` of the mean are passed to :meth:`matplotlib.axes.Axes.plot`."""
        of_categories = self.grid.dtype == object
        self.ax_ = get_axes(
            ax, min(max(WIDTH, CATEGORY_WIDTH * len(self.grid)), MAX_WIDTH) if of_categories else WIDTH
        )
        self.figure_ = self.ax_.figure
        rows = self.curves[evenly_spread_rows(self.curves, n_curves)]
        at = np.arange(len(self.grid)) if of_categories else self.grid
        # A line of one point is invisible.
        dots = {"marker": "o", "linestyle": "none"} if of_categories or len(at) == 1 else {}
        self.lines_ = self.ax_.plot(at, rows.T, color=QUIET, linewidth=0.7, alpha=0.6, **dots)
        looks = {"color": ACCENT, "linewidth": 2.4, "label": "mean", **dots, **kwargs}
        (self.line_,) = self.ax_.plot(at, self.curves.mean(axis=0), **looks)
        if self.lines_:
            self.lines_[0].set_label("single rows")
        if of_categories:
            self._mark_categories()
        else:
            self._mark_deciles()
        if not dots:
            self.ax_.set_xlim(at[0], at[-1])
        self.ax_.set_xlabel(label(self.name))
        self.ax_.set_ylabel(self.response)
        # Above the axes, away from the lines; on the right, as a common power of ten of the ticks is on the left.
        shape = {"ncols": 3, "fontsize": 8, "handlelength": 1.2, "columnspacing": 1.0}
        self.ax_.legend(frameon=False, loc="lower right", bbox_to_anchor=(1.02, 0.99), **shape)
        style_axes(self.ax_)
        return self

    def _mark_categories(self) -> None:
        names = labels(self.grid)
        looks = {} if sum(map(len, names)) + 2 * len(names) <= MAX_CHARACTERS else SLANTED
        self.ax_.set_xticks(range(len(names)), names, **looks)

    def _mark_deciles(self) -> None:
        deciles = np.nanquantile(self.observed.astype(np.float64), np.linspace(0.1, 0.9, 9))
        low, high = self.grid[0], self.grid[-1]
        inside = deciles[(deciles >= low) & (deciles <= high)]
        looks = {"color": MAIN, "linewidth": 1.6, "label": "deciles of data"}
        self.ax_.vlines(inside, 0.0, 0.04, transform=self.ax_.get_xaxis_transform(), **looks)


def drop_missing_rows(owner: str, X: Any, index: int, names: Sequence[str]) -> tuple[Any, Array]:
    """The rows with a value of a feature, and these values."""
    table = read_table(X)
    if is_table(table) and not hasattr(X, "iloc"):
        raise TypeError(f"{owner}: X must be an array or a DataFrame of pandas, got a {type(X).__module__} table")
    X, name = X if is_table(table) else np.asarray(X), names[index]
    if X.ndim != 2 or X.shape[1] != len(names) or not len(X):
        raise ValueError(f"{owner}: X must have shape (n, {len(names)}) with n >= 1, got {X.shape}")
    values = column_values(table, index)
    there = np.flatnonzero([not is_missing(value) for value in values.tolist()])
    if not len(there):
        raise ValueError(f"{owner}: X must have a value of feature {name!r} in some row, got missing values only")
    if len(there) < len(values):
        X = X.iloc[there] if hasattr(X, "iloc") else X[there]
    return X, values[there]


def feature_grid(values: Array, resolution: int) -> Array:
    """Ascending grid for the values (n,) of a numeric feature."""
    from scipy.stats.mstats import mquantiles

    distinct = np.unique(values)
    if len(distinct) < resolution:
        return distinct
    low, high = mquantiles(values, prob=(0.05, 0.95))
    if low >= high:
        # Nearly all rows have the same value.
        low, high = distinct[0], distinct[-1]
    return np.linspace(low, high, resolution)


def all_numbers(values: Array) -> bool:
    """Whether all values are numbers, possibly as Python objects."""
    return values.dtype != object or all(isinstance(value, Real) for value in values.tolist())


def with_float_feature(X: Any, index: int) -> Any:
    """X with an integer, boolean or object feature as float, for a grid of non-integers."""
    if isinstance(X, np.ndarray):
        return X.astype(np.float64) if X.dtype.kind in "biu" else X
    if X.dtypes.iloc[index].kind not in "biuO":
        return X
    real = X.copy()
    real.isetitem(index, X.iloc[:, index].astype(np.float64))
    return real


def evenly_spread_rows(curves: Array, number: int) -> Array:
    """Indices of rows, evenly spread in the order of their mean prediction."""
    order = np.argsort(curves.mean(axis=1), kind="stable")
    return order[np.unique(np.linspace(0, len(order) - 1, min(number, len(order))).astype(np.intp))]


def response_name(estimator: Any, target: int, n_responses: int) -> str:
    """Label of a response of the partial dependence."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return "prediction" if n_responses == 1 else f"prediction {target}"
    what = "probability" if hasattr(estimator, "predict_proba") else "decision value"
    return f"{what} of {label(classes[1] if len(classes) == 2 else classes[target])}"
