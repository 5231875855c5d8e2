"""A CSV file of records that a long run appends to, and that the next run resumes from."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from .outputs import write_all

TYPES: dict[str, Callable[[str], str | int | float]] = {"int": int, "float": float, "str": str}


class Keyed(Protocol):
    """A dataclass whose fields are texts and numbers."""

    @property
    def key(self) -> Any:
        """What identifies a record."""


R = TypeVar("R", bound=Keyed)


@dataclass(frozen=True)
class Records(Generic[R]):
    """A CSV file to which records are appended in one write, so that a run can be interrupted at any moment.

    Several runs may share the file. Of records with the same key the last one counts.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    kind : type
        A dataclass with a `key`, whose fields are annotated as str, int or float.
    """

    path: Path
    kind: type[R]

    @property
    def columns(self) -> list[str]:
        """The header of the file."""
        return [field.name for field in fields(self.kind)]  # type: ignore[arg-type]

    def rows(self) -> dict[Any, R]:
        """All records, by key.

        Raises
        ------
        ValueError
            If the file does not have this format; the message names the file, and the line of an invalid row.
        """
        if not self.path.exists():
            return {}
        try:
            text = self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{str(self.path)!r} is no file of these rows: {error}") from error
        # Another run may be about to finish the last line, or have ended within it.
        reader = csv.reader(io.StringIO(text[: text.rfind("\n") + 1]))
        header = next(reader, None)
        if header != self.columns:
            raise ValueError(
                f"{str(self.path)!r} is no file of these rows: its columns are {header} instead of {self.columns}"
            )
        found = [self._parsed(reader.line_num, cells) for cells in reader]
        return {record.key: record for record in found}

    def append(self, *records: R) -> None:
        """Append records, after the header if the file is new."""
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
            text = self._as_csv(records)
        except FileExistsError:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            text = self._as_csv(records, header=False)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            file.write(text)
            os.fsync(file.fileno())

    def drop(self, unwanted: Callable[[R], bool]) -> int:
        """Remove records, and return how many."""
        records = self.rows()
        kept = [record for record in records.values() if not unwanted(record)]
        if len(kept) < len(records):
            write_all({self.path: self._as_csv(kept)})
        return len(records) - len(kept)

    def mend(self) -> bool:
        """Remove a last line that an interrupted run, or a full disk, left unfinished; whether there was one.

        A run that ends before its first line leaves an empty file, which is removed too.
        """
        if not self.path.exists():
            return False
        content = self.path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole and whole == content:
            return False
        if whole:
            write_all({self.path: whole})
        else:
            self.path.unlink()
        return True

    def _as_csv(self, records: Iterable[Any], header: bool = True) -> bytes:
        out = io.StringIO()
        writer = csv.DictWriter(out, self.columns, lineterminator="\n")
        if header:
            writer.writeheader()
        writer.writerows(asdict(record) for record in records)
        return out.getvalue().encode()

    def _parsed(self, line: int, cells: list[str]) -> R:
        known: Any = fields(self.kind)  # type: ignore[arg-type]
        try:
            if len(cells) != len(known):
                raise ValueError(f"there must be {len(known)} cells, got {len(cells)}")
            values = {field.name: TYPES[str(field.type)](cell) for field, cell in zip(known, cells, strict=True)}
        except ValueError as error:
            raise ValueError(f"{str(self.path)!r}, line {line}: {error}") from error
        return self.kind(**values)
