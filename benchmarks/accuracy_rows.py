"""The rows of the accuracy benchmark, and the CSV file that keeps them between runs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from rffboost_ext.experiments.compare.csv_records import Records

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


class Journal(Records[Row]):
    """The rows of the benchmark.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, Row)
