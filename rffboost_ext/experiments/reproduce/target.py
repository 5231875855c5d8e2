"""A target: a table or figure of a paper, what must be measured for it, and how it is shown."""

from __future__ import annotations

import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from ..baselines.hyperparameter_grids import Grid
from .data import SOURCES, fingerprint, load
from .grid_search import Parts, thinned, tuned
from .grid_search import Path as SystemPath
from .rows import Key, Row
from .runner import Task
from .splits import Splitter

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DATA = " data "
"""What is between the digests of settings and of a file in a configuration."""


@dataclass(frozen=True)
class Plan:
    """How much of a target is measured.

    Attributes
    ----------
    datasets, systems : tuple of str
        Data sets and systems to measure.
    splits : int
        Random splits, or draws of the data.
    points : tuple of float
        Positions along the horizontal axis.
    size : int
        Rounds, landmarks or what the target counts in.
    quick : bool
        Whether it is a sample.
    data_dir : Path, optional
        Folder of data.
    time_limit : float
        Seconds after which a system is stopped, where times are measured.
    """

    datasets: tuple[str, ...]
    systems: tuple[str, ...]
    splits: int
    points: tuple[float, ...] = ()
    size: int = 100
    quick: bool = False
    data_dir: Path | None = None
    time_limit: float = 100.0


class Target(ABC):
    """One table or figure."""

    name: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    """What is done, and what the values are, as Markdown."""
    full: ClassVar[Plan]
    sample: ClassVar[Plan]
    """What a quick run does."""
    slow: ClassVar[Mapping[str, str]] = {}
    """The inherently slow systems, and why."""
    serial: ClassVar[bool] = False
    """Whether it measures times, which other processes would distort."""
    borrows: ClassVar[tuple[str, ...]] = ()
    """Other targets whose rows of the :attr:`borrowed` systems count here, too."""
    borrowed: ClassVar[tuple[str, ...]] = ()
    downloads: ClassVar[bool] = True
    """Whether its data sets come from files or from OpenML, and are not generated."""

    def plan(self, quick: bool) -> Plan:
        """What is done."""
        return replace(self.sample, quick=True) if quick else self.full

    def tasks(self, plan: Plan, rows: Mapping[Key, Row]) -> list[Task]:
        """All tasks that can be done, given the rows so far, whether or not they are done already."""
        return [
            self.task(plan, dataset, system, split, self.points(plan, system))
            for dataset in plan.datasets
            for split in range(1, plan.splits + 1)
            for system in plan.systems
        ]

    def task(
        self, plan: Plan, dataset: str, system: str, split: int, points: Sequence[float], given: float = 0.0
    ) -> Task:
        """One task."""
        config = self.config(plan, system, dataset)
        cost = float(SOURCES[dataset].n) if dataset in SOURCES else float(points[0])
        where = plan.data_dir
        return Task(self, plan.quick, dataset, system, split, tuple(points), config, cost, where, given)

    def points(self, plan: Plan, system: str) -> tuple[float, ...]:
        """The x of a system."""
        return plan.points

    def config(self, plan: Plan, system: str, dataset: str = "") -> str:
        """The configuration that rows must have: version, and digests of the settings and of a data file."""
        digest = zlib.crc32(self.settings(plan, system).encode())
        made = f"rffboost-ext {version('rffboost-ext')} {digest:08x}"
        content = fingerprint(dataset, plan.data_dir)
        return f"{made}{DATA}{content}" if content else made

    @abstractmethod
    def settings(self, plan: Plan, system: str) -> str:
        """All that the values depend on, besides data, system, split and x."""

    @abstractmethod
    def measure(self, task: Task) -> list[Row]:
        """Measure a task; return a row for each of its points."""

    @abstractmethod
    def lines(self, frame: Any, plan: Plan) -> Any:
        """What the page shows as a data frame, for a file."""

    @abstractmethod
    def tables(self, frame: Any, plan: Plan) -> str:
        """What the page shows, as Markdown."""

    @abstractmethod
    def draw(self, frame: Any, plan: Plan) -> Figure:
        """The figure, of all rows so far."""

    def lacking(self, frame: Any, plan: Plan) -> str:
        """What is still to be measured before there is anything to show; empty if there is something."""
        return ""


class TunedTarget(Target):
    """A target whose systems are tuned on each split."""

    splitter: ClassVar[Splitter]
    error: ClassVar[bool] = False
    """Whether scores are test errors, not accuracies."""

    @abstractmethod
    def path(self, plan: Plan, system: str, given: float) -> SystemPath:
        """A system as a function of its size."""

    def grid(self, plan: Plan, path: SystemPath, n_features: int) -> Grid:
        """What is searched."""
        grid = path.grid(n_features)
        return thinned(grid) if plan.quick else grid

    def size(self, plan: Plan, system: str, x: float) -> float:
        """The size of a system at x."""
        return x

    def largest(self, plan: Plan, system: str) -> float:
        """The largest size of a system in the target."""
        return max(self.size(plan, system, x) for x in plan.points)

    def settings(self, plan: Plan, system: str) -> str:
        path = self.path(plan, system, 1.0)
        params = path.make(2).get_params()
        made = [(name, by_name(params[name])) for name in sorted(params)]
        return repr((made, self.grid(plan, path, 1), self.splitter))

    def parts(self, task: Task) -> Parts:
        """The data of a task."""
        return split(self.splitter, task.dataset, task.data_dir, task.split)

    def measure(self, task: Task) -> list[Row]:
        plan, parts = self.plan(task.quick), self.parts(task)
        path = self.path(plan, task.system, task.given)
        start = perf_counter()
        sizes = [self.size(plan, task.system, x) for x in task.points]
        accuracy, chosen = tuned(path, parts, sizes, self.grid(plan, path, parts.sizes[2]))
        seconds = (perf_counter() - start) / len(task.points)
        score = 100.0 * (1.0 - accuracy if self.error else accuracy)
        return [
            Row(*key, task.config, float(value), seconds, *parts.sizes, json.dumps(choice))
            for key, value, choice in zip(task.keys, score, chosen, strict=True)
        ]


def by_name(value: Any) -> Any:
    """A parameter whose ``repr`` is the same in every process: of functions in a tuple, their names."""
    if not isinstance(value, tuple):
        return value
    return tuple(getattr(item, "__qualname__", item) if callable(item) else item for item in value)


@lru_cache(maxsize=2)
def split(splitter: Splitter, dataset: str, data_dir: Path | None, index: int) -> Parts:
    """The parts of a split, cached while all systems use it."""
    return splitter.parts(load(dataset, data_dir), index)
