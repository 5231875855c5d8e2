"""Tables in Markdown, and the report of records."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .summary import Summary

NONE = "-"


def markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*header, box=box.MARKDOWN)
    for line in lines:
        table.add_row(*line)
    out = io.StringIO()
    Console(file=out, width=1_000, markup=False).print(table)
    return "\n".join(text.rstrip() for text in out.getvalue().strip().splitlines()) + "\n"


def report(frame: Any, measures: Mapping[str, str], groups: Mapping[str, Sequence[str]] | None = None) -> str:
    """Tables of systems, and of data sets unless these have `groups`, each of which has a column of means.

    `measures` says what is better of each, "higher" or "lower", or "time". A system has the mean over the data
    sets that all systems have, the average rank, and the mean difference from the first system with its standard
    error over data sets, or the geometric mean of the ratios of times. A data set has means over splits.
    """
    parts = []
    for measure, better in measures.items():
        summary = Summary(frame, measure, lower=better != "higher")
        parts += [f"## {measure}", table_of_systems(summary, better == "time", groups or {})]
        if better != "time" and not groups:
            parts.append(table_of_datasets(summary))
    return "\n".join(parts)


def table_of_systems(summary: Summary, is_time: bool, groups: Mapping[str, Sequence[str]]) -> str:
    """A line per system."""
    differences, ratios, ranks, overall = summary.differences(), summary.ratios(), summary.ranks(), summary.overall
    first = summary.columns[0]
    beside = ["ratio"] if is_time else ["rank", "difference", "better on"]
    lines = []
    for name in summary.columns:
        means = (summary.mean[name].reindex(list(group)).mean() for group in groups.values())
        gap = differences.loc[name]
        compared = [f"{ratios[name]:.2f}"] if is_time else [f"{ranks[name]:.2f}", "", ""]
        if not is_time and name != first:
            compared[1:] = [
                f"{gap['difference']:+.3g}" + plus_minus(gap["error"]),
                f"{gap['better']:.0f} of {gap['count']:.0f}",
            ]
        lines.append(
            [name, *("" if np.isnan(mean) else f"{mean:.2f}" for mean in means), number(overall[name]), *compared]
        )
    return markdown(["system", *groups, f"mean of {len(summary.shared)} sets", *beside], lines)


def table_of_datasets(summary: Summary) -> str:
    """A line per data set."""
    error = summary.std / np.sqrt(summary.splits)
    lines = [
        [str(name), *(cell(*pair) for pair in zip(summary.mean.loc[name], error.loc[name], strict=True))]
        for name in summary.lines
    ]
    return markdown(["data set", *summary.columns], lines)


def cell(mean: float, error: float) -> str:
    """A mean and its standard error, if it has one."""
    if np.isnan(mean):
        return NONE
    return number(mean) + plus_minus(error)


def plus_minus(error: float) -> str:
    """A standard error, if there is one: not of a single data set or split."""
    return f" ± {error:.2g}" if error > 0.0 else ""


def number(value: float) -> str:
    """A number of four digits, or with two decimals."""
    return f"{value:.2f}" if abs(value) >= 10.0 else f"{value:.4g}"
