"""Records beside the published values: differences, distances and curves, and their tables in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd

from rffboost_ext.experiments.report import NONE, markdown
from rffboost_ext.experiments.summary import DIGITS, Summary

from ...command import signed

FAR = 2.5
"""Published standard deviations beyond which a mean is called far from the published one."""


@lru_cache(maxsize=8)
def published(name: str) -> Any:
    """A table of published values, a data frame with the first column as its index."""
    text = files(__package__).joinpath("published", f"{name}.csv").read_text()
    return pd.read_csv(StringIO(text), index_col=0)


class PublishedComparison(Summary):
    """Measured means beside published ones.

    Parameters
    ----------
    frame : data frame
        Records of one x per data set and system.
    datasets, systems : sequence of str
        The order of lines and columns; those without a record are left out.
    reference, spread : data frame, optional
        Published means and their standard deviations, a line per data set, a column per system.
    lower : bool
        Whether a lower score is better.
    """

    def __init__(
        self,
        frame: Any,
        datasets: Sequence[str],
        systems: Sequence[str],
        reference: Any = None,
        spread: Any = None,
        lower: bool = False,
    ) -> None:
        super().__init__(frame, "score", datasets, systems, lower)
        # One split has no standard deviation.
        self.std = self.std.where(self.splits > 1)
        unknown = self.mean * float("nan")
        self.reference = unknown if reference is None else self.ordered(reference)
        self.spread = unknown if spread is None else self.ordered(spread)

    @property
    def error(self) -> Any:
        """Standard error of the measured means; NaN for one split."""
        return self.std / np.sqrt(self.splits.astype(float))

    @cached_property
    def difference(self) -> Any:
        """Measured minus published; NaN where one of them is missing."""
        return (self.mean - self.reference).round(DIGITS)

    @property
    def both(self) -> Any:
        """Where there is a measured and a published mean."""
        return self.difference.notna()

    @cached_property
    def means(self) -> Any:
        """Per system, over the data sets that have a published mean too: their number and both means."""
        kept = self.both
        columns = {
            "sets": kept.sum(),
            "measured": self.mean.where(kept).mean(),
            "published": self.reference.where(kept).mean(),
        }
        return pd.DataFrame(columns).assign(difference=lambda f: f["measured"] - f["published"])

    @cached_property
    def shared(self) -> Any:
        """The data sets with a measured mean of every system and, if any means are published, a published one."""
        has_mean = self.both if self.reference.notna().any(axis=None) else self.mean.notna()
        return has_mean.index[has_mean.all(axis=1)]

    def far(self) -> list[tuple[str, str, float]]:
        """The cells more than :data:`FAR` published standard deviations away, and their distances."""
        away = (self.difference / self.spread).stack().dropna()
        return [(dataset, system, float(z)) for (dataset, system), z in away.items() if abs(z) > FAR]

    def rows(self) -> Any:
        """Everything as a data frame with a line per cell, for a file."""
        parts = {
            "mean": self.mean,
            "std": self.std,
            "splits": self.splits,
            "published": self.reference,
            "published_std": self.spread,
            "difference": self.difference,
        }
        stacked = {name: part.stack(future_stack=True) for name, part in parts.items()}
        out = pd.DataFrame(stacked).dropna(subset=["mean"]).reset_index(names=["dataset", "system"])
        return out.astype({"splits": int})


def along(frame: Any, label: str, repeats: str = "splits") -> Any:
    """Mean, standard deviation and number of scores per data set, system and x, which is renamed to `label`."""
    means = frame.groupby(["dataset", "system", "x"], sort=False)["score"].agg(["mean", "std", "count"])
    return means.reset_index().rename(columns={"x": label, "count": repeats})


def incomplete(frame: Any) -> str:
    """What :func:`complete_sets` lacks; empty if there are any."""
    return (
        "" if len(complete_sets(frame)) else "a data set and split that all systems have at all of their numbers"
    )


def complete_sets(frame: Any) -> Any:
    """The records of the data sets and splits for which every system has all of its x."""
    needed = frame.groupby("system")["x"].nunique().sum()
    measured = frame.groupby(["dataset", "split"])["x"].transform("size")
    return frame[measured == needed]


def with_reference(value: float, reference: float, digits: int = 2, std: float = float("nan")) -> str:
    """A value with its standard deviation, and in brackets the published value and the difference."""
    if pd.isna(value):
        return NONE
    spread = "" if pd.isna(std) else f" ± {std:.{digits}f}"
    published = "" if pd.isna(reference) else f" ({reference:.{digits}f}, {signed(value - reference, digits)})"
    return f"{value:.{digits}f}{spread}{published}"


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
    return [with_reference(mean, published, 1, std) for mean, published, std in zip(*parts, strict=True)]


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
    cells = comparison.far()
    if not cells:
        return f"No cell is further than {FAR:g} published standard deviations from the published mean.\n"
    lines = [
        f"- {d}, {s}: {signed(z)} standard deviations. {reasons.get((d, s), '')}".rstrip() for d, s, z in cells
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
