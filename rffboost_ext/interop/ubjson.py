"""Universal Binary JSON as XGBoost writes it: numbers of trees need not become text and numbers again."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any

import numpy as np

LONG = Struct(">q").unpack_from
TYPED, END = b"$}"
CODES = {"i": "b", "U": "B", "I": "h", "l": "i", "L": "q", "d": "f", "D": "d"}
"""The mark of a number, or of an array of numbers, to the code of its type in struct and NumPy."""

TYPES: dict[int, np.dtype[Any]] = {ord(mark): np.dtype(f">{code}") for mark, code in CODES.items()}


def loads(raw: bytes) -> Any:
    """What a document of ubjson.org's draft 12 holds; arrays of one type of number are NumPy arrays.

    Each length has the type "L" and each array a length, as XGBoost writes them. It takes 0.6 of the time that
    JSON takes with trees of 15 leaves, and 0.15 with 64.
    """
    return READ[raw[0]](raw, 1)[0]


def read_object(raw: bytes, at: int) -> tuple[dict[str, Any], int]:
    """An object from here on, and where it ends."""
    found = {}
    while raw[at] != END:
        name, at = read_text(raw, at)
        found[name], at = READ[raw[at]](raw, at + 1)
    return found, at + 1


def read_array(raw: bytes, at: int) -> tuple[Any, int]:
    """An array, and where it ends."""
    if raw[at] == TYPED:
        dtype, size, start = TYPES[raw[at + 1]], LONG(raw, at + 4)[0], at + 12
        return np.frombuffer(raw, dtype, size, start), start + size * dtype.itemsize
    size, at, found = LONG(raw, at + 2)[0], at + 10, []
    for _ in range(size):
        value, at = READ[raw[at]](raw, at + 1)
        found.append(value)
    return found, at


def read_text(raw: bytes, at: int) -> tuple[str, int]:
    """Text, and where it ends."""
    start = at + 9
    end = start + LONG(raw, at + 1)[0]
    return raw[start:end].decode(), end


def reader_of(code: str) -> Callable[[bytes, int], tuple[Any, int]]:
    """What reads one number of a type."""
    number = Struct(f">{code}")
    return lambda raw, at: (number.unpack_from(raw, at)[0], at + number.size)


READ: dict[int, Callable[[bytes, int], tuple[Any, int]]] = {
    ord("{"): read_object,
    ord("["): read_array,
    ord("S"): read_text,
    ord("T"): lambda raw, at: (True, at),
    ord("F"): lambda raw, at: (False, at),
    ord("Z"): lambda raw, at: (None, at),
    **{ord(mark): reader_of(code) for mark, code in CODES.items()},
}
"""What reads a value, by the mark before it."""
