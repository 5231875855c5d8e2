"""Signals, such as Ctrl-C, around fits and around calls into libraries that call Python back.

The handler of a signal runs in the main thread, between two instructions of Python, and may raise an exception:
KeyboardInterrupt for Ctrl-C. Within a callback of C, such as that of XGBoost's reader of matrices or of Numba's
compiler, the exception is dropped, and the library continues with data that the callback did not deliver. Within a
finalizer it is dropped, too.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias, TypeVar

P = ParamSpec("P")
M = TypeVar("M")
R = TypeVar("R")

Handler: TypeAlias = Callable[[int, Any], Any]

# Ctrl-C, the most frequent one, is the last to be restored: no other is left when its handler raises.
NAMES = ("SIGTERM", "SIGALRM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGBREAK", "SIGINT")
SIGNALS = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]
"""The signals that programs handle by raising an exception, as far as the system has them."""

RAISED: ContextVar[list[BaseException] | None] = ContextVar("RAISED", default=None)
"""What handlers have raised in the present context of :func:`watch_signals`."""


@contextmanager
def defer_signals() -> Iterator[None]:
    """A context at whose end the handlers of signals run that arrived in it.

    Only handlers in Python are deferred. Outside the main thread nothing is done, because no handler runs there.
    """
    handlers, received = python_handlers(), dict[int, Any]()
    try:
        install(dict.fromkeys(handlers, received.__setitem__))
        yield
    finally:
        install(handlers)
        # All of them run, also if one raises an exception.
        with ExitStack() as calls:
            for number, frame in received.items():
                calls.callback(handlers[number], number, frame)


@contextmanager
def ignore_interrupts() -> Iterator[None]:
    """A context in which Ctrl-C is ignored, as by processes that start in it for good; this one ends them."""
    handlers = {number: handler for number, handler in python_handlers().items() if number == signal.SIGINT}
    try:
        for number in handlers:
            signal.signal(number, signal.SIG_IGN)
        yield
    finally:
        install(handlers)


@contextmanager
def watch_signals() -> Iterator[list[BaseException]]:
    """A context that yields the list of interrupts that handlers raise in it.

    An interrupt is what ends a program, such as KeyboardInterrupt and SystemExit. If one is in the list while the
    program continues, a callback or a finalizer has dropped it. Contexts in this one share its list.
    """
    if (outer := RAISED.get()) is not None:
        yield outer
        return
    handlers, raised = python_handlers(), list[BaseException]()
    recorders = {number: recording(handler, raised) for number, handler in handlers.items()}
    try:
        RAISED.set(raised)
        install(recorders)
        yield raised
    finally:
        # A handler that was set in the context remains.
        install({n: handler for n, handler in handlers.items() if signal.getsignal(n) is recorders[n]})
        RAISED.set(None)


def atomic_fit(fit: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """Wrap a method ``fit`` so that a failure leaves the estimator unchanged.

    Validation of X sets attributes such as ``n_features_in_`` before the rest of a fit can fail. A fit that has a
    usable model when the user interrupts it stores the interrupt in the attribute ``_interrupt``: it is raised
    once the model is complete, so that a loop around the fit ends too. An interrupt that a library drops, or
    replaces by an error of its own, is raised at the end.
    """

    @wraps(fit)
    def attempt(model: M, *args: P.args, **kwargs: P.kwargs) -> R:
        before: dict[str, Any] = dict(vars(model))
        with watch_signals() as raised:
            try:
                fitted = fit(model, *args, **kwargs)
            except BaseException as error:
                vars(model).clear()
                vars(model).update(before)
                if raised and isinstance(error, Exception):
                    raise raised[0] from error
                raise
            interrupts: list[BaseException | None] = [vars(model).pop("_interrupt", None), *raised]
        if any(interrupts):
            raise next(filter(None, interrupts))
        return fitted

    return attempt


def raise_dropped() -> None:
    """Raise an interrupt that was dropped in the present context of :func:`watch_signals`."""
    if raised := RAISED.get():
        raise raised[0]


def python_handlers() -> dict[int, Handler]:
    """The handlers of signals that are functions in Python; none outside the main thread."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: handler for number in SIGNALS if callable(handler := signal.getsignal(number))}


def install(handlers: Mapping[int, Handler]) -> None:
    """Set the handlers of signals."""
    for number, handler in handlers.items():
        signal.signal(number, handler)


def recording(handler: Handler, raised: list[BaseException]) -> Handler:
    """The handler, which appends the interrupts that it raises to a list."""

    def handle(number: int, frame: Any) -> Any:
        try:
            return handler(number, frame)
        except Exception:
            raise
        except BaseException as interrupt:
            raised.append(interrupt)
            raise

    return handle
