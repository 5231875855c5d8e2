"""Tables of a comparison, and its files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from .datasets import Dataset
from .parity import parities
from .protocol import Protocol, Record
from .systems import SYSTEMS

# Mean accuracies on the same test rows may differ by round-off alone, which must not affect ranks.
DIGITS = 10


def mean_accuracy(records: Sequence[Record]) -> Any:
    """Mean test accuracy over splits: a pandas data frame, a row per data set, a column per system."""
    return _by_cell(records, "accuracy").mean().unstack().round(DIGITS)


def spread(records: Sequence[Record]) -> Any:
    """Standard deviation of test accuracy over splits, as :func:`mean_accuracy`; 0 for one split."""
    return _by_cell(records, "accuracy").std(ddof=0).unstack()


def average_rank(records: Sequence[Record]) -> Any:
    """Rank of each system by mean accuracy, 1 the best and ties shared, averaged over data sets."""
    return mean_accuracy(records).rank(axis=1, ascending=False).mean()


def mean_seconds(records: Sequence[Record], what: str) -> Any:
    """Mean of ``fit_seconds`` or ``predict_seconds`` of each system over splits, then over data sets."""
    return _by_cell(records, what).mean().unstack().mean()


def _by_cell(records: Sequence[Record], column: str) -> Any:
    import pandas as pd

    frame = pd.DataFrame([asdict(record) for record in records])
    return frame.groupby(["dataset", "system"], sort=False)[column]


def table(records: Sequence[Record], datasets: Sequence[Dataset], protocol: Protocol) -> Any:
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
    """So many of something, in the plural where there are several."""
    return f"{count} {what}{'s'[: count != 1]}"


def caption(systems: Sequence[str], protocol: Protocol) -> str:
    """What a table shows, what was the same for all systems, and what differed."""
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
        lines.append("Seconds are those of the final fit, the search not counted.")
    return "\n".join(lines)


def parity_lines(records: Sequence[Record]) -> list[str]:
    """The differences between the loops for the same loss; empty if no such pair was compared."""
    pairs = parities(records)
    return ["The same loss in our loop and in XGBoost's:", *(f"  {pair}" for pair in pairs)] if pairs else []


def difference(name: str, protocol: Protocol) -> str:
    """What is specific to a system."""
    system = SYSTEMS.create(name)
    searched = protocol.tune and any("learning_rate" in part for part in protocol.grid(system, 1))
    shrinkage = "shrinkage tuned" if searched else f"shrinkage {protocol.rate(system):g}"
    size = "" if protocol.tune else system.size
    return ", ".join(filter(None, (system.note, size, shrinkage)))


def as_json(records: Sequence[Record]) -> bytes:
    """The records as a JSON list."""
    return (json.dumps([asdict(record) for record in records], indent=1, allow_nan=False) + "\n").encode()


def as_csv(records: Sequence[Record]) -> bytes:
    """The records as CSV, a line each; ``params`` as JSON."""
    import pandas as pd

    rows = [asdict(record) | {"params": json.dumps(record.params)} for record in records]
    return bytes(pd.DataFrame(rows).to_csv(index=False, lineterminator="\n").encode())
