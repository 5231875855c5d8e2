"""Files of a source: names and patterns, columns that all have, and errors that name the file."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from ..utils.files import check_path

# What readers raise, among them those of Arrow.
READ_ERRORS = OSError, ValueError, TypeError, LookupError, NotImplementedError
Paths: TypeAlias = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


@dataclass(frozen=True)
class File:
    """A file as it was when the source was made.

    Parameters
    ----------
    path : str
    size, changed : int
        Bytes, and the time of the last change in nanoseconds.
    """

    path: str
    size: int
    changed: int

    @classmethod
    def of(cls, path: str) -> File:
        """The file now; an OSError if there is none."""
        status = os.stat(path)
        return cls(path, status.st_size, status.st_mtime_ns)

    @contextmanager
    def reading(self) -> Iterator[str]:
        """The path; an error within names the file, and one is raised if the file has changed before or meanwhile.

        Raises
        ------
        OSError
            If the file has changed or cannot be read.
        ValueError
            If its contents are invalid.
        """
        try:
            self._require_unchanged()
            yield self.path
            self._require_unchanged()
        except READ_ERRORS as error:
            kind = OSError if isinstance(error, OSError) else ValueError
            raise kind(f"{self.path}: {error}") from error

    def _require_unchanged(self) -> None:
        if File.of(self.path) != self:
            raise OSError("has changed since the source was made: make the source again")


def find_files(owner: str, paths: Paths) -> list[File]:
    """The files of paths and patterns; those of a pattern are sorted by name.

    Raises
    ------
    TypeError, ValueError
        If `paths` are no paths, or none.
    FileNotFoundError, IsADirectoryError
        If a file does not exist, a pattern matches none, or a path is that of a folder.
    """
    patterns = [paths] if isinstance(paths, str | os.PathLike) else paths
    if not isinstance(patterns, Sequence):
        raise TypeError(f"{owner}: paths must be a path, a pattern or a sequence, got {paths!r}")
    if not patterns:
        raise ValueError(f"{owner}: paths must name at least one file, got {paths!r}")
    return [File.of(path) for one in patterns for path in expand(owner, check_path(one))]


def expand(owner: str, path: str) -> list[str]:
    """The files of a path or a pattern."""
    matches = [path] if os.path.exists(path) else sorted(glob.glob(path, recursive=True))
    if not matches:
        raise FileNotFoundError(f"{owner}: paths must be those of files, got {path!r}, where there is none")
    for one in matches:
        if os.path.isdir(one):
            raise IsADirectoryError(
                f"{owner}: paths must be those of files, got the folder {one!r}: give a pattern"
            )
    return matches


def require_same_columns(owner: str, schemas: Mapping[str, Any], used: list[str], all_columns: bool) -> None:
    """Raise a ValueError that names a file without a column of the first one.

    Parameters
    ----------
    owner : str
        Name of the caller, for messages.
    schemas : mapping of str to pyarrow.Schema
        By path.
    used : list of str
        The columns that are read.
    all_columns : bool
        Whether files must have the same columns, and not only those that are read.
    """
    (first, expected), *others = schemas.items()
    for path, schema in others:
        differing = set(expected.names) ^ set(schema.names) if all_columns else set(used) - set(schema.names)
        if differing:
            raise ValueError(
                f"{owner}: {path} must have the columns of {first}, but only one of both has {min(differing)!r}"
            )


def agreed_types(owner: str, schemas: Mapping[str, Any], used: list[str]) -> Any:
    """A schema of Arrow of some columns, with types to which those of all files can be converted.

    Numbers of several types agree, as do categories of the same kind, and columns without values with any others.

    Raises
    ------
    ValueError
        If types differ; the message names the file.
    """
    import pyarrow as pa

    fields = {
        path: pa.schema([pa.field(n, schema.field(n).type) for n in used]) for path, schema in schemas.items()
    }
    (first, agreed), *others = fields.items()
    for path, schema in others:
        try:
            agreed = pa.unify_schemas([agreed, schema], promote_options="permissive")
        except pa.ArrowException as error:
            raise ValueError(f"{owner}: {path} must have columns of the types of {first}: {error}") from error
    return agreed
