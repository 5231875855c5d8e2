"""Threads of passes over tiles and of BLAS, and calls that may run in other processes."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar, copy_context
from functools import cache, lru_cache, partial
from threading import Event, Lock
from typing import Any, TypeAlias

import numpy as np

from .._signals import defer_signals, ignore_interrupts
from ..kernels import compiled

N_JOBS: ContextVar[int] = ContextVar("N_JOBS", default=1)
"""Number of threads of predictions; estimators set it for the duration of a call."""

Calls: TypeAlias = list[Callable[[], Any]]
"""Functions without arguments, each of which returns the result of a call."""


def call_later(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Calls:
    """A call of a function for each tuple of arguments, which runs when its result is asked for."""
    return [partial(function, *args) for args in arguments]


Starter: TypeAlias = Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Calls]

START_CALLS: ContextVar[Starter | None] = ContextVar("START_CALLS", default=None)
"""Starts independent calls in other processes, of which some may be dropped; None to make them in this one."""

ABANDONED: ContextVar[Event | None] = ContextVar("ABANDONED", default=None)
"""Set if the result of the present call is not needed any more."""


class Abandoned(Exception):
    """A call whose result is not needed any more, as another one has failed."""


def raise_if_abandoned() -> None:
    """Raise :class:`Abandoned` if the result of the present call is not needed any more."""
    event = ABANDONED.get()
    if event is not None and event.is_set():
        raise Abandoned


# Minimum number of tiles per thread: fewer do not pay off.
MIN_TILES_PER_THREAD = 4
# Minimum number of rows per thread of a pass over rows.
MIN_ROWS_PER_THREAD = 2**15


class _Pool(ThreadPoolExecutor):
    """Threads that help those that call, so that as many work at once as the fit may use."""

    def __init__(self, threads: int) -> None:
        super().__init__(threads, thread_name_prefix="rffboost")
        self.free, self._free_lock = threads - 1, Lock()

    @contextmanager
    def taken(self, number: int) -> Iterator[None]:
        """A context in which so many threads fewer are free to help; -1 for a thread that waits."""
        with self._free_lock:
            self.free -= number
        try:
            yield
        finally:
            with self._free_lock:
                self.free += number

    def occupy(self, function: Callable[[], Any]) -> None:
        """Make a long call on the present thread."""
        with self.taken(1):
            function()


_pool = cache(_Pool)

if hasattr(os, "register_at_fork"):
    # A forked child has the pool but not its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)


def count_threads(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`: None for ``usable_threads()``, -1 for all cores, -2 for one fewer."""
    if n_jobs is None:
        return usable_threads()
    if n_jobs > 0:
        # XGBoost takes no integer of NumPy.
        return int(n_jobs)
    return max(1, _cores(os.environ.get("LOKY_MAX_CPU_COUNT")) + 1 + n_jobs)


def usable_threads() -> int:
    """The cores that this process may use, and 1 within a worker of joblib or Dask, which has others beside it.

    Limits of ``NUMBA_NUM_THREADS`` and of threadpoolctl, or the environment variables of BLAS, are upper bounds.
    """
    if is_in_worker():
        return 1
    limits = [_cores(os.environ.get("LOKY_MAX_CPU_COUNT"))]
    if (limit := os.environ.get("NUMBA_NUM_THREADS", "")).isdecimal():
        limits.append(int(limit))
    if libraries := _blas_libraries():
        limits.append(max(map(SINGLE_BLAS.threads_before, libraries)))
    return max(1, min(limits))


def is_in_worker() -> bool:
    """Whether this is a call within a worker of joblib or Dask, or a fit whose models are trained on workers."""
    from joblib.parallel import get_active_backend

    if START_CALLS.get() is not None or get_active_backend()[0].nesting_level:
        return True
    worker = getattr(sys.modules.get("distributed"), "get_worker", None)
    try:
        return worker is not None and worker() is not None
    except ValueError:
        return False


@cache
def _cores(limit: str | None) -> int:
    # joblib knows the affinity of the process, the quota of its container and its own `limit`. It takes 60
    # microseconds, a prediction of one row not much more.
    from joblib import cpu_count

    return int(cpu_count())


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


