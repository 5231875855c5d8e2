"""Records of comparisons and studies, and their form in CSV files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
