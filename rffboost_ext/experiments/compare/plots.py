"""The figure of a comparison: accuracy by data set, and by number of rounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...inspection.plot_style import distinct_labels, style_axes
from ...utils.typing import Array
from ..figures import as_bytes, new_figure, set_log_scale, style
from ..records import Record, as_frame
from ..summary import Summary
from .protocol import Protocol
from .report import counted

# The axis ends this many percent below the best, or three times the distance of the worst final accuracy: the
# first rounds of a slow learner would compress the rest.
SHOWN = 8.0
TALL = 6.5


def check_format(path: Path) -> None:
    """Raise a ValueError unless `path` ends in a format that can be drawn."""
    from matplotlib.backend_bases import FigureCanvasBase

    formats, ending = sorted(FigureCanvasBase.get_supported_filetypes()), path.suffix[1:].lower()
    if ending not in formats:
        raise ValueError(f"the plot {str(path)!r} must end in one of: {', '.join(formats)}")


def draw(records: Sequence[Record], protocol: Protocol, format: str = "png") -> bytes:
    """The figure as a file of that format; the records must have curves."""
    summary = Summary(as_frame(records), "accuracy")
    mean, deviation = 100 * summary.mean, 100 * summary.std
    row = 0.11 * len(mean.columns) + 0.12
    figure = new_figure(11, max(4.6, 1.5 + row * len(mean)))
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
    draw_sets(left, mean, deviation, protocol)
    draw_rounds(right, mean_curves(records), len(mean))
    if figure.get_figheight() > TALL:
        # Curves as tall as a long list of data sets would all look steep.
        right.set_box_aspect(1.2)
        right.set_anchor("N")
    handles, names = left.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=min(len(names), 6), frameon=False)
    return as_bytes(figure, format)


def draw_sets(axes: Any, mean: Any, deviation: Any, protocol: Protocol) -> None:
    """A row per data set, and in it a dot with its standard deviation per system."""
    rows = np.arange(len(mean))
    offsets = np.linspace(-0.36, 0.36, len(mean.columns)) if len(mean.columns) > 1 else [0.0]
    for i, name in enumerate(mean.columns):
        options = {"linestyle": "", "elinewidth": 1.2, "ms": 5, "label": name} | style(i)
        axes.errorbar(mean[name], rows + offsets[i], xerr=deviation[name], **options)
    for row in rows[::2]:
        axes.axhspan(row - 0.5, row + 0.5, color="0.955", zorder=0)
    axes.set_yticks(rows, distinct_labels(mean.index))
    axes.set_ylim(len(mean) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.ticklabel_format(axis="x", useOffset=False)
    axes.set_xlabel("test accuracy (%)")
    splits = counted(protocol.splits, "split")
    axes.set_title(f"By data set: mean ± standard deviation of {splits}", fontsize=10)
    style_axes(axes, "x")


def draw_rounds(axes: Any, curves: dict[str, Array], n_sets: int) -> None:
    """A line per system: accuracy after each round, averaged over the data sets."""
    for i, (name, curve) in enumerate(curves.items()):
        # Later lines are thinner, so that equal ones remain visible.
        width = 2.6 - 1.6 * i / max(1, len(curves) - 1)
        options = {
            "linewidth": width,
            "ms": 5,
            "label": name,
            "markevery": marked_rounds(len(curve), i / len(curves)),
        }
        axes.plot(np.arange(1, len(curve) + 1), 100 * curve, **options | style(i))
    rounds = max(map(len, curves.values()))
    set_log_scale(axes)
    axes.set_xlim(1, max(2, rounds))
    if rounds < 10:
        axes.set_xticks(range(1, rounds + 1))
    axes.set_ylim(*accuracy_range(curves))
    axes.ticklabel_format(axis="y", useOffset=False)
    axes.set_xlabel("boosting rounds")
    axes.set_ylabel("mean test accuracy (%)")
    axes.set_title(f"By number of rounds: mean of {n_sets} data set{'s' * (n_sets > 1)}", fontsize=10)
    style_axes(axes, "both")


def marked_rounds(rounds: int, shift: float) -> list[int]:
    """Indices of the rounds with a marker: evenly spaced on a log scale, shifted by a fraction of the spacing."""
    positions = np.geomspace(1, rounds, 7)
    step = positions[1] / positions[0]
    return sorted({int(p) - 1 for p in positions * step**shift if p <= rounds})


def accuracy_range(curves: dict[str, Array]) -> tuple[float, float]:
    """The range of accuracy on the axis, in percent."""
    last = [100 * curve[-1] for curve in curves.values()]
    best = 100 * max(curve.max() for curve in curves.values())
    lowest = 100 * min(curve.min() for curve in curves.values())
    depth = min(best - lowest, max(SHOWN, 3 * (best - min(last))))
    margin = max(0.05 * depth, 0.1)
    return best - depth - margin, best + margin


def mean_curves(records: Sequence[Record]) -> dict[str, Array]:
    """Accuracy after 1, 2, ... rounds of each system, averaged over splits, then over data sets."""
    cells: dict[str, dict[str, list[Array]]] = {}
    for record in records:
        if "curve" not in record.values:
            raise ValueError("the figure needs records with curves: compare(..., curves=True)")
        by_set = cells.setdefault(record.system, {})
        by_set.setdefault(record.dataset, []).append(record["curve"])
    return {
        system: np.mean([np.mean(curves, axis=0) for curves in by_set.values()], axis=0)
        for system, by_set in cells.items()
    }
