"""Fitting and scoring: every system meets the same splits, on the same number of threads, in turns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from rffboost_ext.experiments.runner import Task

from .accuracy_data import SOURCES, load_dataset
from .accuracy_records import AccuracyRecord, Key
from .accuracy_systems import SCORING, SYSTEMS
from .accuracy_tables import TABLES, Table

Array = np.ndarray
FOLDS = 5
METRICS = {"binary": accuracy_score, "multiclass": accuracy_score, "regression": r2_score}


@dataclass(frozen=True)
class AccuracyTask(Task[AccuracyRecord]):
    """One system on one split of one data set, for one table."""

    table: str
    tune: bool
    data_dir: Path | None

    @property
    def keys(self) -> list[Key]:
        return [(self.table, self.dataset, self.split, self.system)]

    @property
    def kind(self) -> tuple[str, ...]:
        return self.system, self.table, self.dataset

    @property
    def configuration(self) -> tuple[str, int]:
        return self.config, self.threads

    def __str__(self) -> str:
        return f"{self.table}: {super().__str__()}"

    def measure(self) -> list[AccuracyRecord]:
        data = load_dataset(self.dataset, self.data_dir)
        train, test = data.split(self.split)
        warm_up(self.system, data.task, self.threads)
        model, times, chosen = self._fit(data.X[train], data.y[train], data.task)
        start = perf_counter()
        predicted = np.ravel(model.predict(data.X[test]))
        predict_seconds = perf_counter() - start
        score = 100.0 * float(METRICS[data.task](data.y[test], predicted))
        sizes = len(train), len(test), data.X.shape[1], self.threads
        record = AccuracyRecord(
            *self.keys[0], self.config, data.task, *sizes, score, *times, predict_seconds, chosen
        )
        return [record]

    def _fit(self, X: Array, y: Array, task: str) -> tuple[Any, tuple[float, float], str]:
        """The model, the seconds of its fit and of the search before it, and what that chose."""
        from sklearn.model_selection import GridSearchCV

        system = SYSTEMS[self.system]
        model = system.build(task, self.threads)
        start = perf_counter()
        if not self.tune:
            model.fit(X, y)
            return model, (perf_counter() - start, 0.0), ""
        grid = system.grid(X)
        search = GridSearchCV(model, grid, scoring=SCORING[task], cv=FOLDS, error_score="raise").fit(X, y)
        fit_seconds = float(search.refit_time_)
        searched = perf_counter() - start - fit_seconds
        return search.best_estimator_, (fit_seconds, searched), json.dumps(search.best_params_)


@cache
def warm_up(system: str, task: str, threads: int) -> None:
    """Pay for imports and compilation once per process, so that no measured fit does."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    targets = {"binary": X[:, 0] > 0.0, "multiclass": np.digitize(X[:, 0], [-0.5, 0.5]), "regression": X[:, 0]}
    y = targets[task] if task == "regression" else targets[task].astype(int)
    SYSTEMS[system].build(task, threads).fit(X, y).predict(X)


@dataclass(frozen=True)
class Selection:
    """What of the tables is wanted.

    Attributes
    ----------
    systems, datasets : tuple of str, optional
        All by default.
    splits : int, optional
        Each table's own number by default.
    quick : bool
        Whether to take each table's sample only.
    threads : int
        Threads of every system.
    data_dir : Path, optional
        Folder of CSV files.
    """

    systems: tuple[str, ...] | None = None
    datasets: tuple[str, ...] | None = None
    splits: int | None = None
    quick: bool = False
    threads: int = 1
    data_dir: Path | None = None

    def of_table(self, table: Table) -> tuple[str, ...]:
        """The data sets of a table, whether or not they can be had."""
        if self.datasets is not None:
            return tuple(name for name in (*table.datasets, *table.optional) if name in self.datasets)
        return table.quick if self.quick else table.datasets

    def tasks(self, table: Table) -> list[AccuracyTask]:
        """All rows of a table that can be had: by data set, split and system."""
        splits = self.splits or (1 if self.quick else table.splits)
        return [
            self._task(table, name, split, system)
            for name in self.of_table(table)
            if not SOURCES[name].missing(self.data_dir)
            for split in range(1, splits + 1)
            for system in self._able(table, SOURCES[name].task)
        ]

    def _task(self, table: Table, dataset: str, split: int, system: str) -> AccuracyTask:
        condition = config(system, SOURCES[dataset].task, self.threads, table.tune)
        return AccuracyTask(
            dataset,
            system,
            split,
            table.name,
            table.tune,
            self.data_dir,
            config=condition,
            threads=self.threads,
        )

    def _able(self, table: Table, task: str) -> list[str]:
        systems = (SYSTEMS[name] for name in self._wanted(table))
        return [system.name for system in systems if task in system.tasks and not system.missing()]

    def _wanted(self, table: Table) -> list[str]:
        return [name for name in table.systems if self.systems is None or name in self.systems]

    def missing(self, tables: Iterable[Table]) -> dict[str, str]:
        """The data sets that cannot be had and the systems that cannot be made, and why."""
        tables = tuple(tables)
        names = dict.fromkeys(name for table in tables for name in self.of_table(table))
        absent = {name: why for name in names if (why := SOURCES[name].missing(self.data_dir))}
        wanted = dict.fromkeys(name for table in tables for name in self._wanted(table))
        return absent | {name: why for name in wanted if (why := SYSTEMS[name].missing())}


@cache
def config(system: str, task: str, threads: int, tune: bool) -> str:
    """What rows of a system must have been made with; see :meth:`System.config`."""
    return SYSTEMS[system].config(task, threads, tune)


def current(rows: Iterable[AccuracyRecord], threads: int) -> list[AccuracyRecord]:
    """The rows that were made with the systems as they are, on so many threads."""
    return [row for row in rows if row.threads == threads and is_current(row)]


def is_current(row: AccuracyRecord) -> bool:
    """Whether a row is of a table and a system that there are, as they are."""
    table, system = TABLES.get(row.table), SYSTEMS.get(row.system)
    if table is None or system is None or system.missing():
        return False
    return row.config == config(row.system, row.task, row.threads, table.tune)
