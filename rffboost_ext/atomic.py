"""Fits that succeed, or leave the estimator as it was; and what is left of one that the user interrupts."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
M = TypeVar("M")
R = TypeVar("R")


def atomic(fit: Callable[Concatenate[M, P], R]) -> Callable[Concatenate[M, P], R]:
    """Return a method ``fit`` after whose failure the estimator is what it was before it.

    Checks of X write what they have seen, such as ``n_features_in_``, before the rest of a fit can fail. A fit
    that has a usable model when the user interrupts it keeps the interrupt in the attribute ``_interrupt``: it is
    raised when the model is whole, so that no loop around the fit goes on.
    """

    @wraps(fit)
    def attempt(model: M, *args: P.args, **kwargs: P.kwargs) -> R:
        before: dict[str, Any] = dict(vars(model))
        try:
            fitted = fit(model, *args, **kwargs)
        except BaseException:
            vars(model).clear()
            vars(model).update(before)
            raise
        interrupt: BaseException | None = vars(model).pop("_interrupt", None)
        if interrupt is not None:
            raise interrupt
        return fitted

    return attempt
