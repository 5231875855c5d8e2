"""The client of a cluster, and the training of independent models on its workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from operator import call
from typing import Any

from ..utils.parallel import START_CALLS, Calls, call_later


def current_client(owner: str, client: Any) -> Any:
    """The client, else the current one, or None where there is none; a ValueError if it is not connected."""
    if client is None:
        try:
            from distributed import get_client

            return get_client()
        except (ImportError, ValueError):
            return None
    if getattr(client, "status", None) != "running":
        raise ValueError(f"{owner}: client must be connected to a scheduler, got {client!r}")
    return client


@contextmanager
def models_on_workers(client: Any) -> Iterator[None]:
    """A context in which independent models of a fit are trained on the workers of a client, if there is one."""
    token = START_CALLS.set(None if client is None else partial(start_calls, client))
    try:
        yield
    finally:
        START_CALLS.reset(token)


def start_calls(client: Any, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Calls:
    """Calls on the workers; a fit within a task makes them itself, as its thread would wait for them."""
    from distributed import get_worker

    try:
        get_worker()
        return call_later(function, arguments)
    except ValueError:
        pass
    (shared,) = client.scatter([function], hash=False)
    # Dask would leave them to the worker that has the data, as it does not know how long they take.
    places = zip(arguments, cycle(sorted(client.nthreads())), strict=False)
    options = {"pure": False, "allow_other_workers": True}
    futures = [(client.submit(call, shared, *args, workers=[place], **options), args) for args, place in places]
    return [partial(result_of, future, function, args) for future, args in futures]


def result_of(future: Any, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of a call on a worker; the call is made here if the worker that held its data is gone."""
    try:
        return future.result()
    except CancelledError:
        return function(*args)
