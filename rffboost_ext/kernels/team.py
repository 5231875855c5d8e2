"""Threads that share the work of one call of a kernel, in phases of tiles.

One thread, the leader, opens the phases one after the other. It and its helpers take the tiles of the phase that
is open, and the next one opens when all are done. Helpers may come late, or not at all. A thread that waits yields
its core to others.
"""

from __future__ import annotations

import ctypes
import os

import llvmlite.binding
import numba
from numba import types
from numba.extending import intrinsic

from .kernel import MERGED

if os.name == "nt":
    llvmlite.binding.add_symbol(
        "sched_yield",
        ctypes.cast(ctypes.windll.kernel32.SwitchToThread, ctypes.c_void_p).value,  # type: ignore[attr-defined]
    )
yield_core = types.ExternalFunction("sched_yield", types.int32())

# Places in the state of a team, each in a cache line of its own: how many tiles of the phase no thread has taken,
# how many tiles of all phases are done, how many there are, and what the phase does.
LEFT, DONE, TOTAL, JOB = 0, 8, 16, 24
STATE_SIZE = 32
# The number of tiles that are left after the last phase; a thread that finds none left subtracts 1.
ENDED = -(2**62)
START = -1


def atomic(operation):  # type: ignore[no-untyped-def]
    """An atomic operation ``function(array, place, number)`` on an array of int64, which returns the entry before.

    What a thread has written before it is visible to others after it.
    """

    @intrinsic
    def function(typing_context, array, place, number):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, args):  # type: ignore[no-untyped-def]
            data = context.make_array(signature.args[0])(context, builder, args[0]).data
            return builder.atomic_rmw(operation, builder.gep(data, [args[1]]), args[2], "seq_cst")

        return types.int64(array, types.int64, types.int64), generate

    return function


add_atomically, set_atomically = atomic("add"), atomic("xchg")


@numba.njit(**MERGED)
def next_tile(state):  # type: ignore[no-untyped-def]
    """The number of a tile that no other thread has; -1 if there is none, and :data:`ENDED` after the end."""
    left = add_atomically(state, LEFT, 0)
    if left > 0:
        left = add_atomically(state, LEFT, -1)
    return ENDED if left < ENDED // 2 else max(left, 0) - 1


@numba.njit(**MERGED)
def take_part(state, leads, work, advance, shared, own):  # type: ignore[no-untyped-def]
    """Do tiles of all phases until the end.

    A tile is ``work(job, tile, shared, own)``, of what all threads share and of the scratch memory of this one.
    The leader opens the next phase by ``advance(job, shared)``, which returns its job and its number of tiles, or
    0 after the last phase. The job before the first phase is :data:`START`. Both functions are called from one
    place only, because each takes seconds to compile.
    """
    if leads:
        state[JOB] = START
    while True:
        tile = next_tile(state)
        if tile >= 0:
            work(state[JOB], tile, shared, own)
            add_atomically(state, DONE, 1)
        elif tile == ENDED:
            return
        elif leads and add_atomically(state, DONE, 0) == state[TOTAL]:
            job, n_tiles = advance(state[JOB], shared)
            if n_tiles > 0:
                state[JOB] = job
                state[TOTAL] += n_tiles
            set_atomically(state, LEFT, n_tiles if n_tiles > 0 else ENDED)
        else:
            yield_core()
