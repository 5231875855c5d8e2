"""One pass of ``rff_1`` over its rows: beside a plain sum of the same bytes, and on two threads.

Two threads are timed after as many passes as are counted, as in a fit: an idle core takes some milliseconds to
reach its speed. The first row of two threads is what the machine allows: two processes of a bare loop beside one
that does the work of both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numba
import numpy as np

from rffboost_ext import FIT_CRITERIA, LOSSES, Design, Round
from rffboost_ext.learners.fourier.objectives import empirical_risk

from .timing import TimingRow, in_turns

Array = np.ndarray


def wave_data(n: int, d: int) -> tuple[Array, Array]:
    """Rows of d normal features in float32, and two classes that a wave and a slope separate, with noise.

    Rows do not depend on how many follow, so that data of any size are of one kind.
    """
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    noise = np.random.default_rng(1).standard_normal(n, dtype=np.float32)
    return X, (np.sin(2.0 * X[:, 0]) + X[:, 1] + noise > 0.0).astype(int)


def exponential_objective(n: int, d: int, threads: int, k: int = 1) -> tuple[Any, Array]:
    """The exponential fit criterion of k cosines in the first round on float32 tiles, and frequencies (k, d)."""
    X, classes = wave_data(n, d)
    loss, y, raw = LOSSES.create("exponential"), classes[:, None].astype(np.float64), np.zeros((n, 1))
    design = Design(X, None, threads, "float32")
    round = Round(design, loss, y, raw, *loss.derivatives(y, raw), np.ones(n), 0, np.random.default_rng(0))
    objective = empirical_risk(round, FIT_CRITERIA.create("exponential"))
    omega = np.sqrt(2.0 / d) * np.random.default_rng(2).standard_normal((k, d))
    objective.project(omega)
    return objective, omega


@numba.njit(fastmath=True, nogil=True)
def total_of(values):  # type: ignore[no-untyped-def]
    """The sum of an array."""
    flat = values.reshape(-1)
    total = flat.dtype.type(0)
    for i in range(len(flat)):
        total += flat[i]
    return total


@numba.njit(fastmath=True, nogil=True)
def sum_tiles(tiles, p, q, sums, first, last):  # type: ignore[no-untyped-def]
    """Write the sum of tiles first .. last-1 (T, d, B) and of two numbers per row, (T, B) each."""
    sums[first] = total_of(tiles[first:last]) + total_of(p[first:last]) + total_of(q[first:last])


def passes(shapes: tuple[tuple[int, int], ...], turns: int) -> Iterator[TimingRow]:
    """One objective and gradient, beside a sum of the bytes that it reads: features and two numbers per row."""
    for n, d in shapes:
        objective, omega = exponential_objective(n, d, 1)
        tiles, (_, *of_rows) = objective.tiles, objective.arrays
        sums = np.zeros(tiles.n_tiles, dtype=np.float32)
        runs = (
            lambda objective=objective, omega=omega: objective.frequency_objective(0.5)(omega[0]),
            lambda tiles=tiles, rows=of_rows, sums=sums: tiles.run(sum_tiles, tiles.blocks, *rows, sums),
        )
        times = in_turns(*runs, turns=3 * turns, calls=5)
        yield TimingRow("objective and gradient of rff_1", f"{n:,} x {d}", "sum of the same bytes", *times)


def two_threads(sizes: tuple[int, ...], halvings: int, turns: int) -> Iterator[TimingRow]:
    """Two threads beside one on the landmark pass of 10 cosines; no row if there is one core."""
    if len(os.sched_getaffinity(0)) < 2:
        return
    one, two = processes_in_turns(halvings, 3 * turns)
    yield TimingRow("two processes, bare loop", "arithmetic alone", "one process", two, one)
    phases = np.linspace(-1.0, 1.0, 10)
    for n in sizes:
        alone, both = (exponential_objective(n, 20, threads, k=10)[0] for threads in (1, 2))
        runs = (lambda p=p: p.at_phases(phases) for p in (both, alone))
        times = in_turns(*runs, turns=3 * turns, calls=20, warm=20)
        yield TimingRow("two threads, landmark pass", f"{n:,} rows, K = 10", "one thread", *times)


@numba.njit(nogil=True)
def halvings_of(out, first, last):  # type: ignore[no-untyped-def]
    """Arithmetic without memory, about a tenth of a millisecond per entry first .. last-1 of out."""
    for t in range(first, last):
        total = 0.0
        for i in range(50_000):
            total = 0.5 * total + i
        out[t] = total


def halve(count: int) -> None:
    """That many entries of :func:`halvings_of`."""
    halvings_of(np.empty(count), 0, count)


def processes_in_turns(count: int, turns: int) -> tuple[list[float], list[float]]:
    """Times of one process that does `count` entries, and of two that do half of them each and share nothing."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:

        def run(parts: int) -> Callable[[], Any]:
            return lambda: list(pool.map(halve, [count // parts] * parts))

        # Each process starts, and compiles, with its first task.
        for _ in range(3):
            run(2)()
        one, two = in_turns(run(1), run(2), turns=turns)
    return one, two
