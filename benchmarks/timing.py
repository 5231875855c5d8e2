"""Timing in turns, and the rows of a table of ratios."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

Run = Callable[[], Any]
UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class AtLeast:
    """Ours must be faster than the peer by this factor; the ratio is the peer's time over ours."""

    bound: float

    def ratio(self, ours: float, peer: float) -> float:
        """What is compared with the bound."""
        return peer / ours

    def met(self, ratio: float) -> bool:
        """Whether the ratio is good enough."""
        return ratio >= self.bound

    def __str__(self) -> str:
        return f"at least {self.bound:g}"


@dataclass(frozen=True)
class AtMost:
    """Ours may take this share of the peer's time; the ratio is our time over the peer's."""

    bound: float

    def ratio(self, ours: float, peer: float) -> float:
        """What is compared with the bound."""
        return ours / peer

    def met(self, ratio: float) -> bool:
        """Whether the ratio is good enough."""
        return ratio <= self.bound

    def __str__(self) -> str:
        return f"at most {self.bound:g}"


@dataclass(frozen=True)
class TimingRow:
    """One line of the table.

    Attributes
    ----------
    what, workload, peer : str
        What is measured, on which data, and beside what.
    ours, theirs : sequence of float
        Times of each turn, in seconds; their medians count.
    target : AtLeast or AtMost
        What the ratio must reach.
    """

    what: str
    workload: str
    peer: str
    ours: Sequence[float]
    theirs: Sequence[float]
    target: AtLeast | AtMost

    @property
    def ratio(self) -> float:
        """Quotient of the medians, in the direction that the target asks for."""
        return self.target.ratio(median(self.ours), median(self.theirs))

    @property
    def reached(self) -> bool:
        """Whether the ratio meets the target."""
        return self.target.met(self.ratio)

    def cells(self) -> list[str]:
        """The row as text, a cell per column."""
        times = format_duration(median(self.ours)), f"{format_duration(median(self.theirs))}  {self.peer}"
        return [
            self.what,
            self.workload,
            *times,
            f"{self.ratio:.2f}",
            str(self.target),
            "yes" if self.reached else "no",
        ]

    def record(self) -> dict[str, Any]:
        """The row for JSON, with the times of all turns."""
        names = ("what", "workload", "peer", "ratio", "reached")
        times = {"ours": list(self.ours), "theirs": list(self.theirs), "must_reach": str(self.target)}
        return {name: getattr(self, name) for name in names} | times


def in_turns(
    *systems: Run, turns: int, calls: int = 1, warm: int = 0, clock: Callable[[], float] = time.perf_counter
) -> list[list[float]]:
    """Time systems one after the other, and again, after one call of each to warm up.

    Parameters
    ----------
    *systems : callable
        What to time; A, B, A, B, ..., so that whatever else slows the machine slows all of them.
    turns : int
        Turns of each system.
    calls : int, default=1
        Calls per turn, enough of them to be well above the clock's resolution.
    warm : int, default=0
        Calls before those of each turn that are not timed.
    clock : callable, default=time.perf_counter
        What is read before and after.

    Returns
    -------
    list of list of float
        Per system, seconds per call in each turn.
    """
    for run in systems:
        run()
    rounds = [[seconds(run, calls, warm, clock) for run in systems] for _ in range(turns)]
    return [list(times) for times in zip(*rounds, strict=True)]


def seconds(run: Run, calls: int = 1, warm: int = 0, clock: Callable[[], float] = time.perf_counter) -> float:
    """How long one call takes, on the mean over some that follow others."""
    for _ in range(warm):
        run()
    start = clock()
    for _ in range(calls):
        run()
    return (clock() - start) / calls


def format_duration(duration: float) -> str:
    """Seconds with three digits, in the unit that suits."""
    unit = next((unit for unit, size in UNITS.items() if duration >= size), "ns")
    return f"{duration / UNITS[unit]:.3g} {unit}"
