"""Run what is missing, with a progress bar and an estimate of the time left, saving rows at once."""

from __future__ import annotations

import math
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any, TypeVar

from .rows import Key, Row

if TYPE_CHECKING:
    from rich.progress import Progress

T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """One system on one split of one data set: the unit of parallel work.

    Attributes
    ----------
    target : Target
        The target that it is for.
    quick : bool
        Whether that is a sample.
    dataset, system : str
        Data set and system to measure.
    split : int
        Random split, from 1.
    points : tuple of float
        The x of the rows that it yields.
    config : str
        The configuration recorded in its rows.
    cost : float
        Roughly proportional to its time for one system.
    data_dir : Path, optional
        Folder of data.
    given : float
        A value chosen by earlier rows, if any.
    """

    target: Any
    quick: bool
    dataset: str
    system: str
    split: int
    points: tuple[float, ...]
    config: str
    cost: float = 1.0
    data_dir: Path | None = None
    given: float = 0.0

    @property
    def keys(self) -> list[Key]:
        """The keys of its rows."""
        return [(self.dataset, self.system, self.split, x) for x in self.points]

    def __call__(self) -> list[Row] | Failure:
        """Measure, on one thread; an exception becomes a Failure, reported at the end of the run."""
        from sklearn.exceptions import ConvergenceWarning
        from threadpoolctl import threadpool_limits

        try:
            with threadpool_limits(1), warnings.catch_warnings():
                # The papers' solvers stop after a fixed number of iterations.
                warnings.simplefilter("ignore", ConvergenceWarning)
                return self.target.measure(self)
        except Exception as error:
            return Failure(self, f"{type(error).__name__}: {error}")


@dataclass(frozen=True)
class Failure:
    """A task that raised, and its error."""

    task: Task
    message: str

    def __str__(self) -> str:
        task = self.task
        return f"{task.dataset}, {task.system}, split {task.split}: {self.message}"


def told(failures: Iterable[Failure]) -> list[str]:
    """What failed, a line for each distinct error of a data set."""
    found: dict[tuple[str, str], list[Failure]] = {}
    for failure in failures:
        found.setdefault((failure.task.dataset, failure.message), []).append(failure)
    return [
        str(same[0]) + (f" ({len(same) - 1} more like it)" if len(same) > 1 else "") for same in found.values()
    ]


def pending(tasks: Iterable[Task], rows: Mapping[Key, Row]) -> list[Task]:
    """The tasks that lack a row of their configuration."""
    configs = {key: row.config for key, row in rows.items()}
    return [task for task in tasks if any(configs.get(key) != task.config for key in task.keys)]


class RemainingTime:
    """Estimates the remaining time from the times of similar rows so far.

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
        self._seen[row.dataset, row.system].append(row.seconds)
        for kind in ((row.system,), ()):
            self._seen[kind].append(row.seconds / row.n_train)

    def left(self, tasks: Iterable[Task], jobs: int = 1) -> float:
        """Seconds for the tasks; 0 while nothing is known."""
        return sum(self._expected(task) for task in tasks) / jobs

    def _expected(self, task: Task) -> float:
        exact = self._seen.get((task.dataset, task.system))
        if exact:
            return len(task.points) * mean(exact)
        alike = self._seen.get((task.system,)) or self._seen.get(()) or [0.0]
        return len(task.points) * task.cost * mean(alike)


def results(tasks: Sequence[Callable[[], T]], jobs: int) -> Iterator[T]:
    """The results of the tasks, as they arrive."""
    from joblib import Parallel, delayed

    found: Iterator[T] = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(task)() for task in tasks)
    return found


def run_all(
    plan: Callable[[Mapping[Key, Row]], list[Task]],
    rows: dict[Key, Row],
    jobs: int,
    keep: Callable[[Sequence[Row]], None],
) -> list[Failure]:
    """Run missing tasks, and those that they make possible, under a progress bar until none is left.

    Parameters
    ----------
    plan : callable
        The tasks that can be done, given the rows so far.
    rows : dict
        The rows so far; new ones are added.
    jobs : int
        Processes.
    keep : callable
        Called with the rows of each task as they arrive.

    Returns
    -------
    list of Failure
        Failed tasks, which are not retried.
    """
    pace, failures = RemainingTime(rows.values()), list[Failure]()
    with progress() as bar:
        shown = bar.add_task("", total=0)
        while tasks := untried(pending(plan(rows), rows), failures):
            left = dict.fromkeys(tasks)
            bar.update(shown, total=bar.tasks[shown].completed + len(tasks))
            for result in results(tasks, jobs):
                del left[done(result, left)]
                if isinstance(result, Failure):
                    failures.append(result)
                else:
                    keep(result)
                    rows |= {row.key: row for row in result}
                    for row in result:
                        pace.add(row)
                bar.print(line(result), highlight=False)
                bar.update(shown, advance=1, description=f"about {duration(pace.left(left, jobs))} left")
    return failures


def progress() -> Progress:
    """A bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TextColumn("{task.description}"))
    return Progress(*columns, console=Console(stderr=True, soft_wrap=True))


def untried(tasks: Sequence[Task], failures: Sequence[Failure]) -> list[Task]:
    """The tasks that have not failed."""
    failed = {failure.task for failure in failures}
    return [task for task in tasks if task not in failed]


def done(result: list[Row] | Failure, tasks: Iterable[Task]) -> Task:
    """The task that a result belongs to."""
    if isinstance(result, Failure):
        return result.task
    return next(task for task in tasks if task.keys[0] == result[0].key)


def line(result: list[Row] | Failure) -> str:
    """A result as a line of the log."""
    if isinstance(result, Failure):
        return f"failed: {result}"
    first, seconds = result[0], sum(row.seconds for row in result)
    scores = ", ".join(f"{row.score:.4g}" for row in result[:: max(1, len(result) // 4)])
    return f"{first.dataset:14}{first.system:16}split {first.split:<4}{scores:40} in {seconds:.3g} s"


def duration(seconds: float) -> str:
    """Seconds as hours and minutes."""
    minutes = math.ceil(seconds / 60.0)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
