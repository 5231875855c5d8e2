"""Threads for passes over tiles."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from threading import Lock
from typing import Any

N_JOBS: ContextVar[int] = ContextVar("N_JOBS", default=1)
"""Threads that predictions may use; estimators set it for the duration of a call."""

# Fewer tiles than this per thread are not worth waking one for.
LEAST_TILES = 4
# Fewest tiles taken at a time, near the end of a pass, when threads wait for each other.
LEAST_TAKEN = 2


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="rffboost")


if hasattr(os, "register_at_fork"):
    # A forked child has the pool but not its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def number_of_threads(n_jobs: int | None) -> int:
    """What scikit-learn's `n_jobs` stands for: None for one thread, -1 for all, -2 for one fewer."""
    if n_jobs is None or n_jobs == 1:
        return 1
    from joblib import effective_n_jobs

    return int(effective_n_jobs(n_jobs))


@contextmanager
def threads(n_jobs: int | None) -> Iterator[int]:
    """Within this context predictions use the number of threads that `n_jobs` stands for."""
    number = number_of_threads(n_jobs)
    token = N_JOBS.set(number)
    try:
        yield number
    finally:
        N_JOBS.reset(token)


@cache
def _blas() -> list[Any]:
    # SciPy has a BLAS of its own: both have to be there when their threads are looked up.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


class SingleBlas:
    """A context in which BLAS uses one thread: its results would depend on the number of threads.

    The number is that of the process: where several threads are within the context, the last one restores it.
    """

    def __init__(self) -> None:
        # Libraries of more threads, and how many.
        self._before: list[tuple[Any, int]] = []
        self.reset()

    def reset(self) -> None:
        """Forget who is within."""
        self._lock, self._within = Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._within:
                # Not by a limit of threadpoolctl, which takes 0.1 ms; rounds take no more than ten times that.
                threads = [(library, library.num_threads) for library in _blas()]
                self._before = [(library, number) for library, number in threads if number != 1]
                for library, _ in self._before:
                    library.set_num_threads(1)
            self._within += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._within -= 1
            if not self._within:
                for library, number in self._before:
                    library.set_num_threads(number)


SINGLE_BLAS = SingleBlas()

if hasattr(os, "register_at_fork"):
    # A thread that was within does not leave in a forked child.
    os.register_at_fork(after_in_child=SINGLE_BLAS.reset)


def over_tiles(kernel: Callable[..., Any], n_tiles: int, n_jobs: int, *args: Any) -> None:
    """Call ``kernel(*args, first, last)`` so that every tile is visited once, on `n_jobs` threads.

    Kernels release the GIL and write one result per tile, so the outcome does not depend on who visits which.
    Threads take tiles from a shared queue: one that starts late leaves more to the others.
    """
    threads = min(n_jobs, n_tiles // LEAST_TILES)
    if threads < 2:
        kernel(*args, 0, n_tiles)
        return
    waiting = deque(spans(n_tiles, threads))

    def work() -> None:
        while True:
            try:
                first, last = waiting.popleft()
            except IndexError:
                return
            kernel(*args, first, last)

    futures = [_pool(threads - 1).submit(work) for _ in range(threads - 1)]
    work()
    for future in futures:
        # A task that has not started by now is cancelled.
        if not future.cancel():
            future.result()


@lru_cache(maxsize=256)
def spans(n_tiles: int, threads: int) -> tuple[tuple[int, int], ...]:
    """Tiles first .. last-1 to take at a time, in their order: half of an even share of what is left each time."""
    found, first = [], 0
    while first < n_tiles:
        size = max(LEAST_TAKEN, (n_tiles - first) // (2 * threads))
        found.append((first, min(first + size, n_tiles)))
        first += size
    return tuple(found)
