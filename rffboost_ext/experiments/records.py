"""Records of long runs, and the CSV file that a run appends them to and resumes from."""

from __future__ import annotations

import csv
import io
import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, Generic, TypeVar

from ..utils.files import write_atomically

PARSERS: dict[str, Callable[[str], Any]] = {"int": int, "float": float, "str": str, "dict[str, Any]": json.loads}


class Record(ABC):
    """A measurement: a dataclass whose fields are texts, numbers and mappings, one CSV column each."""

    @property
    @abstractmethod
    def key(self) -> Any:
        """The fields that identify the record in its file."""

    @property
    @abstractmethod
    def kind(self) -> tuple[str, ...]:
        """What its time depends on, from the general to the specific; see ``RemainingTime``."""

    @property
    @abstractmethod
    def unit_seconds(self) -> float:
        """Time of the measurement, divided by the cost of its task."""

    @property
    def configuration(self) -> Hashable:
        """The settings that the record was measured with."""
        return ""


R = TypeVar("R", bound=Record)


class Records(Generic[R]):
    """A CSV file of records; each call appends in one write, so that a run may end at any moment.

    Several runs may share the file. The last of several records with the same key counts.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    record_type : type
        A subclass of Record.
    """

    def __init__(self, path: Path, record_type: type[R]) -> None:
        self.path = path
        self.record_type = record_type

    def read(self) -> dict[Any, R]:
        """All records, by key.

        Raises
        ------
        ValueError
            If the file has other columns or an invalid row; the message names the file and the line.
        """
        if not self.path.exists():
            return {}
        try:
            text = self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{str(self.path)!r} is not a file of these records: {error}") from error
        # The last line is incomplete while another run writes it.
        reader = csv.reader(io.StringIO(text[: text.rfind("\n") + 1]))
        header, expected = next(reader, None), columns(self.record_type)
        if header != expected:
            raise ValueError(
                f"{str(self.path)!r} is not a file of these records: its columns are {header}, not {expected}"
            )
        records = [self._parse(reader.line_num, cells) for cells in reader]
        return {record.key: record for record in records}

    def append(self, *records: R) -> None:
        """Append records, after the header if the file is new."""
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
            text = as_csv(self.record_type, records)
        except FileExistsError:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            text = as_csv(self.record_type, records, header=False)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            file.write(text)
            os.fsync(file.fileno())

    def drop(self, condition: Callable[[R], bool]) -> int:
        """Remove the records for which `condition` is true, and return their number."""
        records = self.read().values()
        kept = [record for record in records if not condition(record)]
        if len(kept) < len(records):
            write_atomically(self.path, as_csv(self.record_type, kept))
        return len(records) - len(kept)

    def repair(self) -> bool:
        """Remove an incomplete last line, which an interrupted run leaves; whether there was one.

        An empty file is removed.
        """
        if not self.path.exists():
            return False
        content = self.path.read_bytes()
        complete = content[: content.rfind(b"\n") + 1]
        if complete and complete == content:
            return False
        if complete:
            write_atomically(self.path, complete)
        else:
            self.path.unlink()
        return True

    def _parse(self, line: int, cells: list[str]) -> R:
        known: Any = fields(self.record_type)  # type: ignore[arg-type]
        try:
            if len(cells) != len(known):
                raise ValueError(f"there must be {len(known)} cells, got {len(cells)}")
            values = {field.name: PARSERS[str(field.type)](cell) for field, cell in zip(known, cells, strict=True)}
        except ValueError as error:
            raise ValueError(f"{str(self.path)!r}, line {line}: {error}") from error
        return self.record_type(**values)


def columns(record_type: Any) -> list[str]:
    """Names of the columns: the fields that take part in comparisons."""
    return [field.name for field in fields(record_type) if field.compare]


def as_row(record: Any) -> dict[str, Any]:
    """The fields of a record by column."""
    return {name: getattr(record, name) for name in columns(record)}


def as_csv(record_type: type[R], records: Iterable[R], header: bool = True) -> bytes:
    """Records as CSV, one line each; mappings as JSON."""
    out = io.StringIO()
    writer = csv.DictWriter(out, columns(record_type), lineterminator="\n")
    if header:
        writer.writeheader()
    for record in records:
        row = as_row(record)
        writer.writerow({k: json.dumps(v) if isinstance(v, dict) else v for k, v in row.items()})
    return out.getvalue().encode()
