"""The tables and the figure of a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...inspection.plot_style import distinct_labels, style_axes
from ..figures import as_bytes, draw_curves, new_figure, set_log_scale, style
from ..records import Record, as_frame
from ..report import report
from ..summary import Summary, curves
from .protocol import Protocol
from .systems import SYSTEMS

REPORTED = {"accuracy": "higher", "fit_seconds": "time", "predict_seconds": "time"}
# The axis ends this many percent below the best, or three times the distance of the worst final accuracy: the
# first rounds of a slow learner would compress the rest.
SHOWN = 8.0


def mean_accuracy(records: Sequence[Record]) -> Any:
    """Mean test accuracy over splits: a pandas data frame, a row per data set, a column per system."""
    return Summary(as_frame(records), "accuracy").mean


def comparison_report(records: Sequence[Record], protocol: Protocol) -> str:
    """Accuracy in percent and times, as Markdown, and what the systems share."""
    frame = as_frame(records).assign(accuracy=lambda f: 100 * f["accuracy"])
    as_they_come = frame["system"].map(lambda name: SYSTEMS[name].as_it_comes)
    parts = {"# Default models, as they come": frame[as_they_come], "# Identical loops": frame[~as_they_come]}
    shown = [f"{title}\n\n{report(part, REPORTED)}" for title, part in parts.items() if len(part)]
    return "\n".join([*shown, caption(frame["system"].unique(), protocol)])


def caption(systems: Sequence[str], protocol: Protocol) -> str:
    """The values, the shared settings, and the differences between the systems."""
    tuned = ", hyperparameters by 5-fold search on the training part" if protocol.tune else ""
    lines = [
        f"Test accuracy in percent, mean ± standard error over stratified splits ({protocol.splits} of each data "
        f"set), {100 * protocol.test_size:g} % test.",
        f"The same for all: splits and one thread; in identical loops also {protocol.rounds} rounds and features "
        f"standardised on the training part{tuned}.",
        "What differed:",
        *(f"  {name}: {difference(name, protocol)}" for name in systems),
    ]
    if protocol.tune:
        lines.append("Seconds of the final fit, without the search.")
    return "\n".join(lines)


def difference(name: str, protocol: Protocol) -> str:
    """The settings that are specific to a system."""
    system = SYSTEMS[name]
    if system.as_it_comes:
        return system.note
    searched = protocol.tune and any("learning_rate" in part for part in protocol.grid(system, 1))
    shrinkage = "shrinkage tuned" if searched else f"shrinkage {protocol.rate(system):g}"
    size = "" if protocol.tune else system.size
    return ", ".join(filter(None, (system.note, size, shrinkage)))


def comparison_plot(records: Sequence[Record], format: str = "png") -> bytes:
    """The figure as a file of that format; the records must have curves."""
    frame = as_frame(records)
    summary = Summary(frame, "accuracy")
    row = 0.11 * len(summary.columns) + 0.12
    figure = new_figure(11, max(4.6, 1.5 + row * len(summary.lines)))
    left, right = figure.subplots(1, 2, width_ratios=[1.15, 1])
    draw_sets(left, 100 * summary.mean, 100 * summary.std)
    draw_rounds(right, mean_curves(frame))
    handles, names = left.get_legend_handles_labels()
    rows = math.ceil(len(names) / 6)
    figure.legend(handles, names, loc="outside upper center", ncols=math.ceil(len(names) / rows), frameon=False)
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
