"""Checks of output files before a long run, and their atomic writing."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..utils.files import write_atomically


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


def create_folder(option: str, folder: Path) -> None:
    """Create a folder, if there is none; a ValueError, which names the option, if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(f"{option}: the folder {str(folder)!r} cannot be created: {error.strerror}") from error


def write_files(contents: Mapping[Path, bytes]) -> None:
    """Write files, each atomically."""
    for path, content in contents.items():
        write_atomically(path, content)
