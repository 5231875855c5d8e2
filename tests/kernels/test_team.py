"""Threads that share the phases of a kernel."""

import threading
import time

import numba
import numpy as np
import pytest

from rffboost_ext.kernels.kernel import INNER, kernel
from rffboost_ext.kernels.team import ENDED, LEFT, START, STATE_SIZE, take_part
from rffboost_ext.utils.parallel import _pool, run_as_team, start_on_threads


@numba.njit(**INNER)
def work(job, tile, counts, seen):
    """Add 1 to the entry of a tile of a phase, if all tiles of the phase before are done."""
    counts[job, tile] += counts[job - 1].min() if job else 1
    seen[0] += 1


@numba.njit(**INNER)
def advance(job, counts):
    """The next phase, which has as many tiles as the others."""
    following = 0 if job == START else job + 1
    return following, counts.shape[1] if following < len(counts) else 0


@kernel("i8[2]* i8[1]* b1")
def count(counts, state, leads):
    """Do all tiles of all phases, and return how many this thread has done."""
    seen = np.zeros(1, dtype=np.int64)
    take_part(state, leads, work, advance, counts, seen)
    return seen[0]


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("n_tiles", [1, 3, 40])
def test_each_tile_is_done_once_and_after_the_phase_before(threads, n_tiles):
    for _ in range(20):
        counts = np.zeros((100, n_tiles), dtype=np.int64)
        assert 0 < run_as_team(count, threads, threads, counts) <= counts.size
        assert (counts == 1).all()


def test_a_helper_that_comes_late_does_nothing():
    state, counts = np.zeros(STATE_SIZE, dtype=np.int64), np.zeros((2, 3), dtype=np.int64)
    assert count(counts, state, True) == counts.size
    assert count(counts, state, False) == 0


def test_helpers_end_if_the_leader_fails():
    ended = threading.Event()

    def fail(state, leads):
        if leads:
            raise MemoryError
        while state[LEFT] != ENDED:
            time.sleep(0.001)
        ended.set()

    with pytest.raises(MemoryError):
        run_as_team(fail, 2, 2)
    # A helper that has not started by then is not needed.
    run_as_team(lambda state, leads: None, 2, 2)
    state = np.full(STATE_SIZE, ENDED)
    fail(state, False)
    assert ended.is_set()


def test_threads_of_long_calls_help_nobody_until_one_waits():
    pool, both = _pool(2), threading.Barrier(2, timeout=30)
    free = []

    def call(is_short):
        both.wait()
        free.append(pool.free)
        both.wait()
        deadline = time.monotonic() + 30
        while not is_short and pool.free < 1 and time.monotonic() < deadline:
            time.sleep(0.001)
        return pool.free

    calls = start_on_threads(2, call, [(True,), (False,)])
    is_main = threading.current_thread() is threading.main_thread()
    assert [call() for call in calls][1] == 1
    assert is_main
    assert free == [0, 0]
    assert pool.free == 1
