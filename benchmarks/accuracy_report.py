"""The tables of the accuracy benchmark as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from rffboost_ext.experiments.reproduce.ecml2020_tuned import EcmlTable2
from rffboost_ext.experiments.reproduce.markdown import markdown
from rffboost_ext.experiments.reproduce.summary import published as published_table

from .accuracy_claims import OURS, Claim
from .accuracy_records import AccuracyRecord
from .accuracy_summary import Summary, common
from .accuracy_systems import ALL_TASKS, EXAMPLE, SYSTEMS
from .accuracy_tables import Table
from .machine import describe_machine

PUBLISHED_SYSTEMS = {"GBRFF2": "GBRFF2, published", "LGBM": "LightGBM, published"}
NONE = "-"
Lines = list[list[str]]


def report(tables: Iterable[Table], rows: Sequence[AccuracyRecord], speed: str, facts: dict[str, object]) -> str:
    """The whole report: a section per table that has rows, the section on speed, and the machine."""
    by_table = [(table, [row for row in rows if row.table == table.name]) for table in tables]
    sections = [section(table, of_table) for table, of_table in by_table if len(common(of_table))]
    return "\n".join(["# Accuracy beside other systems\n", *sections, speed, describe_machine(facts), ""])


def section(table: Table, rows: Sequence[AccuracyRecord]) -> str:
    """One table with its title, what it shows and what it claims."""
    names = [name for name in table.systems if any(row.system == name for row in rows)]
    able = [name for name in names if set(ALL_TASKS) <= set(SYSTEMS[name].tasks)]
    binary = all(row.task == "binary" for row in rows)
    summary = Summary(rows, names if binary else able)
    parts = [f"## {table.title}\n", caption(table, rows, summary) + "\n", scores(table, names, summary)]
    if OURS in summary.general and len(summary.shared):
        parts.append(claims(table, rows, summary.general))
    return "\n".join(parts)


def caption(table: Table, rows: Sequence[AccuracyRecord], summary: Summary) -> str:
    """What the numbers are."""
    threads = ", ".join(sorted({str(row.threads) for row in rows}))
    regression = any(row.task == "regression" for row in rows)
    what = "Accuracy, for regression R2, " if regression else "Accuracy "
    measure = "R2" if regression else "log loss"
    tuned = f"tuned on the {measure} by 5-fold cross-validation on the training part"
    how = tuned if table.tune else "each system's own defaults"
    text = (
        f"{what}of the test part in percent, mean (standard deviation) over random 70/30 splits, stratified by "
        f"class; {how}; threads of every system: {threads}. Features are given to all systems as they come."
    )
    if len(summary.shared) < len(summary.mean):
        text += f" Means, ranks, wins and times: the {len(summary.shared)} data sets that all of them have."
    return text + "".join(f"\n\n{line}" for line in grid_lines(table, summary))


def grid_lines(table: Table, summary: Summary) -> list[str]:
    """The grids of the systems, where they were tuned."""
    if not table.tune:
        return []
    grids = {SYSTEMS[name].title: SYSTEMS[name].grid(EXAMPLE) for name in summary.mean.columns}
    shown = (f"- {title}: {'; '.join(map(points, grid))}" for title, grid in grids.items())
    what = "Grids, here for one column of codes, and for frequencies with gamma times the number of features:"
    return [what, "\n".join(shown)]


def points(part: dict[str, list[Any]]) -> str:
    """One part of a grid as text."""
    return ", ".join(f"{name} {values}" for name, values in part.items())


def scores(table: Table, names: Sequence[str], summary: Summary) -> str:
    """The data sets, below them what they come to."""
    beside = published(table, summary)
    header = ["data set", "n x d", "splits", *(SYSTEMS[name].title for name in names), *beside.columns]
    body = [dataset_line(name, names, summary, beside) for name in summary.mean.index]
    return markdown(header, [*body, *footer(names, summary, beside)])


def dataset_line(dataset: str, names: Sequence[str], summary: Summary, beside: Any) -> list[str]:
    """The scores of one data set, the best of the run in bold."""
    mean, spread = (frame.loc[dataset].reindex(names) for frame in (summary.mean, summary.spread))
    cells = [
        NONE if pd.isna(m) else bold(f"{m:.2f} ({s:.2f})", m == mean.max())
        for m, s in zip(mean, spread, strict=True)
    ]
    others = [NONE if pd.isna(value) else f"{value:.1f}" for value in beside.loc[dataset]]
    return [dataset, summary.size(dataset), str(summary.splits[dataset]), *cells, *others]


def footer(names: Sequence[str], summary: Summary, beside: Any) -> Lines:
    """Means over data sets, ranks, wins and times."""
    overall, ranks = summary.overall, summary.ranks()
    published_means = [f"{mean:.2f}" for mean in beside.loc[summary.shared.index].mean()]
    blank = [""] * len(beside.columns)
    lines = [
        ["mean", *cells(overall, names, "{:.2f}", overall.max()), *published_means],
        ["average rank", *cells(ranks, names, "{:.2f}", ranks.min()), *blank],
        ["wins", *cells(summary.wins, names, "{:d}", summary.wins.max()), *blank],
        ["seconds per fit, median", *cells(summary.typical_seconds, names, "{:.3g}"), *blank],
    ]
    for peer in ("catboost", "lightgbm"):
        if peer in summary.general:
            label = f"time beside {SYSTEMS[peer].title}"
            lines.append([label, *cells(summary.times_beside(peer), names, "{:.2f}"), *blank])
    return [[label, "", "", *rest] for label, *rest in lines]


def cells(values: Any, names: Sequence[str], form: str, best: float | None = None) -> list[str]:
    """One value per system as text, the best in bold."""
    found = values.to_dict()
    return [bold(form.format(found[name]), found[name] == best) if name in found else NONE for name in names]


def bold(text: str, mark: bool) -> str:
    """Text in bold if marked."""
    return f"**{text}**" if mark else text


def published(table: Table, summary: Summary) -> Any:
    """Published means of the tuned systems of the ECML paper and the best of its six, a row per data set."""
    if not table.published:
        return pd.DataFrame(index=summary.mean.index)
    frame = published_means().reindex(summary.mean.index)
    shown = frame[list(PUBLISHED_SYSTEMS)].rename(columns=PUBLISHED_SYSTEMS)
    return shown.assign(**{"best of six, published": frame.max(axis=1)})


def published_means() -> Any:
    """Gautheron et al., ECML-PKDD 2020, table 2: mean test accuracy in percent, tuned, 20 splits of 70/30."""
    return published_table("ecml2020_table2")[list(EcmlTable2.systems)]


def claims(table: Table, rows: Sequence[AccuracyRecord], general: Sequence[str]) -> str:
    """What the table is to show, and whether it does, on the data sets of all systems that it speaks of.

    Claims about systems without rows are left out.
    """
    checked = [claim for claim in table.claims if set(claim.needs) <= set(general)]
    if not checked:
        return ""
    named = {OURS}.union(*(claim.needs for claim in checked))
    summary = Summary([row for row in rows if row.system in named], [name for name in general if name in named])
    lines = [claim_line(claim, summary) for claim in checked]
    what = f"what is to hold, here on {len(summary.shared)} of {len(table.datasets)} data sets"
    return markdown([what, "found", "holds"], lines)


def claim_line(claim: Claim, summary: Summary) -> list[str]:
    """One claim and what was found."""
    found, holds = claim.check(summary)
    return [claim.text, found, "yes" if holds else "no"]
