"""The rows of the accuracy benchmark, and the CSV file that keeps them between runs."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from rffboost_ext.compare.outputs import write_all

Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class Row:
    """What one system did on one split.

    Attributes
    ----------
    table, dataset, split, system : str, str, int, str
        Of which there is one row each.
    config : str
        The system's version and a digest of its settings.
    task : str
        "binary", "multiclass" or "regression".
    n_train, n_test, n_features, threads : int
        Sizes, and the threads that all systems were held to.
    score : float
        Accuracy or R2 of the test part, in percent.
    fit_seconds, search_seconds, predict_seconds : float
        Time of the final fit, of a search before it, and of predicting the test part.
    chosen : str
        JSON of what a search chose.
    """

    table: str
    dataset: str
    split: int
    system: str
    config: str
    task: str
    n_train: int
    n_test: int
    n_features: int
    threads: int
    score: float
    fit_seconds: float
    search_seconds: float
    predict_seconds: float
    chosen: str

    @property
    def key(self) -> Key:
        """What there is one row of."""
        return self.table, self.dataset, self.split, self.system


COLUMNS = [field.name for field in fields(Row)]
TYPES: dict[str, Callable[[str], str | int | float]] = {"int": int, "float": float, "str": str}
CASTS = {field.name: TYPES[str(field.type)] for field in fields(Row)}


@dataclass(frozen=True)
class Journal:
    """A CSV file to which rows are appended one at a time, so that a run can end at any moment.

    A line goes out in one write, so that several runs may share the file; of two rows of a key the later counts.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    """

    path: Path

    def rows(self) -> dict[Key, Row]:
        """All rows, by key.

        Raises
        ------
        ValueError
            If the file is not such a journal; the message names the line.
        """
        if not self.path.exists():
            return {}
        reader = csv.reader(io.StringIO(self.path.read_text()))
        header = next(reader, None)
        if header != COLUMNS:
            raise ValueError(f"{str(self.path)!r} is no journal of this benchmark: its columns are {header}")
        found = (parsed(self.path, reader.line_num, cells) for cells in reader)
        return {row.key: row for row in found}

    def append(self, row: Row) -> None:
        """Add a row, after the header if it is the first."""
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
            text = as_csv([row])
        except FileExistsError:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            text = as_csv([row], header=False)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            file.write(text)
            os.fsync(file.fileno())

    def drop(self, unwanted: Callable[[Row], bool]) -> int:
        """Take rows out, and say how many."""
        rows = self.rows()
        kept = [row for row in rows.values() if not unwanted(row)]
        if len(kept) < len(rows):
            write_all({self.path: as_csv(kept)})
        return len(rows) - len(kept)

    def mend(self) -> None:
        """Cut off a last line that an interrupted run, or a full disk, left unfinished."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if whole == content:
            return
        print(f"{self.path}: the last line is unfinished and is dropped", file=sys.stderr)
        if whole:
            write_all({self.path: whole})
        else:
            self.path.unlink()


def as_csv(rows: Iterable[Row], header: bool = True) -> bytes:
    """Rows as lines of CSV."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    if header:
        writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return out.getvalue().encode()


def parsed(path: Path, line: int, cells: list[str]) -> Row:
    """One row out of its cells."""
    try:
        values = {name: CASTS[name](cell) for name, cell in zip(COLUMNS, cells, strict=True)}
    except ValueError as error:
        raise ValueError(f"{str(path)!r}, line {line}: {error}") from error
    return Row(**values)  # type: ignore[arg-type]
