"""Threads for passes over tiles."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import pairwise
from typing import Any

N_JOBS: ContextVar[int] = ContextVar("N_JOBS", default=1)
"""Threads that predictions may use; estimators set it for the length of a call."""

# Fewer tiles than this per thread are not worth waking one for.
LEAST_TILES = 4


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="rffboost")


if hasattr(os, "register_at_fork"):
    # A forked child has the pool but not its threads.
    os.register_at_fork(after_in_child=_pool.cache_clear)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[int]:
    """Within this context predictions use the number of threads that scikit-learn's `n_jobs` stands for."""
    if n_jobs is None or n_jobs == 1:
        number = 1
    else:
        from joblib import effective_n_jobs

        number = int(effective_n_jobs(n_jobs))
    token = N_JOBS.set(number)
    try:
        yield number
    finally:
        N_JOBS.reset(token)


def over_tiles(kernel: Callable[..., Any], n_tiles: int, n_jobs: int, *args: Any) -> None:
    """Call ``kernel(*args, first, last)`` so that every tile is visited once, on `n_jobs` threads.

    Kernels release the GIL and write one result per tile, so the outcome does not depend on how the tiles are
    shared out.
    """
    threads = min(n_jobs, n_tiles // LEAST_TILES)
    if threads < 2:
        kernel(*args, 0, n_tiles)
        return
    bounds = [n_tiles * i // threads for i in range(threads + 1)]
    futures = [_pool(threads - 1).submit(kernel, *args, *span) for span in pairwise(bounds[1:])]
    kernel(*args, 0, bounds[1])
    for future in futures:
        future.result()
