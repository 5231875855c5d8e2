"""The figure of a comparison: accuracy by data set, and by number of rounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...inspection.plot_style import distinct_labels, style_axes
from ..figures import as_bytes, draw_curves, new_figure, set_log_scale, style
from ..records import Record, as_frame
from ..summary import Summary, curves

# The axis ends this many percent below the best, or three times the distance of the worst final accuracy: the
# first rounds of a slow learner would compress the rest.
SHOWN = 8.0


def check_format(path: Path) -> None:
    """Raise a ValueError unless `path` ends in a format that can be drawn."""
    from matplotlib.backend_bases import FigureCanvasBase

    formats, ending = sorted(FigureCanvasBase.get_supported_filetypes()), path.suffix[1:].lower()
    if ending not in formats:
        raise ValueError(f"--plot: {str(path)!r} must end in one of: {', '.join(formats)}")


def draw(records: Sequence[Record], format: str = "png") -> bytes:
    """The figure as a file of that format; the records must have curves."""
    frame = as_frame(records)
    summary = Summary(frame, "accuracy")
    row = 0.11 * len(summary.columns) + 0.12
    figure = new_figure(11, max(4.6, 1.5 + row * len(summary.lines)))
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
    draw_sets(left, 100 * summary.mean, 100 * summary.std)
    draw_rounds(right, mean_curves(frame))
    handles, names = left.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside upper center", ncols=min(len(names), 6), frameon=False)
    return as_bytes(figure, format)


def draw_sets(axes: Any, mean: Any, deviation: Any) -> None:
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
    axes.set_xlabel("test accuracy (%), mean ± standard deviation")
    style_axes(axes, "x")


def draw_rounds(axes: Any, means: Any) -> None:
    """A line per system: accuracy after each round, averaged over the data sets."""
    draw_curves(axes, means)
    # Later lines are thinner, so that equal ones remain visible.
    for index, line in enumerate(axes.lines):
        line.set_linewidth(2.6 - 1.6 * index / len(means.columns))
    set_log_scale(axes)
    axes.set_xlim(1, max(2, len(means)))
    best = means.max(axis=None)
    depth = max(SHOWN, 3 * (best - means.iloc[-1].min()))
    axes.set_ylim(bottom=max(means.min(axis=None), best - depth) - 0.1)
    axes.set_xlabel("boosting rounds")
    axes.set_ylabel("mean test accuracy (%)")


def mean_curves(frame: Any) -> Any:
    """Accuracy in percent after each round, averaged over splits, then over data sets: a column per system."""
    rows = frame.explode("curve").rename(columns={"curve": "score"})
    rows = rows.assign(score=100 * rows["score"].astype(float), x=rows.groupby(level=0).cumcount() + 1)
    return curves(rows, frame["system"].unique())
