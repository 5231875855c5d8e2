"""Atomic writing of files, and checks of their paths."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO


def write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    """Replace the file at `path` by `data`, atomically.

    If the process or the machine stops, or an error is raised, `path` is the old or the new file.

    Parameters
    ----------
    path : str or path
        The file; links are followed.
    data : bytes
        The contents.
    """
    with replaced(path) as file:
        file.write(data)


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which replaces that at `path` at the end, atomically.

    The data are written to a temporary file in the same folder, synced to disk, and renamed. If the process or the
    machine stops, or an error is raised, `path` is the old or the new file. Permissions are kept. A killed process
    can leave the temporary file behind.

    Parameters
    ----------
    path : str or path
        The file; links are followed.

    Raises
    ------
    TypeError, ValueError
        If `path` is not a path, or empty, or that of a device, pipe or socket.
    FileNotFoundError, IsADirectoryError
        If its folder does not exist, or it is a folder.
    OSError
        If it cannot be written. The file is then unchanged, unless only the sync of the folder failed.
    """
    target = resolve_target(path)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(6)}.tmp")
    try:
        mode = permissions(target)
        with open(temporary, "xb", opener=partial(os.open, mode=0o666 if mode is None else mode | 0o600)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        # The umask may have removed permissions, and the temporary file is writable by its owner.
        if mode is not None and permissions(temporary) != mode:
            os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno is not None:
            # The message names the path of the caller, not the temporary file.
            raise OSError(error.errno, error.strerror, check_path(path)) from error
        raise
    _sync_folder(target.parent)


def resolve_target(path: str | os.PathLike[str]) -> Path:
    """The target of `path`, with links followed; raise an OSError or ValueError if it cannot be a file."""
    path = check_path(path)
    target = Path(os.path.realpath(path))
    if os.path.isdir(path):
        raise IsADirectoryError(f"path must be a file, got the folder {path!r}")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path must be in an existing folder, got {path!r}")
    require_regular(path)
    return target


def require_regular(path: str | os.PathLike[str]) -> None:
    """Raise a ValueError for a device, pipe or socket, whose size is unknown and which cannot be replaced."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise ValueError(f"path must be a file, got the device, pipe or socket {os.fspath(path)!r}")


def permissions(file: Path) -> int | None:
    """The permissions of a file; None if it does not exist."""
    try:
        return stat.S_IMODE(file.stat().st_mode)
    except FileNotFoundError:
        return None


def check_path(path: object) -> str:
    """The path as a string; raise a TypeError or ValueError if it is invalid, such as a file descriptor."""
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str):
        raise TypeError(f"path must be a string or a path, got {path!r} of type {type(path).__name__}")
    if not text:
        raise ValueError("path must be a file, got ''")
    if "\0" in text:
        raise ValueError(f"path must not contain the character NUL, got {text!r}")
    return text


def check_outputs(paths: Mapping[str, Path], inputs: Iterable[Path] = ()) -> None:
    """Raise a ValueError unless all paths can be written to, differ, and are none of the `inputs`.

    Parameters
    ----------
    paths : mapping of str to Path
        The path of each option.
    inputs : iterable of Path
        Files that are read.
    """
    read = {path.resolve() for path in inputs}
    owners: dict[Path, str] = {}
    for option, path in paths.items():
        real = path.resolve()
        if not real.parent.is_dir():
            raise ValueError(f"{option}: there is no folder {str(real.parent)!r}")
        if not os.access(real.parent, os.W_OK | os.X_OK):
            raise ValueError(f"{option}: the folder {str(real.parent)!r} cannot be written to")
        if real.exists() and not real.is_file():
            raise ValueError(f"{option}: {str(path)!r} is not a file")
        if real in owners:
            raise ValueError(f"{option} and {owners[real]} name the same file, {str(path)!r}")
        if real in read:
            raise ValueError(f"{option}: {str(path)!r} is an input file")
        owners[real] = option


def _sync_folder(folder: Path) -> None:
    """Sync the renamed file to disk, on systems that can open folders."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
