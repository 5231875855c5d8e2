"""The Markdown page of a target."""

from __future__ import annotations

import io
import os
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from .summary import FAR, Comparison

NONE = "-"
PACKAGES = ("rffboost-ext", "numpy", "scipy", "numba", "scikit-learn", "xgboost", "lightgbm")
MINUS = str.maketrans("-", "\u2212")


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


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign; 0 has none."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0.0 else text.translate(MINUS)


def cell(mean: float, std: float, reference: float) -> str:
    """Measured mean and standard deviation, and in brackets the published mean and the difference."""
    if pd.isna(mean):
        return NONE
    measured = f"{mean:.1f}" if pd.isna(std) else f"{mean:.1f} ± {std:.1f}"
    return measured if pd.isna(reference) else f"{measured} ({reference:.1f}, {signed(mean - reference)})"


def comparison_table(comparison: Comparison) -> str:
    """A line per data set, a cell per system; below them means and ranks."""
    body = [
        [str(name), span(comparison.splits.loc[name]), *(cell(*values) for values in cells_of(comparison, name))]
        for name in comparison.mean.index
    ]
    return markdown(["data set", "splits", *comparison.mean.columns], [*body, *footer(comparison)])


def cells_of(comparison: Comparison, name: Any) -> list[tuple[float, float, float]]:
    """Mean, standard deviation and published mean of each system on a data set."""
    parts = (comparison.mean, comparison.std, comparison.reference)
    return list(zip(*(part.loc[name] for part in parts), strict=True))


def span(counts: Any) -> str:
    """The number of splits of a data set or a system, or its range."""
    low, high = int(counts.min()), int(counts.max())
    return f"{low}" if low == high else f"{low} to {high}"


def footer(comparison: Comparison) -> list[list[str]]:
    """Means over data sets and average ranks, measured and published."""
    overall = comparison.overall
    lines = []
    splits = [span(counts) for _, counts in comparison.splits.items()]
    if len(set(splits)) > 1:
        lines.append(["splits", "", *splits])
    if overall["sets"].any():
        lines += [
            ["published sets", "", *(str(count) for count in overall["sets"])],
            ["mean of these", "", *(beside(a, b) for a, b in overall[["measured", "published"]].to_numpy())],
        ]
    if len(comparison.shared) and len(comparison.mean.columns) > 1:
        ranks = [comparison.ranks(part) for part in (comparison.mean, comparison.reference)]
        count = len(comparison.shared)
        label = f"average rank, {count} set{'s' * (count > 1)}"
        lines.append([label, "", *(beside(a, b) for a, b in zip(*ranks, strict=True))])
    return lines


def beside(measured: float, reference: float) -> str:
    """A measured number, and in brackets the published one and the difference."""
    if pd.isna(measured):
        return NONE
    known = "" if pd.isna(reference) else f" ({reference:.2f}, {signed(measured - reference, 2)})"
    return f"{measured:.2f}{known}"


def far_lines(comparison: Comparison, reasons: Mapping[tuple[str, str], str]) -> str:
    """The cells that are far from the published ones, with known reasons."""
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
    """A line per x, a cell per system, published values beside those that have one."""
    header = [label, *(str(name) for name in curves.columns)]
    lines = []
    for x, values in curves.iterrows():
        known = [reference_at(reference, x, name) for name in curves.columns]
        cells = [curve_cell(value, other, digits) for value, other in zip(values, known, strict=True)]
        lines.append([f"{x:g}", *cells])
    return markdown(header, lines)


def curve_cell(value: float, reference: float, digits: int) -> str:
    """One value of a curve, and in brackets the published one and the difference."""
    if pd.isna(value):
        return NONE
    known = "" if pd.isna(reference) else f" ({reference:.{digits}f}, {signed(value - reference, digits)})"
    return f"{value:.{digits}f}{known}"


def reference_at(reference: Any, x: Any, name: Any) -> float:
    """A published value, or NaN."""
    known = reference is not None and x in reference.index and name in reference.columns
    return float(reference.loc[x, name]) if known else float("nan")


def environment(jobs: int) -> str:
    """What the numbers were made with, as a line of text."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    cores = os.cpu_count()
    return (
        f"Python {platform.python_version()}, {versions}; {processor()}, {cores} cores; one thread per fit, "
        f"processes: {jobs}."
    )


def processor() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
