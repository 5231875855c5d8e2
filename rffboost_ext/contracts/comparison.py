"""Assertions that say what was compared, where it differs, and both values."""

from __future__ import annotations

import pickle
import reprlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from ..core import Loss, Spec
from ..utils.typing import Array

SINGLE = np.float16, np.float32


class ContractError(AssertionError, ValueError):
    """A part breaks a law of its contract: a ValueError in a fit, an AssertionError in a test."""


def describe(value: object) -> str:
    """A short description of a returned object, of any number of rows."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} and shape {value.shape}"
    return f"{reprlib.repr(value)} of type {type(value).__name__}"


def require_that(condition: bool, message: str) -> None:
    """Raise a ContractError with a message unless a condition holds."""
    if not condition:
        raise ContractError(message)


@contextmanager
def contract_errors(what: str, advice: str = "") -> Iterator[None]:
    """A context in which any error of a part becomes a ContractError that starts with `what`."""
    try:
        yield
    except ContractError:
        raise
    except Exception as error:  # a user's part may raise anything
        raise ContractError(f"{what} must not fail, got {type(error).__name__}: {error}{advice}") from error


def keep_laws(case: Any, laws: Iterable[Callable[[Any], None]]) -> None:
    """Raise a ContractError that names the law if a case breaks one."""
    for law in laws:
        with contract_errors(f"{case.name}: {law.__name__}"):
            law(case)


def require_shape(
    what: str, actual: Any, expected: Sequence[int], single: bool = True, finite: bool = True, where: str = ""
) -> None:
    """Raise a ContractError unless `actual` is an array of real numbers, of double precision if not `single`.

    They must be finite; or no NaN if not `finite`. Messages end with `where`.
    """
    require_that(isinstance(actual, np.ndarray), f"{what} must be an array, got a {type(actual).__name__}")
    require_that(actual.shape == tuple(expected), f"{what} must have shape {tuple(expected)}, got {actual.shape}")
    require_that(actual.dtype.kind in "fiu", f"{what} must hold real numbers, got {actual.dtype}")
    require_that(single or actual.dtype not in SINGLE, f"{what} must be of type float64, got {actual.dtype}")
    valid = np.isfinite(actual) if finite else ~np.isnan(actual)
    if not valid.all():
        kind, count = "finite" if finite else "a number", f"{(~valid).sum()} of {actual.size}"
        raise ContractError(f"{what} must be {kind}, got {actual[~valid][0]} for {count}{where}")


def require_close(
    what: str, actual: Array, expected: Array, rtol: float = 1e-9, atol: float | Array = 0.0
) -> None:
    """Raise a ContractError that names the entry that differs most, if two arrays differ."""
    actual, expected = np.asarray(actual, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    require_that(actual.shape == expected.shape, f"{what}: got shape {actual.shape}, expected {expected.shape}")
    with np.errstate(invalid="ignore"):
        excess = np.abs(actual - expected) - (atol + rtol * np.abs(expected))
    # Of two NaN the difference is NaN.
    wrong = ~(excess <= 0.0) & (actual != expected) & ~(np.isnan(actual) & np.isnan(expected))
    if wrong.any():
        excess = np.where(wrong, np.nan_to_num(excess, nan=np.inf), -np.inf)
        place = np.unravel_index(excess.argmax(), actual.shape)
        entry = ", ".join(map(str, place))
        raise ContractError(f"{what}: got {actual[place]:.9g}, expected {expected[place]:.9g}, entry [{entry}]")


def state_of(part: Any) -> dict[str, Any]:
    """What an object and the parts in it hold, by name, as bytes that differ after a change.

    Cached properties are left out: they follow from the rest.
    """
    state: dict[str, Any] = {}
    for name, value in vars(part).items():
        if isinstance(value, Spec):
            state |= {f"{name}.{inner}": held for inner, held in state_of(value).items()}
        elif not isinstance(getattr(type(part), name, None), cached_property):
            try:
                state[name] = pickle.dumps(value)
            except Exception:  # a user's object may raise anything
                state[name] = id(value)
    return state


def require_unchanged(what: str, call: Any, **arrays: Array) -> Any:
    """The result of a call; a ContractError if it has changed one of the arrays in place."""
    before = {name: values.copy() for name, values in arrays.items()}
    result = call()
    for name, values in arrays.items():
        same = np.array_equal(values, before[name], equal_nan=True)
        require_that(same, f"{what} must not change {name} in place")
    return result


def refuse(message: str) -> None:
    """Raise a ContractError."""
    raise ContractError(message)


@contextmanager
def keeping_nothing(what: str, part: Any, report: Callable[[str], None] = refuse) -> Iterator[None]:
    """A context that reports what a method leaves on a part."""
    before = state_of(part)
    yield
    after = state_of(part)
    changed = sorted(name for name in {*after, *before} if after.get(name) != before.get(name))
    if changed:
        report(
            f"{what} must keep nothing on self, which other fits share, got {', '.join(changed)}: compute what "
            f"depends on rows in each call, or in 'prepared' of a loss, which returns a clone with parameters"
        )


def require_derivatives(loss: Loss, actual: Any, raw: Array, where: str) -> None:
    """Raise a ContractError that says `where` unless derivatives are finite and of the shape of `raw` (n, C)."""
    if not isinstance(actual, tuple | list) or len(actual) != 2:
        raise ContractError(f"loss {loss!r}: derivatives must return two arrays, gradient and hessian")
    for name, values in zip(("gradient", "hessian"), actual, strict=True):
        require_shape(f"loss {loss!r}: {name}", values, raw.shape, where=f" {where}")
    least = actual[1].min()
    if least < 0.0:
        raise ContractError(f"loss {loss!r}: hessian must be positive, got {least:g} {where}")
