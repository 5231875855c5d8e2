"""Parallel runs of tasks with a progress bar: records are saved as they arrive, and failures are collected."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from statistics import mean
from time import perf_counter
from typing import Any, Generic, TypeVar

from .records import R, Record, Records

T = TypeVar("T")


@dataclass(frozen=True)
class Task(ABC, Generic[R]):
    """One system on one split, from 1, of one data set: the unit of parallel work.

    Its records must have the configuration `config`. `cost` is roughly proportional to its time for one system.
    """

    dataset: str
    system: str
    split: int
    config: str = field(default="", kw_only=True)
    threads: int = field(default=1, kw_only=True)
    cost: float = field(default=1.0, kw_only=True)

    @property
    def keys(self) -> list[Any]:
        """The keys of its records."""
        return [(self.dataset, self.system, self.split)]

    @property
    def kind(self) -> tuple[str, ...]:
        """What its time depends on, from the general to the specific."""
        return self.system, self.dataset

    @property
    def configuration(self) -> Hashable:
        """The settings that its records must have."""
        return self.config

    @abstractmethod
    def measure(self) -> list[R]:
        """The records, one for each key."""

    def __call__(self) -> list[R]:
        """Measure with limited threads; a note of an exception names the task."""
        from threadpoolctl import threadpool_limits

        try:
            with threadpool_limits(self.threads):
                return self.measure()
        except Exception as error:
            error.add_note(f"in {self}")
            raise

    def __str__(self) -> str:
        return f"{self.dataset}, {self.system}, split {self.split}"


@dataclass(frozen=True)
class Failure:
    """A task that raised an exception, and its message."""

    task: Task[Any]
    message: str

    def __str__(self) -> str:
        return f"{self.task}: {self.message}"


def failure_lines(failures: Iterable[Failure]) -> list[str]:
    """One line for each distinct error of a data set."""
    groups: dict[tuple[str, str], list[Failure]] = defaultdict(list)
    for failure in failures:
        groups[failure.task.dataset, failure.message].append(failure)
    return [str(same[0]) + f" ({len(same) - 1} more like it)" * (len(same) > 1) for same in groups.values()]


class RemainingTime:
    """Estimate of the remaining time: the mean time of the most similar records so far.

    Parameters
    ----------
    records : iterable of Record
        Records of earlier runs.
    """

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._seconds: dict[tuple[str, ...], list[float]] = defaultdict(list)
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Take the time of a record into account."""
        for length in range(len(record.kind) + 1):
            self._seconds[record.kind[:length]].append(record.unit_seconds)

    def left(self, tasks: Iterable[Task[Any]], jobs: int = 1) -> float:
        """Seconds for the tasks; 0 without records."""
        return sum(self._expected(task) for task in tasks) / jobs

    def _expected(self, task: Task[Any]) -> float:
        kinds = (task.kind[:length] for length in range(len(task.kind), -1, -1))
        seconds = next((self._seconds[kind] for kind in kinds if kind in self._seconds), [0.0])
        return len(task.keys) * task.cost * mean(seconds)


def parallel(calls: Sequence[Callable[[], T]], jobs: int, ordered: bool = False) -> Iterator[T]:
    """The results of calls in `jobs` processes, as they arrive or in order."""
    from joblib import Parallel, delayed

    mode = "generator" if ordered else "generator_unordered"
    results: Iterator[T] = Parallel(n_jobs=jobs, return_as=mode)(delayed(call)() for call in calls)
    return results


def attempt(index: int, task: Task[R]) -> tuple[int, list[R] | str, float]:
    """The index, the records or the error message of a task, and the elapsed seconds."""
    start = perf_counter()
    try:
        result: list[R] | str = task()
    except Exception as error:
        result = f"{type(error).__name__}: {error}"
    return index, result, perf_counter() - start


def pending(tasks: Iterable[Task[R]], records: Mapping[Any, R], failures: Sequence[Failure] = ()) -> list[Task[R]]:
    """The tasks that have not failed and lack a record of their configuration."""
    failed = {failure.task.keys[0] for failure in failures}
    done = {key: record.configuration for key, record in records.items()}
    return [
        task
        for task in tasks
        if task.keys[0] not in failed and any(done.get(key) != task.configuration for key in task.keys)
    ]


def run_all(
    plan: Callable[[Mapping[Any, R]], Sequence[Task[R]]], records: dict[Any, R], file: Records[R], jobs: int
) -> list[Failure]:
    """Run the missing tasks, and those that their records make possible, under a progress bar.

    Parameters
    ----------
    plan : callable
        The tasks that are possible with the records so far.
    records : dict
        The records so far, by key; new ones are added.
    file : Records
        The file to which new records are appended as they arrive.
    jobs : int
        Processes.

    Returns
    -------
    list of Failure
        Failed tasks, which are not repeated.
    """
    failures: list[Failure] = []
    with progress_bar(jobs, records.values()) as bar:
        while tasks := pending(plan(records), records, failures):
            bar.add(tasks)
            for index, result, seconds in parallel([partial(attempt, *item) for item in enumerate(tasks)], jobs):
                task = tasks[index]
                if isinstance(result, str):
                    failures.append(Failure(task, result))
                    bar.finish(task.keys[0], (), f"failed: {failures[-1]}")
                else:
                    file.append(*result)
                    records |= {record.key: record for record in result}
                    bar.finish(task.keys[0], result, log_line(task, result, seconds))
    return failures


class RunProgress:
    """The tasks that are done, elapsed and remaining time on a rich display, for that many processes."""

    def __init__(self, display: Any, jobs: int, records: Iterable[Record] = ()) -> None:
        from joblib import effective_n_jobs

        self._display, self._jobs = display, effective_n_jobs(jobs)
        self._estimate, self._left = RemainingTime(records), dict[Any, Task[Any]]()
        self._bar = display.add_task("", total=0)

    def add(self, tasks: Iterable[Task[Any]]) -> None:
        """Add tasks."""
        self._left |= {task.keys[0]: task for task in tasks}
        self._display.update(self._bar, total=self._display.tasks[0].completed + len(self._left))

    def finish(self, key: Any, records: Iterable[Record], line: str = "") -> None:
        """Advance by the task with that first key, and print a line above the bar."""
        del self._left[key]
        for record in records:
            self._estimate.add(record)
        if line:
            self._display.print(line, highlight=False)
        left = duration(self._estimate.left(self._left.values(), self._jobs))
        self._display.update(self._bar, advance=1, description=f"about {left} left")


@contextmanager
def progress_bar(jobs: int, records: Iterable[Record] = ()) -> Iterator[RunProgress]:
    """A bar on standard error; `records` are those of earlier runs."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True, soft_wrap=True)) as display:
        yield RunProgress(display, jobs, records)


def log_line(task: Task[Any], records: Sequence[Any], seconds: float) -> str:
    """A finished task, up to five of its scores, and its time."""
    scores = ", ".join(f"{record.score:.4g}" for record in records[:: max(1, len(records) // 4)])
    return f"{task!s:44}{scores:40} in {seconds:.3g} s"


def duration(seconds: float) -> str:
    """Seconds as hours and minutes."""
    minutes = math.ceil(seconds / 60.0)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
