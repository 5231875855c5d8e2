"""A bare loop on one core and on two: what a second core gains on this machine, whatever is run on it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numba
import numpy as np

from .timing import in_turns


@numba.njit(nogil=True)
def halvings(out, first, last):  # type: ignore[no-untyped-def]
    """Arithmetic without memory, about a tenth of a millisecond per entry first .. last-1 of out."""
    for t in range(first, last):
        total = 0.0
        for i in range(50_000):
            total = 0.5 * total + i
        out[t] = total


def halve(count: int) -> None:
    """So many entries of :func:`halvings`."""
    halvings(np.empty(count), 0, count)


def processes_in_turns(count: int, turns: int) -> tuple[list[float], list[float]]:
    """Times of one process that does `count` entries of :func:`halvings`, and of two that do half of them each.

    The processes share nothing: no memory, no lock of an interpreter, no pool of threads. What two of them do not
    gain over one is the machine's: its other work, or two processors that are one core.
    """
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:

        def run(parts: int) -> Callable[[], Any]:
            return lambda: list(pool.map(halve, [count // parts] * parts))

        # Each process starts, and compiles, with its first task.
        for _ in range(3):
            run(2)()
        one, two = in_turns(run(1), run(2), turns=turns)
    return one, two
