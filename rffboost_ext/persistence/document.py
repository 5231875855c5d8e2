"""Write values to files, and read them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..utils.files import check_path, require_regular, write_atomically
from . import container
from .values import Packer, Unpacker

# Verbs with which messages about a file start.
VERBS = ("is ", "was ", "has ", "holds ", "refers ")


def write_value(path: str | os.PathLike[str], kind: str, value: Any, name: str) -> None:
    """Write `value`, which messages call `name`, to a file of a kind, atomically."""
    packer = Packer()
    contents = packer.pack(value, name)
    write_atomically(path, container.encode(kind, contents, packer.arrays))


def read_value(path: str | os.PathLike[str], kind: str) -> Any:
    """Read the value in a file of a kind.

    Raises
    ------
    TypeError, ValueError
        If `path` is no path, or the file is invalid; the message names it.
    OSError
        If the file cannot be read.
    """
    path = check_path(path)
    require_regular(path)
    with open(path, "rb") as file, naming_file(path):
        contents, arrays = container.decode(kind, container.read_intact(file))
        return Unpacker(arrays).unpack(contents)


@contextmanager
def naming_file(path: str) -> Iterator[None]:
    """A context in which any error about the contents of a file becomes a ValueError that names it."""
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{path!r} {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """The message of an error about a file, without its name."""
    if type(error) is ValueError and str(error).startswith(VERBS):
        return str(error)
    return f"has invalid contents: {type(error).__name__}: {error}"
