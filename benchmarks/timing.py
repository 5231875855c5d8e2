"""Timing of systems in turns, and a table of the ratios."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from .machine import environment

Run = Callable[[], Any]
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class TimingRow:
    """One line of the table.

    Attributes
    ----------
    what, workload, peer : str
        What is measured, on which data, and beside what.
    ours, theirs : sequence of float
        Seconds of each turn.
    """

    what: str
    workload: str
    peer: str
    ours: Sequence[float]
    theirs: Sequence[float]

    @property
    def ratio(self) -> float:
        """Median of our times over that of the peer: below 1 ours is faster."""
        return median(self.ours) / median(self.theirs)

    def __str__(self) -> str:
        times = f"{format_duration(median(self.ours)):>9}{format_duration(median(self.theirs)):>9}"
        return f"{self.what:<44}{self.workload:<28}{self.peer:<32}{times}{self.ratio:>7.2f}"


def show(rows: Iterable[TimingRow], path: Path | None = None) -> list[TimingRow]:
    """Print the machine and each row as it arrives, write all of them as JSON to a file, and return them."""
    facts = environment()
    print(facts)
    printed = []
    for row in rows:
        print(row, flush=True)
        printed.append(row)
        if path is not None:
            text = json.dumps({"machine": facts, "rows": [asdict(row) for row in printed]}, indent=1)
            path.write_text(text + "\n")
    return printed


def in_turns(
    *systems: Run, turns: int = 5, calls: int = 1, clock: Callable[[], float] = time.perf_counter
) -> list[list[float]]:
    """Time systems in turns, so that other load of the machine affects all of them.

    Parameters
    ----------
    *systems : callable
        Called without arguments; each is called once before the first turn.
    turns, calls : int
        Turns, and calls of each system in each turn.
    clock : callable, default=time.perf_counter
        What is read before and after.

    Returns
    -------
    list of list of float
        Per system, seconds per call in each turn.
    """
    for run in systems:
        run()
    rounds = [[seconds(run, calls, clock) for run in systems] for _ in range(turns)]
    return [list(times) for times in zip(*rounds, strict=True)]


def seconds(run: Run, calls: int = 1, clock: Callable[[], float] = time.perf_counter) -> float:
    """Mean time of a call."""
    start = clock()
    for _ in range(calls):
        run()
    return (clock() - start) / calls


def format_duration(duration: float) -> str:
    """Seconds with three digits, in the unit that suits."""
    unit = next((unit for unit, size in UNITS.items() if duration >= size), "ns")
    return f"{duration / UNITS[unit]:.3g} {unit}"


def say(line: str) -> None:
    """Print a line on standard error, at once."""
    print(line, file=sys.stderr, flush=True)
