"""Write a value to a file, and read it back."""

from __future__ import annotations

import os
from typing import Any

from ..utils.files import check_path, write_atomically
from . import container
from .values import Packer, Unpacker

# How a message may continue after the name of a file.
VERBS = ("is ", "was ", "has ", "holds ", "speaks ")


def write_value(path: str | os.PathLike[str], kind: str, value: Any, name: str) -> None:
    """Write `value`, called `name` in messages, to a file of some kind, atomically."""
    from . import parts  # noqa: F401

    packer = Packer()
    contents = packer.pack(value, name)
    write_atomically(path, container.encode(kind, contents, packer.arrays))


def read_value(path: str | os.PathLike[str], kind: str) -> Any:
    """Read the value in a file of some kind.

    Raises
    ------
    TypeError, ValueError
        If `path` is no path, or the file cannot be read as such; the message names it.
    OSError
        If it cannot be read at all.
    """
    from . import parts  # noqa: F401

    path = check_path(path)
    with open(path, "rb") as file:
        data = file.read()
    try:
        contents, arrays = container.decode(kind, data)
        return Unpacker(arrays).unpack(contents)
    except Exception as error:
        raise ValueError(f"{path!r} {_reason(error)}") from error


def _reason(error: Exception) -> str:
    """What is wrong with a file, in words that follow its name."""
    if type(error) is ValueError and str(error).startswith(VERBS):
        return str(error)
    return f"has contents that cannot be: {type(error).__name__}: {error}"
