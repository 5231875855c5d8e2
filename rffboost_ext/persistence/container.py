r"""The bytes of a file: a header of JSON, raw arrays, and a checksum over all of it.

===================  =======================================================================================
bytes                what they are
===================  =======================================================================================
8                    ``\x93RFFB\r\n\x1a``: no text, and spoilt by whatever takes it for text
8                    version of the format, unsigned, little-endian
8                    length of the header, likewise
length of header     JSON in UTF-8: ``kind`` ("model" or "checkpoint"), ``written_by``, ``contents`` (see
                     :mod:`~rffboost_ext.persistence.values`) and ``arrays``, a list of [dtype, shape, order]
the rest but 32      the arrays, one after the other, each in its order ("C" or "F"), without gaps
32                   SHA-256 of all bytes before
===================  =======================================================================================

The version defines all of this. A reader accepts its own version, and earlier ones by :data:`UPGRADES`, of which
there are none yet: this is the first.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..utils.typing import Array

MAGIC = b"\x93RFFB\r\n\x1a"
VERSION = 1
PREFIX = struct.Struct("<8sQQ")
DIGEST = hashlib.sha256().digest_size

UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""For each earlier version, the function from its header to that of the next version."""

# Numbers, fixed-width text and dates: dtypes that raw bytes can be read as without running code.
DTYPE = re.compile(r"[<>|](b1|[iu][1248]|f[248]|c8|c16|[US]\d{1,9}|[mM]8(\[\d{0,9}[a-zA-Z]{1,2}\])?)")


def encode(kind: str, contents: Any, arrays: Sequence[Array]) -> bytes:
    """The file that holds `contents`, JSON that refers to `arrays` by index."""
    from .._version import __version__

    table = [[array.dtype.str, list(array.shape), order_of(array)] for array in arrays]
    header = {"kind": kind, "written_by": f"rffboost_ext {__version__}", "contents": contents, "arrays": table}
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    raw = [array.tobytes(order) for array, (_, _, order) in zip(arrays, table, strict=True)]  # type: ignore[arg-type]
    body = b"".join([PREFIX.pack(MAGIC, VERSION, len(text)), text, *raw])
    return body + hashlib.sha256(body).digest()


def decode(kind: str, data: bytes) -> tuple[Any, list[Array]]:
    """Contents and arrays of a file.

    Raises
    ------
    ValueError
        If the bytes are not such a file, incomplete, or of a later version; the message continues the file's name.
    """
    version, text, raw = split_sections(data)
    header = json.loads(text)
    for earlier in range(version, VERSION):
        header = UPGRADES[earlier](header)
    if header["kind"] != kind:
        raise ValueError(f"holds a {header['kind']}, not a {kind}")
    return header["contents"], read_arrays(header["arrays"], raw)


def split_sections(data: bytes) -> tuple[int, bytes, memoryview]:
    """Version, header and arrays of a file whose checksum is right."""
    if data[: len(MAGIC)] != MAGIC:
        raise ValueError("was not written by rffboost_ext, or its beginning is damaged")
    if len(data) < PREFIX.size + DIGEST or hashlib.sha256(data[:-DIGEST]).digest() != data[-DIGEST:]:
        raise ValueError("is damaged or incomplete: its checksum is not that of its contents")
    _, version, length = PREFIX.unpack_from(data)
    if version > VERSION or version not in {VERSION, *UPGRADES}:
        raise ValueError(f"is of version {version} of the format; this release reads up to version {VERSION}")
    end = PREFIX.size + length
    if end > len(data) - DIGEST:
        raise ValueError("has a header longer than itself")
    return version, data[PREFIX.size : end], memoryview(data)[end:-DIGEST]


def read_arrays(table: Sequence[Any], raw: memoryview) -> list[Array]:
    """The arrays of a table, each a copy."""
    arrays, start = [], 0
    for dtype, shape, order in table:
        array, start = _read(str(dtype), shape, order, raw, start)
        arrays.append(array)
    if start != len(raw):
        raise ValueError(f"has {len(raw)} bytes of arrays where its header speaks of {start}")
    return arrays


def _read(dtype: str, shape: Sequence[int], order: str, raw: memoryview, start: int) -> tuple[Array, int]:
    """The array that begins at a byte, and where it ends."""
    if not DTYPE.fullmatch(dtype) or order not in ("C", "F") or not _is_shape(shape):
        raise ValueError(f"speaks of an array that cannot be: {dtype!r}, {shape!r}, {order!r}")
    end = start + np.dtype(dtype).itemsize * math.prod(shape)
    if end > len(raw):
        raise ValueError(f"has {len(raw)} bytes of arrays where its header speaks of more")
    values: Array = np.ndarray(tuple(shape), np.dtype(dtype), raw[start:end], order=order)  # type: ignore[arg-type]
    return values.copy(order), end  # type: ignore[arg-type]


def _is_shape(shape: object) -> bool:
    return isinstance(shape, list) and all(type(size) is int and size >= 0 for size in shape)


def order_of(array: Array) -> str:
    """ "F" for arrays contiguous in that order only; matrix products depend on it in their last bits."""
    return "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
