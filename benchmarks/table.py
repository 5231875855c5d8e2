"""The table that a benchmark prints."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from .machine import describe_machine
from .timing import TimingRow, format_duration
from .workloads import Measure, Sizes

COLUMNS = ("what", "workload", "ours", "peer", "ratio", "must reach", "reached")
WIDTH = 190


def rows_of(measures: Sequence[Measure], sizes: Sizes, threads: int) -> list[TimingRow]:
    """Run the measures in order; lines on standard error tell what runs, and its ratios and the time so far."""
    rows: list[TimingRow] = []
    start = time.perf_counter()
    for number, measure in enumerate(measures, start=1):
        title = (measure.__doc__ or "").partition("\n")[0]
        report(f"[{number}/{len(measures)}] {title}")
        found = measure(sizes, threads)
        ratios = ", ".join(f"{row.ratio:.2f}" for row in found) or "no row"
        report(f"    ratios {ratios}; {format_duration(time.perf_counter() - start)} so far")
        rows += found
    return rows


def report(line: str) -> None:
    """Print a line on standard error, at once."""
    print(line, file=sys.stderr, flush=True)


def show(rows: Sequence[TimingRow], facts: dict[str, object], quick: bool) -> None:
    """Print the rows, and below them the machine, versions and threads."""
    # Into a file, a table is as wide as it needs to be.
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    table = Table(*COLUMNS)
    for row in rows:
        table.add_row(*row.cells())
    console.print(table)
    console.print(describe_machine(facts), highlight=False)
    if quick:
        console.print("Small workloads: the targets are for those of a full run.")
