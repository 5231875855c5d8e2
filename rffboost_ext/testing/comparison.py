"""Assertions that say what was compared, where it differs, and both values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..utils.typing import Array

SINGLE = np.float16, np.float32


def require(condition: bool, message: str) -> None:
    """Raise an AssertionError with a message unless a condition holds."""
    if not condition:
        raise AssertionError(message)


@contextmanager
def named_errors(what: str) -> Iterator[None]:
    """A context in which any error of a part becomes an AssertionError that starts with `what`."""
    try:
        yield
    except AssertionError:
        raise
    except Exception as error:  # a user's part may raise anything
        raise AssertionError(f"{what} must not fail, got {type(error).__name__}: {error}") from error


def require_shape(what: str, found: Any, wanted: Sequence[int], single: bool = True) -> None:
    """Raise an AssertionError unless `found` is an array of finite real numbers, maybe of single precision."""
    require(isinstance(found, np.ndarray), f"{what} must be an array, got a {type(found).__name__}")
    require(found.shape == tuple(wanted), f"{what} must have shape {tuple(wanted)}, got {found.shape}")
    require(found.dtype.kind in "fiu", f"{what} must hold real numbers, got {found.dtype}")
    require(single or found.dtype not in SINGLE, f"{what} must be of type float64, got {found.dtype}")
    require(bool(np.isfinite(found).all()), f"{what} must be finite, got {found[~np.isfinite(found)][:1]}")


def require_close(what: str, found: Array, wanted: Array, rtol: float = 1e-9, atol: float | Array = 0.0) -> None:
    """Raise an AssertionError that names the entry that differs most, if two arrays differ."""
    found, wanted = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    require(found.shape == wanted.shape, f"{what}: got shape {found.shape}, expected {wanted.shape}")
    excess = np.abs(found - wanted) - (atol + rtol * np.abs(wanted))
    # NaN is no number that could be close.
    wrong = ~(excess <= 0.0) & (found != wanted)
    if wrong.any():
        place = np.unravel_index(np.where(wrong, np.nan_to_num(excess, nan=np.inf), -np.inf).argmax(), found.shape)
        entry = ", ".join(map(str, place))
        raise AssertionError(f"{what}: got {found[place]:.9g}, expected {wanted[place]:.9g}, entry [{entry}]")


def require_unchanged(what: str, call: Any, **arrays: Array) -> Any:
    """The result of a call; an AssertionError if it has changed one of the arrays in place."""
    before = {name: values.copy() for name, values in arrays.items()}
    with named_errors(what):
        found = call()
    for name, values in arrays.items():
        same = np.array_equal(values, before[name], equal_nan=True)
        require(same, f"{what} must not change {name} in place")
    return found
