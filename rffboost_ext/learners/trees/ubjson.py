"""Reader of Universal Binary JSON as written by XGBoost, which avoids converting numbers to text and back."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, TypeAlias

import numpy as np

LONG = Struct(">q").unpack_from
TYPED, END = b"$}"
CODES = {"i": "b", "U": "B", "I": "h", "l": "i", "L": "q", "d": "f", "D": "d"}
"""From the marker of a type of number to its code in struct and NumPy."""

Reader: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""From a document and the start of a value, after its type marker, to the value and its end."""


def loads(raw: bytes) -> Any:
    """The value of a document of ubjson.org's draft 12; arrays of one type of number are NumPy arrays.

    Lengths must have the type "L", and arrays a length, as written by XGBoost.
    """
    return READERS[raw[0]](raw, 1)[0]


def read_object(raw: bytes, at: int) -> tuple[dict[str, Any], int]:
    """The object that starts at `at`, and its end."""
    value: dict[str, Any] = {}
    while raw[at] != END:
        name, at = read_text(raw, at)
        value[name], at = READERS[raw[at]](raw, at + 1)
    return value, at + 1


def read_array(raw: bytes, at: int) -> tuple[Any, int]:
    """The array that starts at `at`, and its end."""
    if raw[at] == TYPED:
        dtype, size, start = ARRAY_TYPES[raw[at + 1]], LONG(raw, at + 4)[0], at + 12
        return np.frombuffer(raw, dtype, size, start), start + size * dtype.itemsize
    size, at = LONG(raw, at + 2)[0], at + 10
    values = []
    for _ in range(size):
        value, at = READERS[raw[at]](raw, at + 1)
        values.append(value)
    return values, at


def read_text(raw: bytes, at: int) -> tuple[str, int]:
    """The text that starts at `at`, and its end."""
    start = at + 9
    end = start + LONG(raw, at + 1)[0]
    return raw[start:end].decode(), end


def number_reader(code: str) -> Reader:
    """A reader of one number of a type."""
    number = Struct(f">{code}")
    return lambda raw, at: (number.unpack_from(raw, at)[0], at + number.size)


READERS: dict[int, Reader] = {
    ord("{"): read_object,
    ord("["): read_array,
    ord("S"): read_text,
    ord("T"): lambda raw, at: (True, at),
    ord("F"): lambda raw, at: (False, at),
    ord("Z"): lambda raw, at: (None, at),
    **{ord(mark): number_reader(code) for mark, code in CODES.items()},
}
"""Readers of values by type marker."""

ARRAY_TYPES = {ord(mark): np.dtype(f">{code}") for mark, code in CODES.items()}
"""Types of arrays of one type of number by type marker."""
