r"""The format of files: a JSON header, raw arrays, and a checksum.

===================  =======================================================================================
bytes                contents
===================  =======================================================================================
8                    ``\x93RFFB\r\n\x1a``, which conversion of line ends would damage
8                    version of the format, unsigned, little-endian
8                    length of the header, likewise
length of header     JSON in UTF-8: ``kind`` ("model"), ``written_by``, ``contents`` (see
                     :mod:`~rffboost_ext.persistence.values`) and ``arrays``, a list of [dtype, shape, order];
                     of a model also the user's ``metadata`` and ``model_version``, if they are given
up to the last 32    the arrays, contiguous, each in its order ("C" or "F")
32                   SHA-256 of all preceding bytes
===================  =======================================================================================

A reader accepts its own version of the format only.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np

from ..utils.files import check_path, require_regular, write_atomically
from ..utils.typing import Array
from .values import DTYPE, Packer, Unpacker, order_of

MAGIC = b"\x93RFFB\r\n\x1a"
VERSION = 1
PREFIX = struct.Struct("<8sQQ")
DIGEST = hashlib.sha256().digest_size
# Verbs with which messages about a file start.
VERBS = ("is ", "was ", "has ", "holds ")


def write_value(
    path: str | os.PathLike[str], value: Any, name: str, more: Mapping[str, Any] | None = None
) -> None:
    """Write `value`, which messages call `name`, to a file, atomically, with `more` in its header."""
    packer = Packer()
    contents = packer.pack(value, name)
    write_atomically(path, encode(contents, packer.arrays, more))


def read_value(path: str | os.PathLike[str]) -> Any:
    """Read the value in a file.

    Raises
    ------
    TypeError, ValueError
        If `path` is no path, or the file is invalid; the message names it.
    OSError
        If the file cannot be read.
    """
    with intact_bytes(path) as data:
        contents, arrays = decode(data)
        return Unpacker(arrays).unpack(contents)


@contextmanager
def intact_bytes(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """A context with the bytes of a file, in which any error about its contents names it."""
    path = check_path(path)
    require_regular(path)
    with open(path, "rb") as file, naming_file(path):
        yield read_intact(file)


@contextmanager
def naming_file(path: str) -> Iterator[None]:
    """A context in which any error about the contents of a file becomes a ValueError that names it."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        text = str(error)
        reason = text if text.startswith(VERBS) else f"has invalid contents: {type(error).__name__}: {text}"
        raise ValueError(f"{path!r} {reason}") from error


def encode(contents: Any, arrays: Sequence[Array], more: Mapping[str, Any] | None = None) -> bytes:
    """The bytes of a file with `contents`, JSON that refers to `arrays` by index, and `more` in its header."""
    from .._version import __version__

    table = [[array.dtype.str, list(array.shape), order_of(array)] for array in arrays]
    header = {"kind": "model", "written_by": f"rffboost_ext {__version__}", **(more or {})}
    header |= {"contents": contents, "arrays": table}
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    raw = [array.tobytes(order) for array, (_, _, order) in zip(arrays, table, strict=True)]  # type: ignore[arg-type]
    body = b"".join([PREFIX.pack(MAGIC, VERSION, len(text)), text, *raw])
    return body + hashlib.sha256(body).digest()


def decode(data: bytes) -> tuple[Any, list[Array]]:
    """Contents and arrays of an intact file.

    Raises
    ------
    ValueError
        If the file is of another version, or an array is of a type that cannot be read. The message starts with a
        verb.
    """
    text, raw = split_sections(data)
    header = json.loads(text)
    arrays, end = [], 0
    for dtype, shape, order in header["arrays"]:
        if not DTYPE.fullmatch(dtype):
            raise ValueError(f"has an array of the invalid type {dtype!r}")
        # NumPy checks the shape, the order and the number of bytes.
        array: Array = np.ndarray(tuple(shape), np.dtype(dtype), raw, end, order=order)
        arrays.append(array.copy(order))
        end += array.nbytes
    return header["contents"], arrays


def read_intact(file: BinaryIO) -> bytes:
    """The bytes of a file; a ValueError unless its beginning and its checksum are right."""
    if (start := file.read(len(MAGIC))) != MAGIC:
        # The first field of an ONNX file is the version of its format, one byte.
        is_onnx = start[:1] == b"\x08" and start[2:3] in (b"\x12", b":")
        advice = ", but is an ONNX file: onnx_export.OnnxPredictor reads it" if is_onnx else ", or is damaged"
        raise ValueError(f"was not written by rffboost_ext as a model{advice}")
    file.seek(0)
    data = file.read()
    if len(data) < PREFIX.size + DIGEST or hashlib.sha256(memoryview(data)[:-DIGEST]).digest() != data[-DIGEST:]:
        raise ValueError("is damaged or incomplete: its checksum is not that of its contents")
    return data


def split_sections(data: bytes) -> tuple[bytes, memoryview]:
    """Header and arrays of an intact file."""
    _, version, length = PREFIX.unpack_from(data)
    if version != VERSION:
        raise ValueError(f"is of version {version} of the format; this release reads version {VERSION}")
    end = PREFIX.size + length
    return data[PREFIX.size : end], memoryview(data)[end:-DIGEST]
