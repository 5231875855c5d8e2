"""The rows of a target, and the CSV file that keeps them between runs."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from ..compare.outputs import write_all

Key = tuple[str, str, int, float]


@dataclass(frozen=True)
class Row:
    """One measured value.

    Attributes
    ----------
    dataset, system : str
        What was measured on what.
    split : int
        Random split, or draw of the data, from 1.
    x : float
        Where on the horizontal axis: rounds, landmarks, features, rows or a share, as the target says.
    config : str
        Version of the package and a digest of the settings; rows of another one do not count.
    score : float
        Accuracy or error of the test part in percent, or seconds, as the target says.
    seconds : float
        Time that it took, the search for hyperparameters included.
    n_train, n_test, n_features : int
        Sizes.
    chosen : str
        JSON of what the search chose.
    """

    dataset: str
    system: str
    split: int
    x: float
    config: str
    score: float
    seconds: float
    n_train: int
    n_test: int
    n_features: int
    chosen: str = ""

    @property
    def key(self) -> Key:
        """What there is one row of."""
        return self.dataset, self.system, self.split, self.x


COLUMNS = [field.name for field in fields(Row)]
TYPES: dict[str, Callable[[str], str | int | float]] = {"int": int, "float": float, "str": str}
CASTS = {field.name: TYPES[str(field.type)] for field in fields(Row)}


@dataclass(frozen=True)
class Journal:
    """A CSV file to which the rows of a task are appended in one write, so that a run can end at any moment.

    Of two rows of a key the later counts.

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
            raise ValueError(f"{str(self.path)!r} is no journal of this command: its columns are {header}")
        found = (parsed(self.path, reader.line_num, cells) for cells in reader)
        return {row.key: row for row in found}

    def append(self, rows: Sequence[Row]) -> None:
        """Add rows, after the header if they are the first."""
        try:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o644)
            text = as_csv(rows)
        except FileExistsError:
            descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
            text = as_csv(rows, header=False)
        with os.fdopen(descriptor, "wb", buffering=0) as file:
            file.write(text)
            os.fsync(file.fileno())

    def mend(self) -> bool:
        """Cut off a last line that an interrupted run left unfinished; whether there was one."""
        content = self.path.read_bytes() if self.path.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if whole == content:
            return False
        if whole:
            write_all({self.path: whole})
        else:
            self.path.unlink()
        return True


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
