"""The CSV file of records that a study appends to and resumes from."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rffboost_ext.experiments.records import FIELDS, Key, Record, as_csv


@dataclass(frozen=True)
class Records:
    """A CSV file of records; each call appends in one write, so that a run may end at any moment.

    Several runs may share the file. The last of several records with the same key counts.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    measures : sequence of str
        The names of the measures, each a column.
    """

    path: Path
    measures: Sequence[str]

    def read(self) -> dict[Key, Record]:
        """All records, by key.

        Raises
        ------
        ValueError
            If the file has other columns or an invalid row; the message names the file and the line.
        """
        if not self.path.exists() or self.path.stat().st_size == 0:
            return {}
        try:
            text = self.path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(f"{str(self.path)!r} is not a file of these records: {error}") from error
        # The last line is incomplete while another run writes it.
        reader = csv.reader(io.StringIO(text[: text.rfind("\n") + 1]))
        header, expected = next(reader, None), [*FIELDS, *self.measures]
        if header != expected:
            raise ValueError(
                f"{str(self.path)!r} is not a file of these records: its columns are {header}, not {expected}"
            )
        records = [self._parse(reader.line_num, cells) for cells in reader]
        return {record.key: record for record in records}

    def append(self, *records: Record) -> None:
        """Append records, after the header if the file is new."""
        with open(self.path, "ab", buffering=0) as file:
            file.write(as_csv(records, self.measures, header=file.tell() == 0))

    def write(self, records: Iterable[Record]) -> None:
        """Replace all records."""
        self.path.write_bytes(as_csv(records, self.measures))

    def repair(self) -> bool:
        """Remove an incomplete last line, which an interrupted run leaves; whether there was one."""
        if not self.path.exists():
            return False
        content = self.path.read_bytes()
        complete = content.rfind(b"\n") + 1
        os.truncate(self.path, complete)
        return complete < len(content)

    def _parse(self, line: int, cells: list[str]) -> Record:
        try:
            dataset, system, split, x, config, *values = cells
            measured = {name: json.loads(cell) for name, cell in zip(self.measures, values, strict=True)}
            return Record(dataset, system, int(split), float(x), config, measured)
        except ValueError as error:
            raise ValueError(f"{str(self.path)!r}, line {line}: {error}") from error
