"""Reader of Universal Binary JSON as written by XGBoost, which avoids converting numbers to text and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from struct import Struct
from typing import Any, TypeAlias

import numpy as np

LONG = Struct(">q").unpack_from
ARRAY, TYPED, END = b"[$}"
CODES = {"i": "b", "U": "B", "I": "h", "l": "i", "L": "q", "d": "f", "D": "d"}
"""From the marker of a type of number to its code in struct and NumPy."""

Reader: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""From a document and the start of a value, after its type markers, to the value and its end."""
Member: TypeAlias = tuple[bytes, str, Reader]
"""Of a member of an object: the leading bytes (name and type markers), the name, the reader of the value."""


@dataclass
class ReadCache:
    """Results of earlier reads at the same place of a document.

    Attributes
    ----------
    members : list of Member
        Members of the last object, or of the last object of an array. Trees have the same members in the same
        order, so that their leading bytes are compared instead of parsed.
    raw, values : bytes, list
        The bytes of an array, from its first value on, and its values. Earlier trees have the same bytes.
    """

    members: list[Member] = field(default_factory=list)
    raw: bytes = b""
    values: list[Any] = field(default_factory=list)


def loads(raw: bytes, cache: ReadCache | None = None) -> Any:
    """The value of a document of ubjson.org's draft 12; arrays of one type of number are NumPy arrays.

    Lengths must have the type "L", and arrays a length, as written by XGBoost.

    `cache` is from reading an earlier document, such as a model with fewer trees; it is updated.
    """
    read = READERS[raw[0]]
    return (read_object(raw, 1, cache) if read is read_object else read(raw, 1))[0]


def read_object(raw: bytes, at: int, cache: ReadCache | None = None) -> tuple[dict[str, Any], int]:
    """The object that starts at `at`, and its end."""
    value: dict[str, Any] = {}
    members = [] if cache is None else cache.members
    for head, name, read in members:
        start = at + len(head)
        if raw[at:start] != head:
            break
        value[name], at = read(raw, start)
    while raw[at] != END:
        del members[len(value) :]
        head, name, read = member = read_member(raw, at)
        value[name], at = read(raw, at + len(head))
        members.append(member)
    return value, at + 1


def read_member(raw: bytes, at: int) -> Member:
    """The member that starts at `at`."""
    name, end = read_text(raw, at)
    if raw[end] == ARRAY and raw[end + 1] == TYPED:
        return raw[at : end + 5], name, ARRAY_READERS[raw[end + 2]]
    read = READERS[raw[end]]
    return raw[at : end + 1], name, partial(read, cache=ReadCache()) if read in (read_object, read_array) else read


def read_array(raw: bytes, at: int, cache: ReadCache | None = None) -> tuple[Any, int]:
    """The array that starts at `at`, and its end."""
    if raw[at] == TYPED:
        return ARRAY_READERS[raw[at + 1]](raw, at + 4)
    cache = ReadCache() if cache is None else cache
    size, start = LONG(raw, at + 2)[0], at + 10
    is_prefix = len(cache.values) <= size and raw.startswith(cache.raw, start)
    values, at = ([*cache.values], start + len(cache.raw)) if is_prefix else ([], start)
    while len(values) < size:
        read = READERS[raw[at]]
        value, at = read_object(raw, at + 1, cache) if read is read_object else read(raw, at + 1)
        values.append(value)
    cache.raw, cache.values = raw[start:at], values
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


def array_reader(code: str) -> Reader:
    """A reader of an array of numbers of a type, from its length on."""
    dtype = np.dtype(f">{code}")

    def read(raw: bytes, at: int) -> tuple[Any, int]:
        size, start = LONG(raw, at)[0], at + 8
        return np.frombuffer(raw, dtype, size, start), start + size * dtype.itemsize

    return read


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

ARRAY_READERS = {ord(mark): array_reader(code) for mark, code in CODES.items()}
"""Readers of arrays of one type of number by type marker."""
