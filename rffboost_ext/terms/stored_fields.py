"""Checks of the arrays of terms from a file or a learner: kernels do not check bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..utils.typing import Array

KIND_NAMES = {"iu": "integers", "i": "integers", "f": "floats", "b": "booleans"}


def require_field(name: str, array: Any, shape: Sequence[int | None], kind: str = "f") -> None:
    """Raise a ValueError unless `array` is of a kind of :data:`KIND_NAMES` and a shape.

    Parameters
    ----------
    name : str
        Name of the array, in messages.
    array : object
        What is checked.
    shape : sequence of int or None
        The size of each axis; None for any.
    kind : str, default="f"
        NumPy's letters of the kinds of type that are allowed. float16 is not.
    """
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kind or array.dtype == np.float16:
        got = f"one of {array.dtype}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise ValueError(f"{name} must be an array of {KIND_NAMES[kind]}, got {got}")
    if array.ndim != len(shape) or any(
        size not in (None, length) for size, length in zip(shape, array.shape, strict=True)
    ):
        allowed = str(tuple(shape)).replace("None", "any")
        raise ValueError(f"{name} must have shape {allowed}, got {array.shape}")


def require_instance(name: str, value: Any, cls: type) -> None:
    """Raise a ValueError unless a field, of a file perhaps, is of a class."""
    if not isinstance(value, cls):
        raise ValueError(f"{name} must be of type {cls.__name__}, got {type(value).__name__}")


def require_range(name: str, values: Array, low: int | Array, high: int | None) -> None:
    """Raise a ValueError unless ``low <= values < high`` everywhere; no upper bound for None."""
    wrong = (values < low) | (values >= (np.inf if high is None else high))
    if wrong.any():
        raise ValueError(f"{name} are out of range: {values[wrong][0]}")


def require_outputs(kind: str, n_outputs: Any, expected: int | None) -> None:
    """Raise a ValueError unless a kind of term has a positive number of outputs, as many as expected."""
    if type(n_outputs) is not int or n_outputs < 1 or expected not in (None, n_outputs):
        raise ValueError(f"{kind} must have {expected or 'a positive number of'} outputs, got {n_outputs!r}")
