"""Studies: systems on splits of data sets, measured in parallel; a run resumes where an earlier one ended."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

from rffboost_ext.experiments.records import Key, Record
from rffboost_ext.utils.parallel import run_in_processes

from .records import Records

Measures = Callable[[Any, Any, "Task"], list[dict[str, Any]]]
Started = Callable[["Sequence[Task]"], object]
Finished = Callable[["Task", "list[Record] | Failure"], object]
Order = Callable[["Study", Mapping[Key, Record]], "list[Task]"]


@dataclass(frozen=True)
class Task:
    """One system on one split, from 1, of one data set: the unit of parallel work.

    It yields a record for each of its `points`, the x of the records. `choice` is what an earlier record selected.
    """

    dataset: str
    system: str
    split: int
    points: tuple[float, ...] = (0.0,)
    choice: Any = None

    @property
    def keys(self) -> list[Key]:
        """The keys of its records."""
        return [(self.dataset, self.system, self.split, float(x)) for x in self.points]

    def __str__(self) -> str:
        return f"{self.dataset}, {self.system}, split {self.split}"


@dataclass(frozen=True)
class Failure:
    """A task that raised an exception, and its message."""

    task: Task
    message: str

    def __str__(self) -> str:
        return f"{self.task}: {self.message}"


def every_task(study: Study, records: Mapping[Key, Record]) -> list[Task]:
    """All tasks, by data set, split and system."""
    return [
        Task(dataset, system, split, study.points)
        for dataset in study.data
        for split in range(1, study.n_splits + 1)
        for system in study.systems
        if study.applies(dataset, system)
    ]


@dataclass(frozen=True)
class Study:
    """Measures of systems on splits of data sets.

    Attributes
    ----------
    data : mapping of str to callable
        The function that loads each data set; worker processes call it for each task.
    systems : mapping of str to object
        The systems, as `measures` takes them.
    splits : callable
        ``splits(data, index)`` are the parts of split `index`, from 1.
    measures : callable
        ``measures(system, parts, task)`` are the values of the records, a mapping for each of the task's points.
    columns : tuple of str
        The names of the measures.
    n_splits : int, default=1
        Splits of each data set.
    points : tuple of float, default=(0.0,)
        Positions along the axis of the study.
    config : callable, optional
        ``config(system, dataset)`` is the configuration that records must have; the version by default.
    order : callable, default=every_task
        ``order(study, records)`` are the tasks that are possible with the records so far, those that are done
        included.
    applies : callable, optional
        ``applies(dataset, system)`` is whether a system can be measured on a data set; True by default.
    """

    data: Mapping[str, Callable[[], Any]]
    systems: Mapping[str, Any]
    splits: Callable[[Any, int], Any]
    measures: Measures
    columns: tuple[str, ...]
    n_splits: int = 1
    points: tuple[float, ...] = (0.0,)
    config: Callable[[str, str], str] = lambda system, dataset: settings_digest()
    order: Order = every_task
    applies: Callable[[str, str], bool] = lambda dataset, system: True

    def pending(self, records: Mapping[Key, Record], failures: Sequence[Failure] = ()) -> list[Task]:
        """The tasks that have not failed and lack a record of their configuration."""
        failed = {failure.task for failure in failures}
        return [
            task
            for task in self.order(self, records)
            if task not in failed and not all(self.is_current(records.get(key)) for key in task.keys)
        ]

    def is_current(self, record: Record | None) -> bool:
        """Whether there is a record, of the present configuration."""
        return record is not None and record.config == self.config(record.system, record.dataset)

    def run(
        self,
        records: dict[Key, Record],
        jobs: int = 1,
        started: Started = lambda tasks: None,
        finished: Finished = lambda task, result: None,
    ) -> list[Failure]:
        """Measure what is missing, and what that makes possible.

        Parameters
        ----------
        records : dict
            The records so far, by key; new ones are added.
        jobs : int, default=1
            Processes, one thread each; -1 for one per core.
        started, finished : callable, optional
            Called with new tasks before they start, and with each task and its records or failure as they arrive.

        Returns
        -------
        list of Failure
            Failed tasks, which are not repeated.
        """
        failures: list[Failure] = []
        while tasks := self.pending(records, failures):
            started(tasks)
            for task, result in run_in_processes([self._call(task) for task in tasks], jobs):
                if isinstance(result, Failure):
                    failures.append(result)
                else:
                    records |= {record.key: record for record in result}
                finished(task, result)
        return failures

    def resume(
        self, file: Records, jobs: int = 1, further: Mapping[Key, Record] | None = None
    ) -> tuple[dict[Key, Record], list[Failure]]:
        """Measure what a file, and further records, lack; append it as it arrives, under a progress bar.

        An incomplete last line of the file, which an interrupted run leaves, is removed. Returns all records by
        key, and the failures.
        """
        file.repair()
        records = dict(further or {}) | file.read()
        with progress_bar() as (started, show):

            def finished(task: Task, result: list[Record] | Failure) -> None:
                if not isinstance(result, Failure):
                    file.append(*result)
                show(task, result)

            failures = self.run(records, jobs, started, finished)
        return records, failures

    def _call(self, task: Task) -> Callable[[], tuple[Task, list[Record] | Failure]]:
        parts = self.data[task.dataset], self.systems[task.system], self.splits, self.measures
        return partial(attempt, task, self.config(task.system, task.dataset), *parts)


def attempt(
    task: Task,
    config: str,
    load: Callable[[], Any],
    system: Any,
    splits: Callable[[Any, int], Any],
    measures: Measures,
) -> tuple[Task, list[Record] | Failure]:
    """A task, and its records or the failure, on one thread."""
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):
            values = measures(system, splits(load(), task.split), task)
    except Exception as error:
        return task, Failure(task, f"{type(error).__name__}: {error}")
    return task, [Record(*key, config, measured) for key, measured in zip(task.keys, values, strict=True)]


def settings_digest(*settings: object, package: str = "rffboost-ext") -> str:
    """The version of a package, and a digest of the `repr` of settings."""
    made = f"{package} {version(package)}"
    return f"{made} {zlib.crc32(repr(settings).encode()):08x}" if settings else made


def failure_lines(failures: Iterable[Failure]) -> list[str]:
    """One line for each distinct error of a data set."""
    groups: dict[tuple[str, str], list[Failure]] = defaultdict(list)
    for failure in failures:
        groups[failure.task.dataset, failure.message].append(failure)
    return [str(same[0]) + f" ({len(same) - 1} more like it)" * (len(same) > 1) for same in groups.values()]


@contextmanager
def progress_bar() -> Iterator[tuple[Started, Finished]]:
    """The callbacks of :meth:`Study.run` for a bar on standard error, above which each result is printed."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True, soft_wrap=True)) as display:
        bar = display.add_task("", total=0)

        def started(tasks: Sequence[Task]) -> None:
            display.update(bar, total=(display.tasks[0].total or 0) + len(tasks))

        def finished(task: Task, result: list[Record] | Failure) -> None:
            display.advance(bar)
            if isinstance(result, Failure):
                display.print(f"failed: {result}", highlight=False)
            else:
                name, value = next(iter(result[-1].values.items()))
                display.print(f"{task!s:48}{name} {value:.4g}", highlight=False)

        yield started, finished
