"""Atomic fits: they succeed or leave the estimator unchanged; an interrupted one may keep a usable model."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from .._signals import watch_signals

P = ParamSpec("P")
M = TypeVar("M")
R = TypeVar("R")


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
