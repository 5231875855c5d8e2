"""The Markdown page of a target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from ..report import NONE, markdown, signed
from .comparison import FAR, PublishedComparison, complete_sets


def with_reference(value: float, reference: float, digits: int = 2, std: float = float("nan")) -> str:
    """A value with its standard deviation, and in brackets the published value and the difference."""
    if pd.isna(value):
        return NONE
    spread = "" if pd.isna(std) else f" ± {std:.{digits}f}"
    known = "" if pd.isna(reference) else f" ({reference:.{digits}f}, {signed(value - reference, digits)})"
    return f"{value:.{digits}f}{spread}{known}"


def comparison_table(comparison: PublishedComparison) -> str:
    """A line per data set, a cell per system; below them means and ranks."""
    body = [
        [str(name), span(comparison.splits.loc[name]), *cells_of(comparison, name)]
        for name in comparison.mean.index
    ]
    return markdown(["data set", "splits", *comparison.mean.columns], [*body, *footer(comparison)])


def cells_of(comparison: PublishedComparison, name: Any) -> list[str]:
    """A cell per system of a data set."""
    parts = (part.loc[name] for part in (comparison.mean, comparison.reference, comparison.std))
    return [with_reference(mean, known, 1, std) for mean, known, std in zip(*parts, strict=True)]


def span(counts: Any) -> str:
    """The number of splits of a data set or a system, or its range."""
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low} to {high}"


def footer(comparison: PublishedComparison) -> list[list[str]]:
    """Means over data sets and average ranks, measured and published."""
    overall = comparison.means
    lines = []
    splits = [span(counts) for _, counts in comparison.splits.items()]
    if len(set(splits)) > 1:
        lines.append(["splits", "", *splits])
    if overall["sets"].any():
        means = [with_reference(a, b) for a, b in overall[["measured", "published"]].to_numpy()]
        lines += [["published sets", "", *map(str, overall["sets"])], ["mean of these", "", *means]]
    if len(comparison.shared) and len(comparison.mean.columns) > 1:
        ranks = [comparison.ranks(part) for part in (comparison.mean, comparison.reference)]
        count = len(comparison.shared)
        label = f"average rank, {count} set{'s' * (count > 1)}"
        lines.append([label, "", *(with_reference(a, b) for a, b in zip(*ranks, strict=True))])
    return lines


def far_lines(comparison: PublishedComparison, reasons: Mapping[tuple[str, str], str]) -> str:
    """The cells that are far from the published values, with known reasons."""
    if not comparison.spread.notna().any(axis=None):
        return ""
    found = comparison.far()
    if not found:
        return f"No cell is further than {FAR:g} published standard deviations from the published mean.\n"
    lines = [
        f"- {d}, {s}: {signed(z)} standard deviations. {reasons.get((d, s), '')}".rstrip() for d, s, z in found
    ]
    return (
        f"Further than {FAR:g} published standard deviations from the published mean:\n\n"
        + "\n".join(lines)
        + "\n"
    )


def curve_table(curves: Any, label: str, reference: Any = None, digits: int = 2) -> str:
    """A line per x, a cell per system with the published value, if any."""
    published = pd.DataFrame() if reference is None else reference
    published = published.reindex(index=curves.index, columns=curves.columns)
    lines = [
        [f"{x:g}", *(with_reference(*pair, digits) for pair in zip(curves.loc[x], published.loc[x], strict=True))]
        for x in curves.index
    ]
    return markdown([label, *map(str, curves.columns)], lines)


def averaging_line(frame: Any) -> str:
    """The data sets and splits that a mean curve is over."""
    splits = complete_sets(frame).groupby("dataset", sort=False)["split"].nunique()
    named = ", ".join(f"{name} ({count})" for name, count in splits.items())
    sets = "data set" if len(splits) == 1 else "data sets"
    return f"Mean over {len(splits)} {sets}, each the mean of its splits (their number in brackets): {named}."