def start_on_threads(threads: int, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Calls:
    """Calls of a function on `threads` threads, one of which is that which asks for the results.

    Threads take calls in their order. A failure, or an interrupt of the thread that asks, ends all of them.
    """
    arguments = list(arguments)
    if min(threads, len(arguments)) < 2:
        return call_later(function, arguments)
    pool, context = _pool(threads), copy_context()
    calls = _SharedCalls(function, arguments, pool)
    context.run(ABANDONED.set, calls.failed)
    n_helpers = min(threads, len(arguments)) - 1
    calls.helpers = [pool.submit(pool.occupy, partial(context.copy().run, calls.make)) for _ in range(n_helpers)]
    return [partial(calls.result, number) for number in range(len(arguments))]


class _SharedCalls:
    """Calls that several threads make, each by the first thread that is free."""

    def __init__(self, function: Callable[..., Any], arguments: list[tuple[Any, ...]], pool: _Pool) -> None:
        self.function, self.arguments, self.pool = function, arguments, pool
        self.results = [Future[Any]() for _ in arguments]
        self.waiting, self.failed = deque(range(len(arguments))), Event()
        self.errors: list[BaseException] = []
        self.helpers: list[Future[None]] = []

    def make(self, until: int | None = None) -> None:
        """Make calls until none is left, or that of number `until` is done, or one has failed."""
        while not self.failed.is_set() and (until is None or not self.results[until].done()):
            try:
                number = self.waiting.popleft()
            except IndexError:
                return
            try:
                self.results[number].set_result(self.function(*self.arguments[number]))
            except BaseException as error:
                self._fail(error)
                self.results[number].set_exception(error)

    def result(self, number: int) -> Any:
        """The result of a call, which is made here if no other thread has begun it."""
        token = ABANDONED.set(self.failed)
        try:
            self.make(number)
            if not self.failed.is_set():
                with self.pool.taken(-1):
                    return self.results[number].result()
        except BaseException as error:
            self._fail(error)
        finally:
            ABANDONED.reset(token)
        wait([helper for helper in self.helpers if not helper.cancel()])
        raise self.errors[0]

    def _fail(self, error: BaseException) -> None:
        """Keep the first error, and let all calls end."""
        if not isinstance(error, Abandoned):
            self.errors.append(error)
        self.failed.set()


def run_in_processes(calls: Sequence[Callable[[], Any]], n_jobs: int, ordered: bool = False) -> Iterator[Any]:
    """The results of calls in `n_jobs` processes as they arrive, or in the order of the calls if `ordered`."""
    from joblib import Parallel, delayed

    # Workers that Ctrl-C interrupts as they start print tracebacks.
    with ignore_interrupts():
        results: Iterator[Any] = Parallel(n_jobs, return_as="generator" if ordered else "generator_unordered")(
            delayed(call)() for call in calls
        )
    return results


class SingleThreadedBLAS(ContextDecorator):
    """A context, and a decorator, in which BLAS uses one thread, because results depend on the number of threads.

    The setting is global to the process; the last thread that leaves the context restores it.
    """

    def __init__(self) -> None:
        # Libraries with several threads, and the number of threads.
        self._before: dict[Any, int] = {}
        self.reset()

    def reset(self) -> None:
        """Reset the number of threads in the context to 0."""
        self._lock, self._within = Lock(), 0

    def threads_before(self, library: Any) -> int:
        """The number of threads of a library outside the context."""
        return self._before.get(library) or int(library.num_threads)

    def __enter__(self) -> None:
        with self._lock:
            if not self._within:
                # threadpool_limits of threadpoolctl takes too long for calls in each round.
                self._before = {
                    library: number for library in _blas_libraries() if (number := library.num_threads) != 1
                }
                self._set(dict.fromkeys(self._before, 1))
            self._within += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._within -= 1
            if not self._within:
                self._set(self._before)
                self._before = {}

    @staticmethod
    def _set(numbers: dict[Any, int]) -> None:
        for library, number in numbers.items():
            # From its release 3.7 on, threadpoolctl ignores all threads but the first that set a number.
            release = getattr(library, "clear_controlling_thread", lambda force: None)
            release(force=True)
            library.set_num_threads(number)
            release(force=True)


SINGLE_BLAS = SingleThreadedBLAS()

if hasattr(os, "register_at_fork"):
    # Threads in the context do not exist in a forked child.
    os.register_at_fork(after_in_child=SINGLE_BLAS.reset)


def run_over_tiles(
    kernel: Callable[..., Any], n_tiles: int, n_jobs: int, *args: Any, least: int = MIN_TILES_PER_THREAD
) -> None:
    """Call ``kernel(*args, first, last)`` on `n_jobs` threads so that every tile is visited once.

    Kernels release the GIL and write one result per tile, so results do not depend on the threads. Threads take
    tiles from a shared queue, which balances the load; there are at least `least` tiles for each. A tile may be a
    row.
    """
    threads = min(n_jobs, n_tiles // least)
    if threads > 1:
        threads = min(threads, 1 + _pool(n_jobs).free)
    if threads < 2:
        kernel(*args, 0, n_tiles)
        return
    queue = deque(tile_spans(n_tiles, threads, (least + 1) // 2))

    def work() -> None:
        while True:
            try:
                first, last = queue.popleft()
            except IndexError:
                return
            kernel(*args, first, last)

    futures = [_pool(n_jobs).submit(work) for _ in range(threads - 1)]
    work()
    for future in futures:
        # Tasks that have not started are not needed.
        if not future.cancel():
            future.result()


def run_as_team(kernel: Callable[..., Any], n_jobs: int, most: int, *args: Any) -> Any:
    """The result of ``kernel(*args, state, True)``, which other threads help as ``kernel(*args, state, False)``.

    Kernels share their work as ``kernels.team`` says, on `n_jobs` threads, but at most on so many as its amount is
    worth, `most`. A helper that comes after the end returns at once.
    """
    team = compiled("team")
    state = np.zeros(team.STATE_SIZE, dtype=np.int64)
    helpers = []
    if min(n_jobs, most) > 1:
        pool = _pool(n_jobs)
        helpers = [pool.submit(kernel, *args, state, False) for _ in range(min(pool.free, most - 1))]
    try:
        return kernel(*args, state, True)
    finally:
        # Also if the leader has failed.
        state[team.LEFT] = team.ENDED
        for helper in helpers:
            helper.cancel()


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
