"""Targets: tables and figures of a paper, with the measurements that they need and their display."""

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
from .figures import draw_comparison, draw_curves, new_figure, set_log_scale
from .grid_search import DataSplit, SystemPath, reduced_grid, tune
from .markdown import averaging_line, comparison_table, curve_table
from .splits import Splitter
from .summary import PublishedComparison, along, complete_sets, curves, incomplete
from .systems import system_path
from .task import Key, TargetRecord, TargetTask

if TYPE_CHECKING:
    from matplotlib.figure import Figure


DATA = " data "
"""Separator of the digests of settings and of a file in a configuration."""


@dataclass(frozen=True)
class Plan:
    """How much of a target is measured.

    `splits` are random splits or draws of generated data, `points` positions
    along the horizontal axis, `size` the number of rounds or landmarks, `time_limit` seconds after which a system
    is stopped.
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
    """Protocol and meaning of the values, as Markdown."""
    full: ClassVar[Plan]
    sample: ClassVar[Plan]
    """The plan of a quick run."""
    slow: ClassVar[Mapping[str, str]] = {}
    """The slow systems and the reasons."""
    serial: ClassVar[bool] = False
    """Whether it measures times, so that it needs the machine for itself."""
    borrows: ClassVar[tuple[str, ...]] = ()
    """Other targets with which it shares the records of the :attr:`borrowed` systems."""
    borrowed: ClassVar[tuple[str, ...]] = ()
    downloads: ClassVar[bool] = True
    """Whether its data sets come from files or from OpenML instead of a generator."""

    def plan(self, quick: bool) -> Plan:
        """The full or the quick plan."""
        return replace(self.sample, quick=True) if quick else self.full

    def tasks(self, plan: Plan, rows: Mapping[Key, TargetRecord]) -> list[TargetTask]:
        """All tasks that are possible with the records so far, including those that are done."""
        return [
            self.task(plan, dataset, system, split, self.points(plan, system))
            for dataset in plan.datasets
            for split in range(1, plan.splits + 1)
            for system in plan.systems
        ]

    def task(
        self, plan: Plan, dataset: str, system: str, split: int, points: Sequence[float], gamma: float = 0.0
    ) -> TargetTask:
        """One task."""
        config = self.config(plan, system, dataset)
        cost = float(SOURCES[dataset].n) if dataset in SOURCES else float(points[0])
        return TargetTask(
            dataset, system, split, tuple(points), self, plan.quick, plan.data_dir, gamma, config=config, cost=cost
        )

    def points(self, plan: Plan, system: str) -> tuple[float, ...]:
        """The x of a system."""
        return plan.points

    def config(self, plan: Plan, system: str, dataset: str = "") -> str:
        """The configuration that records must have: version and digests of the settings and of the data file."""
        digest = zlib.crc32(self.settings(plan, system).encode())
        made = f"rffboost-ext {version('rffboost-ext')} {digest:08x}"
        content = fingerprint(dataset, plan.data_dir)
        return f"{made}{DATA}{content}" if content else made

    @abstractmethod
    def settings(self, plan: Plan, system: str) -> str:
        """The settings that the values depend on, besides data, system, split and x."""

    @abstractmethod
    def measure(self, task: TargetTask) -> list[TargetRecord]:
        """Measure a task; the records, one for each of its points."""

    @abstractmethod
    def lines(self, frame: Any, plan: Plan) -> Any:
        """The values of the page as a data frame."""

    @abstractmethod
    def tables(self, frame: Any, plan: Plan) -> str:
        """The tables of the page, as Markdown."""

    @abstractmethod
    def draw(self, frame: Any, plan: Plan) -> Figure:
        """The figure of all records so far."""

    def lacking(self, frame: Any, plan: Plan) -> str:
        """What the page waits for; empty if there is something to show."""
        return ""


class TunedTarget(Target):
    """A target with a grid search on each split."""

    paper: ClassVar[str]
    """A key of :data:`~rffboost_ext.experiments.baselines.hyperparameter_grids.PAPERS`."""
    splitter: ClassVar[Splitter]
    error: ClassVar[bool] = False
    """Whether scores are test errors, not accuracies."""

    def path(self, plan: Plan, system: str, gamma: float) -> SystemPath:
        """A system as a function of its size."""
        return system_path(self.paper, system, self.largest(plan, system))

    def grid(self, plan: Plan, path: SystemPath, n_features: int) -> Grid:
        """The grid of a search."""
        grid = path.grid(n_features)
        return reduced_grid(grid) if plan.quick else grid

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

    def parts(self, task: TargetTask) -> DataSplit:
        """The data of a task."""
        return split(self.splitter, task.dataset, task.data_dir, task.split)

    def measure(self, task: TargetTask) -> list[TargetRecord]:
        plan, parts = self.plan(task.quick), self.parts(task)
        path = self.path(plan, task.system, task.gamma)
        start = perf_counter()
        sizes = [self.size(plan, task.system, x) for x in task.points]
        accuracy, chosen = tune(path, parts, sizes, self.grid(plan, path, parts.sizes[2]))
        seconds = (perf_counter() - start) / len(task.points)
        score = 100.0 * (1.0 - accuracy if self.error else accuracy)
        return [
            TargetRecord(*key, task.config, float(value), seconds, *parts.sizes, json.dumps(choice))
            for key, value, choice in zip(task.keys, score, chosen, strict=True)
        ]


class TableTarget(TunedTarget):
    """A target that shows a mean per data set and system beside the published one."""

    subject: ClassVar[str]
    """Title of the figure."""

    @abstractmethod
    def comparison(self, frame: Any, plan: Plan) -> PublishedComparison:
        """The measured means beside the published ones."""

    def remarks(self, comparison: PublishedComparison) -> str:
        """Markdown below the table."""
        return ""

    def lines(self, frame: Any, plan: Plan) -> Any:
        return self.comparison(frame, plan).lines()

    def tables(self, frame: Any, plan: Plan) -> str:
        comparison = self.comparison(frame, plan)
        return comparison_table(comparison) + "\n" + self.remarks(comparison)

    def draw(self, frame: Any, plan: Plan) -> Figure:
        return draw_comparison(self.comparison(frame, plan), self.subject)


class CurveTarget(TunedTarget):
    """A target that shows one mean curve per system, over the data sets and splits that are complete."""

    label: ClassVar[str]
    """Name of the horizontal axis in tables."""
    xlabel: ClassVar[str]
    log_scale: ClassVar[bool] = False

    def curves(self, frame: Any, plan: Plan) -> Any:
        """The mean curves, a column per system."""
        return curves(complete_sets(frame), plan.systems)

    def lacking(self, frame: Any, plan: Plan) -> str:
        return incomplete(frame)

    def lines(self, frame: Any, plan: Plan) -> Any:
        return along(frame, self.label)

    def tables(self, frame: Any, plan: Plan) -> str:
        return f"{averaging_line(frame)}\n\n{curve_table(self.curves(frame, plan), self.label)}"

    def draw(self, frame: Any, plan: Plan) -> Figure:
        figure = new_figure(6.4, 4.2)
        axes = figure.subplots()
        means = self.curves(frame, plan)
        draw_curves(axes, means, list(means.columns))
        if self.log_scale:
            set_log_scale(axes)
        else:
            axes.set_xlim(left=0)
        axes.set_xlabel(self.xlabel)
        axes.set_ylabel("mean test accuracy (%)")
        count = complete_sets(frame)["dataset"].nunique()
        axes.set_title(f"Mean of {count} data sets", fontsize=10)
        axes.legend(frameon=False)
        return figure


def by_name(value: Any) -> Any:
    """A parameter whose ``repr`` is the same in every process: functions in a tuple by their names."""
    if not isinstance(value, tuple):
        return value
    return tuple(getattr(item, "__qualname__", item) if callable(item) else item for item in value)


@lru_cache(maxsize=2)
def split(splitter: Splitter, dataset: str, data_dir: Path | None, index: int) -> DataSplit:
    """The data of a split, cached for all systems."""
    return splitter.parts(load(dataset, data_dir), index)
