"""One column of any container as a NumPy array, and its values as real numbers."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

from ..utils.param_validation import told
from ..utils.typing import Array

E = TypeVar("E", bound=Exception)

# Integers below have an exact float64.
EXACT_INTEGERS = 2.0**53
# The kinds of NumPy's types of real numbers.
REAL_KINDS = "biuf"
# Types of Python's numbers, which NumPy converts.
PLAIN_TYPES = {float, int, bool}
# Names of the types of None and of pandas' NA.
MISSING_TYPES = "NoneType", "NAType"
TIMES = datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64


def is_missing(value: Any) -> bool:
    """Whether a value is a missing one: None, NaN, NaT or pandas' NA."""
    if type(value).__name__ in MISSING_TYPES:
        return True
    differs = value != value
    return isinstance(differs, bool | np.bool_) and bool(differs)


def column_array(values: Any) -> Array:
    """A column of pandas, polars, Arrow or narwhals, or a sequence, as an array, (n,).

    Numbers are exact, text is text. Missing values are NaN or NaT, and None or pandas' NA among Python objects.
    """
    series = column_series(values)
    if series is None:
        return sequence_array(values) if isinstance(values, list | tuple) else np.asarray(values)
    if series.dtype.is_temporal() and (array := np.asarray(series.to_native())).dtype.kind in "mM":
        return array
    if is_plain_number(series.dtype):
        array = series.to_numpy()
        if series.dtype.is_float() or not is_rounded(array):
            return array
    # NumPy's view of a dictionary array of Arrow has another category in place of a missing one.
    return exact_array(series.to_list())


def is_plain_number(kind: Any) -> bool:
    """Whether a type of narwhals is one of floats or of integers up to 64 bits."""
    return kind.is_float() or (kind.is_integer() and kind not in (nw.Int128, nw.UInt128))


def column_series(values: Any) -> nw.Series[Any] | None:
    """A column as narwhals reads it; None for a sequence, a table, and an array or a column of NumPy's types."""
    if isinstance(getattr(values, "dtype", None), np.dtype) or hasattr(type(values), "columns"):
        return None
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series
    if type(values).__module__.partition(".")[0] == "pandas":
        return nw.from_native(nw.dependencies.get_pandas().Series(values), series_only=True)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        from pyarrow import chunked_array

        return nw.from_native(chunked_array(values), series_only=True)
    return None


def sequence_array(values: Sequence[Any]) -> Array:
    """A list or tuple as NumPy reads it, unless numbers would become text, or large integers be rounded."""
    array = np.asarray(values)
    kinds = {"U": str, "S": bytes}
    mixed = array.dtype.kind in kinds and not all(isinstance(one, kinds[array.dtype.kind]) for one in values)
    return exact_array(values) if array.ndim == 1 and (mixed or is_rounded(array)) else array


def is_rounded(array: Array) -> bool:
    """Whether an array has floats that may be rounded integers."""
    return array.dtype.kind == "f" and bool((np.abs(array) >= EXACT_INTEGERS).any())


def exact_array(entries: Sequence[Any]) -> Array:
    """Entries as numbers of one type, with NaN for missing ones, if these are exact; else as objects."""
    objects = np.fromiter(entries, dtype=object, count=len(entries))
    kinds = set(map(type, entries))
    if kinds == {bool}:
        return objects.astype(bool)
    present = [kind for kind in kinds if kind.__name__ not in MISSING_TYPES]
    if not present or bool in present or not all(issubclass(kind, int | float | np.number) for kind in present):
        return objects
    numbers = list(entries) if len(present) == len(kinds) else [np.nan if is_missing(v) else v for v in entries]
    array = np.array(numbers)
    pairs = zip(array.tolist(), numbers, strict=True)
    return objects if is_rounded(array) and any(one != number == number for one, number in pairs) else array


def real_numbers(values: Array, what: str, *, text: bool = False, missing: bool = False) -> Array:
    """A column, (n,), as an array of a type of real numbers.

    Parameters
    ----------
    values : ndarray of shape (n,)
    what : str
        What the values must be; the beginning of the message of an error.
    text : bool, default=False
        Whether text such as "1.5" is a number.
    missing : bool, default=False
        Whether NaN is allowed, which None, NaT and pandas' NA become.

    Raises
    ------
    ValueError, TypeError
        If a value is no real number, such as a date; the message names the first one.
    """
    if values.dtype.kind in REAL_KINDS and (missing or not np.isnan(values).any()):
        return values
    if values.dtype.kind in "mM":
        raise ValueError(f"{what}, got {values.dtype}")
    if values.dtype == object and PLAIN_TYPES.issuperset(map(type, values)):
        with suppress(OverflowError):
            numbers = values.astype(np.float64)
            if missing or not np.isnan(numbers).any():
                return numbers
    numbers = np.empty(len(values))
    for row, value in enumerate(values):
        try:
            numbers[row] = value if type(value) is float and value == value else real_number(value, text, missing)
        except (TypeError, ValueError, OverflowError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise at_entry(kind(f"{what}, got {told(value):.60} as entry {row}: {error}"), row) from error
    return numbers


def at_entry(error: E, entry: int | None) -> E:
    """An error whose message names an entry of an array, with its number for those who know what row it is."""
    error.entry = entry  # type: ignore[attr-defined]
    return error


def real_number(value: Any, text: bool, missing: bool) -> float:
    """A value as a float, or an error that says why it is none."""
    if is_missing(value):
        if missing:
            return np.nan
        raise ValueError("a missing value")
    if isinstance(value, complex | np.complexfloating):
        raise ValueError("Complex data not supported")
    if isinstance(value, np.ndarray | TIMES) or (isinstance(value, str | bytes) and not text):
        raise ValueError(f"{type(value).__name__} is no type of real numbers")
    return float(value)
