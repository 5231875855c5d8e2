"""Records of studies, and the CSV file that a run appends them to and resumes from."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Key = tuple[str, str, int, float]
FIELDS = ("dataset", "system", "split", "x", "config")


@dataclass(frozen=True)
class Record:
    """What was measured of a system on a split of a data set.

    Attributes
    ----------
    dataset, system : str
        Data set and system.
    split : int
        Random split, or draw of the data, from 1.
    x : float
        Position along an axis, for example rounds, landmarks or rows; 0 if the study has none.
    config : str
        Versions and a digest of the settings: records of other settings are measured again.
    values : dict
        Numbers and mappings by measure.
    """

    dataset: str
    system: str
    split: int
    x: float
    config: str
    values: dict[str, Any]

    @property
    def key(self) -> Key:
        """What identifies the record in its file."""
        return self.dataset, self.system, self.split, self.x

    def __getitem__(self, measure: str) -> Any:
        return self.values[measure]

    def row(self) -> dict[str, Any]:
        """The record by column."""
        return {name: getattr(self, name) for name in FIELDS} | self.values


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


def as_csv(records: Iterable[Record], measures: Sequence[str], header: bool = True) -> bytes:
    """Records as CSV, one line each; measures as JSON."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if header:
        writer.writerow([*FIELDS, *measures])
    for record in records:
        row = record.row()
        writer.writerow([*(row[name] for name in FIELDS), *(json.dumps(row[name]) for name in measures)])
    return out.getvalue().encode()


def as_frame(records: Iterable[Record]) -> Any:
    """The records as a pandas data frame, a column per field and measure."""
    import pandas as pd

    return pd.DataFrame([record.row() for record in records])
