"""The records of the accuracy benchmark."""

from __future__ import annotations

from dataclasses import dataclass

from rffboost_ext.experiments.records import Record, columns

Key = tuple[str, str, int, str]


@dataclass(frozen=True)
class AccuracyRecord(Record):
    """The results of one system on one split.

    Attributes
    ----------
    table, dataset, split, system : str, str, int, str
        The key of the record.
    config : str
        The system's version and a digest of its settings.
    task : str
        "binary", "multiclass" or "regression".
    n_train, n_test, n_features, threads : int
        Sizes, and the threads of every system.
    score : float
        Accuracy or R2 of the test part, in percent.
    fit_seconds, search_seconds, predict_seconds : float
        Time of the final fit, of the search before it, and of the prediction of the test part.
    chosen : str
        JSON of the hyperparameters that the search selected.
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
        return self.table, self.dataset, self.split, self.system

    @property
    def kind(self) -> tuple[str, ...]:
        return self.system, self.table, self.dataset

    @property
    def unit_seconds(self) -> float:
        return self.fit_seconds + self.search_seconds + self.predict_seconds

    @property
    def configuration(self) -> tuple[str, int]:
        return self.config, self.threads


COLUMNS = columns(AccuracyRecord)
