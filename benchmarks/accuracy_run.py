"""Fitting and scoring: every system meets the same splits, on the same number of threads, in turns."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from rffboost_ext.experiments.reproduce.runner import duration, progress, results

from .accuracy_data import SOURCES, problem
from .accuracy_rows import Key, Row
from .accuracy_systems import SCORING, SYSTEMS
from .accuracy_tables import TABLES, Table

Array = np.ndarray
FOLDS = 5
METRICS = {"binary": accuracy_score, "multiclass": accuracy_score, "regression": r2_score}


@dataclass(frozen=True)
class Task:
    """One system on one split of one data set, for one table: what makes one row."""

    table: str
    dataset: str
    split: int
    system: str
    config: str
    tune: bool
    threads: int
    data_dir: Path | None

    @property
    def key(self) -> Key:
        """The key of its row."""
        return self.table, self.dataset, self.split, self.system

    def __call__(self) -> Row | Failure:
        """Fit and measure; what a system raises is kept for the end of the run."""
        from threadpoolctl import threadpool_limits

        try:
            with threadpool_limits(self.threads):
                return self._measured()
        except Exception as error:
            return Failure(self, f"{type(error).__name__}: {error}")

    def _measured(self) -> Row:
        data = problem(self.dataset, self.data_dir)
        train, test = data.split(self.split)
        warm_up(self.system, data.task, self.threads)
        model, times, chosen = self._fitted(data.X[train], data.y[train], data.task)
        start = perf_counter()
        predicted = np.ravel(model.predict(data.X[test]))
        predict_seconds = perf_counter() - start
        score = 100.0 * float(METRICS[data.task](data.y[test], predicted))
        sizes = len(train), len(test), data.X.shape[1], self.threads
        return Row(*self.key, self.config, data.task, *sizes, score, *times, predict_seconds, chosen)

    def _fitted(self, X: Array, y: Array, task: str) -> tuple[Any, tuple[float, float], str]:
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


@dataclass(frozen=True)
class Failure:
    """A task that raised, and what."""

    task: Task
    message: str

    def __str__(self) -> str:
        task = self.task
        return f"{task.table}: {task.dataset}, split {task.split}, {task.system}: {self.message}"


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

    def tasks(self, table: Table) -> list[Task]:
        """All rows of a table that can be had: by data set, split and system."""
        splits = self.splits or (1 if self.quick else table.splits)
        return [
            self._task(table, name, split, system)
            for name in self.of_table(table)
            if not SOURCES[name].missing(self.data_dir)
            for split in range(1, splits + 1)
            for system in self._able(table, SOURCES[name].task)
        ]

    def _task(self, table: Table, dataset: str, split: int, system: str) -> Task:
        made_with = config(system, SOURCES[dataset].task, self.threads, table.tune)
        conditions = table.tune, self.threads, self.data_dir
        return Task(table.name, dataset, split, system, made_with, *conditions)

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


def pending(tasks: Sequence[Task], rows: Mapping[Key, Row]) -> list[Task]:
    """The tasks that have no row of their configuration and number of threads yet."""
    conditions = {key: (row.config, row.threads) for key, row in rows.items()}
    return [task for task in tasks if conditions.get(task.key) != (task.config, task.threads)]


def current(rows: Iterable[Row], threads: int) -> list[Row]:
    """The rows that were made with the systems as they are, on so many threads."""
    return [row for row in rows if row.threads == threads and is_current(row)]


def is_current(row: Row) -> bool:
    """Whether a row is of a table and a system that there are, as they are."""
    table, system = TABLES.get(row.table), SYSTEMS.get(row.system)
    if table is None or system is None or system.missing():
        return False
    return row.config == config(row.system, row.task, row.threads, table.tune)


class Pace:
    """How long what is left will take, by what rows of the same kind have taken so far.

    Parameters
    ----------
    rows : iterable of Row
        Rows of earlier runs.
    """

    def __init__(self, rows: Iterable[Row] = ()) -> None:
        self._seen: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for row in rows:
            self.add(row)

    def add(self, row: Row) -> None:
        """Learn from a row."""
        seconds = row.fit_seconds + row.search_seconds + row.predict_seconds
        for kind in kinds(row):
            self._seen[kind].append(seconds)

    def left(self, tasks: Iterable[Task], jobs: int = 1) -> float:
        """Seconds for the tasks; 0 while nothing is known."""
        return sum(self._expected(task) for task in tasks) / jobs

    def _expected(self, task: Task) -> float:
        return next((mean(self._seen[kind]) for kind in kinds(task) if kind in self._seen), 0.0)


def kinds(of: Row | Task) -> list[tuple[str, ...]]:
    """What a row or a task is like, the closest first."""
    return [(of.table, of.dataset, of.system), (of.table, of.system), (of.system,), ()]


def run_all(tasks: Sequence[Task], jobs: int, pace: Pace, keep: Callable[[Row], None]) -> list[Failure]:
    """Run the tasks under a progress bar, keep each row as it arrives, and return what failed."""
    left = dict.fromkeys(tasks)
    failures: list[Failure] = []
    with progress() as bar:
        shown = bar.add_task("", total=len(tasks))
        by_key = {task.key: task for task in tasks}
        for result in results(tasks, jobs):
            if isinstance(result, Row):
                keep(result)
                pace.add(result)
                del left[by_key[result.key]]
            else:
                failures.append(result)
                del left[result.task]
            bar.print(line(result), highlight=False)
            bar.update(shown, advance=1, description=f"about {duration(pace.left(left, jobs))} left")
    return failures


def line(result: Row | Failure) -> str:
    """A result as a line of the log."""
    if isinstance(result, Failure):
        return f"failed: {result}"
    where = f"{result.table:12}{result.dataset:20}split {result.split:<4}{result.system:14}"
    seconds = result.fit_seconds + result.search_seconds
    return f"{where}{result.score:7.2f} % in {seconds:.3g} s"
