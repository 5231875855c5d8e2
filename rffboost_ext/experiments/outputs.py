"""Checks of output files before a long run."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path


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
