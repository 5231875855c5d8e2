"""Assertions that say what was compared, where it differs, and both values."""

from __future__ import annotations

import pickle
import reprlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from ..core import Loss, Spec
from ..utils.typing import Array

SINGLE = np.float16, np.float32


class ContractError(AssertionError, ValueError):
    """A part breaks a law of its contract: a ValueError in a fit, an AssertionError in a test."""


def describe(found: object) -> str:
    """A short description of a returned object, of any number of rows."""
    if isinstance(found, np.ndarray):
        return f"an array of {found.dtype} and shape {found.shape}"
    return f"{reprlib.repr(found)} of type {type(found).__name__}"


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


def require_shape(
    what: str, found: Any, wanted: Sequence[int], single: bool = True, finite: bool = True, where: str = ""
) -> None:
    """Raise a ContractError unless `found` is an array of real numbers, of double precision if not `single`.

    They must be finite; or no NaN if not `finite`. Messages end with `where`.
    """
    require_that(isinstance(found, np.ndarray), f"{what} must be an array, got a {type(found).__name__}")
    require_that(found.shape == tuple(wanted), f"{what} must have shape {tuple(wanted)}, got {found.shape}")
    require_that(found.dtype.kind in "fiu", f"{what} must hold real numbers, got {found.dtype}")
    require_that(single or found.dtype not in SINGLE, f"{what} must be of type float64, got {found.dtype}")
    valid = np.isfinite(found) if finite else ~np.isnan(found)
    if not valid.all():
        kind, count = "finite" if finite else "a number", f"{(~valid).sum()} of {found.size}"
        raise ContractError(f"{what} must be {kind}, got {found[~valid][0]} for {count}{where}")


def require_close(what: str, found: Array, wanted: Array, rtol: float = 1e-9, atol: float | Array = 0.0) -> None:
    """Raise a ContractError that names the entry that differs most, if two arrays differ."""
    found, wanted = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    require_that(found.shape == wanted.shape, f"{what}: got shape {found.shape}, expected {wanted.shape}")
    with np.errstate(invalid="ignore"):
        excess = np.abs(found - wanted) - (atol + rtol * np.abs(wanted))
    # Of two NaN the difference is NaN.
    wrong = ~(excess <= 0.0) & (found != wanted) & ~(np.isnan(found) & np.isnan(wanted))
    if wrong.any():
        place = np.unravel_index(np.where(wrong, np.nan_to_num(excess, nan=np.inf), -np.inf).argmax(), found.shape)
        entry = ", ".join(map(str, place))
        raise ContractError(f"{what}: got {found[place]:.9g}, expected {wanted[place]:.9g}, entry [{entry}]")


def state_of(part: Any) -> dict[str, Any]:
    """What an object and the parts in it hold, by name, as bytes that differ after a change.

    Cached properties are left out: they follow from the rest.
    """
    found: dict[str, Any] = {}
    for name, value in vars(part).items():
        if isinstance(value, Spec):
            found |= {f"{name}.{inner}": held for inner, held in state_of(value).items()}
        elif not isinstance(getattr(type(part), name, None), cached_property):
            try:
                found[name] = pickle.dumps(value)
            except Exception:  # a user's object may raise anything
                found[name] = id(value)
    return found


def require_unchanged(what: str, call: Any, **arrays: Array) -> Any:
    """The result of a call; a ContractError if it has changed one of the arrays in place."""
    before = {name: values.copy() for name, values in arrays.items()}
    found = call()
    for name, values in arrays.items():
        same = np.array_equal(values, before[name], equal_nan=True)
        require_that(same, f"{what} must not change {name} in place")
    return found


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


def require_derivatives(loss: Loss, found: Any, raw: Array, where: str) -> None:
    """Raise a ContractError that says `where` unless derivatives are finite and of the shape of `raw` (n, C)."""
    if not isinstance(found, tuple | list) or len(found) != 2:
        raise ContractError(f"loss {loss!r}: derivatives must return two arrays, gradient and hessian")
    for name, values in zip(("gradient", "hessian"), found, strict=True):
        require_shape(f"loss {loss!r}: {name}", values, raw.shape, where=f" {where}")
    least = found[1].min()
    if least < 0.0:
        raise ContractError(f"loss {loss!r}: hessian must be positive, got {least:g} {where}")
