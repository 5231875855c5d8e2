"""The rows of a target, and the CSV file that keeps them between runs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from ..compare.csv_records import Records

Key = tuple[str, str, int, float]


@dataclass(frozen=True)
class Row:
    """One measured value.

    Attributes
    ----------
    dataset, system : str
        Data set and system measured.
    split : int
        Random split, or draw of the data, from 1.
    x : float
        Position on the horizontal axis: rounds, landmarks, features, rows or a share, depending on the target.
    config : str
        Version of the package and a digest of the settings; rows of other configurations are ignored.
    score : float
        Accuracy or error of the test part in percent, or seconds, depending on the target.
    seconds : float
        Time that it took, the search for hyperparameters included.
    n_train, n_test, n_features : int
        Sizes.
    chosen : str
        JSON of the hyperparameters that the search chose.
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
        """What identifies a row."""
        return self.dataset, self.system, self.split, self.x


COLUMNS = [field.name for field in fields(Row)]


class Journal(Records[Row]):
    """The rows of a target.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, Row)
