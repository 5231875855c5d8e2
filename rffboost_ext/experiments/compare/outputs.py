"""Atomic writing of files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path


def check_outputs(paths: Mapping[str, Path], inputs: Iterable[Path] = ()) -> None:
    """Raise unless each path, by the option that names it, can be written, and is none of the `inputs`.

    Raises
    ------
    ValueError
        If a folder does not exist or cannot be written to, a path is not a regular file, two are the same, or
        one is a file that is read.
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
            raise ValueError(f"{option}: {str(path)!r} is read, and would be overwritten")
        owners[real] = option


def check_folder(option: str, folder: Path) -> None:
    """Raise a ValueError, which names the option, unless a folder is there or can be made."""
    there = folder.absolute()
    while not there.exists() and not there.is_symlink():
        there = there.parent
    if not there.is_dir():
        what = "" if there == folder.absolute() else f", which {str(folder)!r} is to be in"
        raise ValueError(f"{option}: {str(there)!r} is not a folder{what}")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"{option}: the folder {str(there)!r} cannot be written to")


def write_all(contents: Mapping[Path, bytes]) -> None:
    """Write all files, or none if one of them cannot be written."""
    real = {path.resolve(): content for path, content in contents.items()}
    drafts = {path: path.with_name(f".{path.name}.{os.getpid()}.tmp") for path in real}
    try:
        for path, draft in drafts.items():
            with draft.open("wb") as file:
                file.write(real[path])
                file.flush()
                os.fsync(file.fileno())
        for path, draft in drafts.items():
            os.replace(draft, path)
    finally:
        for draft in drafts.values():
            draft.unlink(missing_ok=True)
