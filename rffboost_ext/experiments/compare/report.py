"""The table and the files of a comparison."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ..datasets import NamedDataset
from ..records import Record, as_frame
from ..summary import Summary
from .protocol import Protocol
from .systems import SYSTEMS

PAIRS = {"tree": "xgboost", "tree_logistic": "xgboost_logistic"}
"""Systems with XGBoost's trees in our loop, and the systems with the same loss in XGBoost's loop."""


def mean_accuracy(records: Sequence[Record]) -> Any:
    """Mean test accuracy over splits: a pandas data frame, a row per data set, a column per system."""
    return Summary(as_frame(records), "accuracy").mean


def table(records: Sequence[Record], datasets: Sequence[NamedDataset], protocol: Protocol) -> Any:
    """The comparison as a table to print, a ``rich.table.Table``; the best of each row is bold."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    summary = Summary(as_frame(records), "accuracy")
    mean, deviation = summary.mean, summary.std
    lines = [table_caption(list(mean.columns), protocol), *parity_lines(records)]
    out = Table(box=box.SIMPLE_HEAD, caption="\n".join(lines), caption_justify="left")
    out.add_column("data set")
    out.add_column("n x d", justify="right", no_wrap=True)
    for name in mean.columns:
        out.add_column(name, justify="right")
    for dataset in datasets:
        row = mean.loc[dataset.name]
        cells = [f"{100 * m:.1f} ± {100 * s:.1f}" for m, s in zip(row, deviation.loc[dataset.name], strict=True)]
        shape = f"{dataset.X.shape[0]} x {dataset.X.shape[1]}"
        out.add_row(escape(dataset.name), shape, *bold(cells, row == row.max()))
    out.add_section()
    overall, rank = summary.overall, summary.ranks()
    out.add_row("mean", "", *bold([f"{100 * m:.2f}" for m in overall], overall == overall.max()))
    out.add_row("average rank", "", *bold([f"{r:.2f}" for r in rank], rank == rank.min()))
    for label, what in (("seconds to fit", "fit_seconds"), ("seconds to predict", "predict_seconds")):
        seconds = Summary(as_frame(records), what).mean.mean()
        out.add_row(label, "", *(f"{value:.2g}" for value in seconds))
    return out


def bold(cells: Sequence[str], best: Sequence[bool]) -> list[str]:
    """The best cells in bold, for rich."""
    return [f"[bold]{cell}[/bold]" if mark else cell for cell, mark in zip(cells, best, strict=True)]


def counted(count: int, what: str) -> str:
    """A number and a noun, with the plural s if needed."""
    return f"{count} {what}{'s'[: count != 1]}"


def table_caption(systems: Sequence[str], protocol: Protocol) -> str:
    """The caption: the values, the shared settings, and the differences between the systems."""
    shares = f"{counted(protocol.splits, 'stratified split')}, {100 * protocol.test_size:g} % test"
    tuned = ", hyperparameters by 5-fold search on the training part" if protocol.tune else ""
    lines = [
        f"Test accuracy in percent, mean ± standard deviation over {shares}.",
        f"The same for all: splits, features standardised on the training part, {protocol.rounds} rounds, "
        f"one thread{tuned}.",
        "What differed:",
        *(f"  {name}: {difference(name, protocol)}" for name in systems),
    ]
    if protocol.tune:
        lines.append("Seconds of the final fit, without the search.")
    return "\n".join(lines)


def parity_lines(records: Sequence[Record]) -> list[str]:
    """Differences between our loop and XGBoost's for the same loss; empty without such a pair of systems."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.system, []).append(record)
    lines = []
    for pair in PAIRS.items():
        if set(pair) <= set(groups):
            ours, theirs = (fmean(record["accuracy"] for record in groups[name]) for name in pair)
            times = [1e3 * fmean(record["fit_seconds"] / record.x for record in groups[name]) for name in pair]
            lines.append(
                f"  {pair[0]} and {pair[1]}: {100 * (ours - theirs):+.2f} points of accuracy, {times[0]:.3g} and "
                f"{times[1]:.3g} ms per round"
            )
    return ["The same loss in our loop and in XGBoost's:", *lines] if lines else []


def difference(name: str, protocol: Protocol) -> str:
    """The settings that are specific to a system."""
    system = SYSTEMS.create(name)
    searched = protocol.tune and any("learning_rate" in part for part in protocol.grid(system, 1))
    shrinkage = "shrinkage tuned" if searched else f"shrinkage {protocol.rate(system):g}"
    size = "" if protocol.tune else system.size
    return ", ".join(filter(None, (system.note, size, shrinkage)))


def as_json(records: Sequence[Record]) -> bytes:
    """The records as a JSON list, without curves."""
    rows = [{name: value for name, value in record.row().items() if name != "curve"} for record in records]
    return (json.dumps(rows, indent=1, allow_nan=False) + "\n").encode()
