"""Tasks and records of the targets."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records import Record, columns
from ..runner import Task

Key = tuple[str, str, int, float]


@dataclass(frozen=True)
class TargetRecord(Record):
    """One measured value.

    Attributes
    ----------
    dataset, system : str
        Data set and system.
    split : int
        Random split, or draw of the data, from 1.
    x : float
        Position on the horizontal axis: rounds, landmarks, features, rows or a share, depending on the target.
    config : str
        Version of the package and a digest of the settings; records of other configurations are ignored.
    score : float
        Accuracy or error of the test part in percent, or seconds, depending on the target.
    seconds : float
        Time of the measurement, including the search for hyperparameters.
    n_train, n_test, n_features : int
        Sizes.
    chosen : str
        JSON of the hyperparameters that the search selected.
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
        return self.dataset, self.system, self.split, self.x

    @property
    def kind(self) -> tuple[str, ...]:
        return self.system, self.dataset

    @property
    def unit_seconds(self) -> float:
        return self.seconds / (self.n_train + self.n_test)

    @property
    def configuration(self) -> str:
        return self.config


COLUMNS = columns(TargetRecord)


@dataclass(frozen=True)
class TargetTask(Task[TargetRecord]):
    """One system of a target on one split of one data set: a record for each of its `points`.

    `gamma` is the kernel parameter that an earlier record selected, if any.
    """

    points: tuple[float, ...]
    target: Any = None
    quick: bool = False
    data_dir: Path | None = None
    gamma: float = 0.0

    @property
    def keys(self) -> list[Key]:
        return [(self.dataset, self.system, self.split, x) for x in self.points]

    def measure(self) -> list[TargetRecord]:
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            # The papers' solvers stop after a fixed number of iterations.
            warnings.simplefilter("ignore", ConvergenceWarning)
            records: list[TargetRecord] = self.target.measure(self)
            return records
