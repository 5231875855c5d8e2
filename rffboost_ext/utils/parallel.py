"""Threads of passes over tiles and of BLAS, and calls that may run in other processes."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache, partial
from threading import Lock
from typing import Any, TypeAlias

from .._signals import defer_signals

N_JOBS: ContextVar[int] = ContextVar("N_JOBS", default=1)
"""Number of threads of predictions; estimators set it for the duration of a call."""

Calls: TypeAlias = list[Callable[[], Any]]
"""Functions without arguments, each of which returns the result of a call."""


def call_later(function: Callable[..., Any], several: Iterable[tuple[Any, ...]]) -> Calls:
    """A call of a function for each tuple of arguments, which runs when its result is asked for."""
    return [partial(function, *args) for args in several]


START_CALLS: ContextVar[Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Calls]] = ContextVar(
    "START_CALLS", default=call_later
)
"""Starts independent calls, perhaps in other processes; a call that is dropped need not run."""

# Minimum number of tiles per thread: fewer do not pay off.
MIN_TILES_PER_THREAD = 4
# Minimum number of tiles that a thread takes at a time.
MIN_CHUNK = 2


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="rffboost")


if hasattr(os, "register_at_fork"):
    # A forked child has the pool but not its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def count_threads(n_jobs: int | None) -> int:
    """The number of threads for scikit-learn's `n_jobs`: None for one, -1 for all, -2 for all but one."""
    if n_jobs is None or n_jobs > 0:
        # XGBoost takes no integer of NumPy.
        return int(n_jobs or 1)
    from joblib import cpu_count

    # Not effective_n_jobs: it is about joblib's own workers, of which a daemonic process can have none.
    return max(1, int(cpu_count()) + 1 + n_jobs)


@contextmanager
def use_threads(n_jobs: int | None) -> Iterator[int]:
    """A context in which predictions use the number of threads of `n_jobs`."""
    number = count_threads(n_jobs)
    token = N_JOBS.set(number)
    try:
        yield number
    finally:
        N_JOBS.reset(token)


@cache
@defer_signals()
def _blas_libraries() -> list[Any]:
    # SciPy has its own BLAS, which must be loaded before the look-up.
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return [library for library in ThreadpoolController().lib_controllers if library.user_api == "blas"]


class SingleThreadedBLAS:
    """A context in which BLAS uses one thread, because results depend on the number of threads.

    The setting is global to the process; the last thread that leaves the context restores it.
    """

    def __init__(self) -> None:
        # Libraries with several threads, and the number of threads.
        self._before: list[tuple[Any, int]] = []
        self.reset()

    def reset(self) -> None:
        """Reset the number of threads in the context to 0."""
        self._lock, self._within = Lock(), 0

    def __enter__(self) -> None:
        with self._lock:
            if not self._within:
                # threadpool_limits of threadpoolctl takes too long for calls in each round.
                threads = [(library, library.num_threads) for library in _blas_libraries()]
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


SINGLE_BLAS = SingleThreadedBLAS()

if hasattr(os, "register_at_fork"):
    # Threads in the context do not exist in a forked child.
    os.register_at_fork(after_in_child=SINGLE_BLAS.reset)


def run_over_tiles(
    kernel: Callable[..., Any], n_tiles: int, n_jobs: int, *args: Any, least: int = MIN_TILES_PER_THREAD
) -> None:
    """Call ``kernel(*args, first, last)`` on `n_jobs` threads so that every tile is visited once.

    There are at least `least` tiles per thread.

    Kernels release the GIL and write one result per tile, so results do not depend on the threads. Threads take
    tiles from a shared queue, which balances the load.
    """
    threads = min(n_jobs, n_tiles // least)
    if threads < 2:
        kernel(*args, 0, n_tiles)
        return
    queue = deque(tile_spans(n_tiles, threads, min(least, MIN_CHUNK)))

    def work() -> None:
        while True:
            try:
                first, last = queue.popleft()
            except IndexError:
                return
            kernel(*args, first, last)

    futures = [_pool(threads - 1).submit(work) for _ in range(threads - 1)]
    work()
    for future in futures:
        # Tasks that have not started are not needed.
        if not future.cancel():
            future.result()


@lru_cache(maxsize=256)
def tile_spans(n_tiles: int, threads: int, chunk: int) -> tuple[tuple[int, int], ...]:
    """Consecutive ranges (first, last) of tiles, each half of an even share of the remaining tiles.

    They have at least `chunk` tiles.
    """
    ranges, first = [], 0
    while first < n_tiles:
        size = max(chunk, (n_tiles - first) // (2 * threads))
        ranges.append((first, min(first + size, n_tiles)))
        first += size
    return tuple(ranges)
