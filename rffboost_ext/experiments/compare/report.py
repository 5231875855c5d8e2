"""Tables and files of a comparison."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from ..records import as_csv as records_as_csv
from ..records import as_row
from .datasets import NamedDataset
from .protocol import ComparisonRecord, Protocol
from .systems import SYSTEMS

# Mean accuracies on the same test rows may differ by round-off alone, which must not affect ranks.
DIGITS = 10
PAIRS = {"tree": "xgboost", "tree_logistic": "xgboost_logistic"}
"""Systems with XGBoost's trees in our loop, and the systems with the same loss in XGBoost's loop."""


def mean_accuracy(records: Sequence[ComparisonRecord]) -> Any:
    """Mean test accuracy over splits: a pandas data frame, a row per data set, a column per system."""
    return _by_cell(records, "accuracy").mean().unstack().round(DIGITS)


def spread(records: Sequence[ComparisonRecord]) -> Any:
    """Standard deviation of test accuracy over splits, as :func:`mean_accuracy`; 0 for one split."""
    return _by_cell(records, "accuracy").std(ddof=0).unstack()


def average_rank(records: Sequence[ComparisonRecord]) -> Any:
    """Rank of each system by mean accuracy, 1 the best and ties shared, averaged over data sets."""
    return mean_accuracy(records).rank(axis=1, ascending=False).mean()


def mean_seconds(records: Sequence[ComparisonRecord], what: str) -> Any:
    """Mean of ``fit_seconds`` or ``predict_seconds`` of each system over splits, then over data sets."""
    return _by_cell(records, what).mean().unstack().mean()


def _by_cell(records: Sequence[ComparisonRecord], column: str) -> Any:
    import pandas as pd

    frame = pd.DataFrame([as_row(record) for record in records])
    return frame.groupby(["dataset", "system"], sort=False)[column]


def table(records: Sequence[ComparisonRecord], datasets: Sequence[NamedDataset], protocol: Protocol) -> Any:
    """The comparison as a table to print, a ``rich.table.Table``; the best of each row is bold."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    mean, deviation = mean_accuracy(records), spread(records)
    lines = [caption(list(mean.columns), protocol), *parity_lines(records)]
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
    overall, rank = mean.mean().round(DIGITS), average_rank(records)
    out.add_row("mean", "", *bold([f"{100 * m:.2f}" for m in overall], overall == overall.max()))
    out.add_row("average rank", "", *bold([f"{r:.2f}" for r in rank], rank == rank.min()))
    for label, what in (("seconds to fit", "fit_seconds"), ("seconds to predict", "predict_seconds")):
        out.add_row(label, "", *(f"{seconds:.2g}" for seconds in mean_seconds(records, what)))
    return out


def bold(cells: Sequence[str], best: Sequence[bool]) -> list[str]:
    """The best cells in bold, for rich."""
    return [f"[bold]{cell}[/bold]" if mark else cell for cell, mark in zip(cells, best, strict=True)]


def counted(count: int, what: str) -> str:
    """A number and a noun, with the plural s if needed."""
    return f"{count} {what}{'s'[: count != 1]}"


def caption(systems: Sequence[str], protocol: Protocol) -> str:
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


def parity_lines(records: Sequence[ComparisonRecord]) -> list[str]:
    """Differences between our loop and XGBoost's for the same loss; empty without such a pair of systems."""
    means = mean_per_system(records)
    lines = []
    for ours, theirs in PAIRS.items():
        if {ours, theirs} <= set(means):
            (accuracy, seconds), (their_accuracy, their_seconds) = means[ours], means[theirs]
            times = f"{1e3 * seconds:.3g} and {1e3 * their_seconds:.3g} ms per round"
            gain = 100 * (accuracy - their_accuracy)
            lines.append(f"  {ours} and {theirs}: {gain:+.2f} points of accuracy, {times}")
    return ["The same loss in our loop and in XGBoost's:", *lines] if lines else []


def mean_per_system(records: Sequence[ComparisonRecord]) -> dict[str, tuple[float, float]]:
    """Mean accuracy, and mean seconds of a round, over all records of each system."""
    groups: dict[str, list[ComparisonRecord]] = {}
    for record in records:
        groups.setdefault(record.system, []).append(record)
    return {
        name: (fmean(r.accuracy for r in group), fmean(r.fit_seconds / r.rounds for r in group))
        for name, group in groups.items()
    }


def difference(name: str, protocol: Protocol) -> str:
    """The settings that are specific to a system."""
    system = SYSTEMS.create(name)
    searched = protocol.tune and any("learning_rate" in part for part in protocol.grid(system, 1))
    shrinkage = "shrinkage tuned" if searched else f"shrinkage {protocol.rate(system):g}"
    size = "" if protocol.tune else system.size
    return ", ".join(filter(None, (system.note, size, shrinkage)))


def as_json(records: Sequence[ComparisonRecord]) -> bytes:
    """The records as a JSON list."""
    return (json.dumps([as_row(record) for record in records], indent=1, allow_nan=False) + "\n").encode()


def as_csv(records: Sequence[ComparisonRecord]) -> bytes:
    """The records as CSV."""
    return records_as_csv(ComparisonRecord, records)
