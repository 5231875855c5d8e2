"""Shared code of the figures."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from rffboost_ext.experiments.figures import draw_curves, new_figure, set_log_scale, style
from rffboost_ext.inspection.plot_style import style_axes
from rffboost_ext.utils.typing import Array

from ...command import signed
from .comparison import FAR, PublishedComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CLASSES = ("#D55E00", "#0072B2")
NEAREST = 1.5
NARROWEST, LETTERS = 5.0, 14
"""Inches that a title needs, and letters of a caption per inch."""


def draw_comparison(comparison: PublishedComparison, title: str) -> Figure:
    """A panel per system: on each data set, how far the mean is from the published one."""
    systems, names = list(comparison.mean.columns), list(comparison.mean.index)
    width = max(NARROWEST, 1.3 + 1.75 * len(systems))
    figure = new_figure(width, 1.5 + 0.24 * len(names))
    panels = np.atleast_1d(figure.subplots(1, len(systems), sharex=True, sharey=True))
    for index, (axes, system) in enumerate(zip(panels, systems, strict=True)):
        draw_panel(axes, comparison, system, index)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.5, -0.5)
    limit = reach(comparison)
    panels[0].set_xlim(-limit, limit)
    figure.suptitle(title, fontsize=10)
    figure.supxlabel(fill(figure_caption(comparison), int(LETTERS * width)), fontsize=9)
    return figure


def draw_panel(axes: Any, comparison: PublishedComparison, system: str, index: int) -> None:
    """One system: the published standard deviation as a band, the measured difference as a dot."""
    rows = np.arange(len(comparison.mean))
    spread = comparison.spread[system].to_numpy(dtype=float)
    for factor, shade in ((FAR, "0.93"), (1.0, "0.85")):
        axes.barh(rows, 2 * factor * spread, left=-factor * spread, height=0.74, color=shade, zorder=0)
    axes.axvline(0.0, color="0.4", linewidth=0.8, zorder=1)
    away = comparison.difference[system].to_numpy(dtype=float)
    axes.errorbar(
        away,
        rows,
        xerr=comparison.error[system].to_numpy(dtype=float),
        linestyle="",
        ms=4.5,
        elinewidth=1,
        **style(index),
    )
    overall = comparison.means.loc[system, "difference"]
    axes.set_title(system if np.isnan(overall) else f"{system}\nmean {signed(overall, 2)}", fontsize=9)
    axes.tick_params(axis="both", length=0, labelsize=8)
    style_axes(axes, "x")


def reach(comparison: PublishedComparison) -> float:
    """Half the width of the panels' range."""
    ends = np.abs(comparison.difference) + comparison.error.fillna(0.0)
    away = np.nanmax(ends.to_numpy(dtype=float), initial=NEAREST)
    bands = comparison.spread.to_numpy(dtype=float)
    band = np.nanmax(bands) if np.isfinite(bands).any() else 0.0
    return 1.08 * float(max(away, band))


def figure_caption(comparison: PublishedComparison) -> str:
    """What the panels show."""
    text = "measured mean less published mean, in points; bars: standard error over splits"
    if comparison.spread.notna().any(axis=None):
        text += f"; bands: 1 and {FAR:g} published standard deviations"
    return text


def curve_figure(curves: Any, xlabel: str, ylabel: str, title: str, log: bool = False) -> Figure:
    """One panel with a line per system."""
    figure = new_figure(6.4, 4.2)
    axes = figure.subplots()
    draw_curves(axes, curves)
    if log:
        set_log_scale(axes)
    else:
        axes.set_xlim(left=0)
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.set_title(title, fontsize=10)
    axes.legend(frameon=False)
    return figure


def draw_boundary(axes: Any, decide: Any, X: Array, y: Array, margin: float = 0.15, size: int = 160) -> None:
    """The plane coloured by a real decision function (n, 2) -> (n,), its zero line, and the points."""
    grid, extent = plane(X, margin, size)
    values = decide(grid).reshape(size, size)
    limit = np.quantile(np.abs(values), 0.98) or 1.0
    axes.imshow(
        values, extent=extent, origin="lower", cmap="RdBu", vmin=-limit, vmax=limit, aspect="auto", alpha=0.55
    )
    if values.min() < 0.0 < values.max():
        axes.contour(values, levels=[0.0], extent=extent, colors="0.15", linewidths=1.1)
    draw_points(axes, X, y)
    axes.set_xlim(extent[:2])
    axes.set_ylim(extent[2:])
    axes.set_xticks([])
    axes.set_yticks([])


def draw_points(axes: Any, X: Array, y: Array) -> None:
    """The points of two classes."""
    for label, colour, marker in zip((0, 1), CLASSES, "os", strict=True):
        points = X[y == label]
        axes.scatter(*points.T, s=9, color=colour, marker=marker, linewidths=0.4, edgecolors="white")


def plane(X: Array, margin: float, size: int) -> tuple[Array, tuple[float, float, float, float]]:
    """A grid of size x size points around X (n, 2), row by row from below, and its extent."""
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - margin * (high - low), high + margin * (high - low)
    first, second = (np.linspace(a, b, size) for a, b in zip(low, high, strict=True))
    grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
    return grid, (low[0], high[0], low[1], high[1])
