"""Targets: tables and figures of a paper, with the study that they show and their display."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache, partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar

from rffboost_ext.experiments.compare.protocol import plain_params
from rffboost_ext.experiments.records import Key, Record
from rffboost_ext.experiments.summary import curves

from ...study import Study, Task, every_task, settings_digest
from ..data import file_of, load_published
from .comparison import (
    PublishedComparison,
    along,
    averaging_line,
    comparison_table,
    complete_sets,
    curve_table,
    incomplete,
)
from .figures import curve_figure, draw_comparison
from .grid_search import DataSplit, Grid, SystemPath, reduced_grid, tune
from .papers import PAPERS
from .splits import CrossValidated, Validated

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("score", "seconds", "n_train", "n_test", "n_features", "chosen")
"""Accuracy or error of the test part in percent, or seconds; the time of the measurement, including the search for
hyperparameters; sizes; the hyperparameters that the search selected."""


@dataclass(frozen=True)
class Scope:
    """How much of a target is measured.

    `splits` are random splits or draws of generated data, `points` positions along the horizontal axis, `size` the
    number of rounds or landmarks, `time_limit` seconds after which a system is stopped.
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
    full: ClassVar[Scope]
    sample: ClassVar[Scope]
    """The scope of a quick run."""
    serial: ClassVar[bool] = False
    """Whether it measures times, so that it needs the machine for itself."""
    borrows: ClassVar[tuple[str, ...]] = ()
    """Other targets with which it shares the records of the :attr:`borrowed` systems."""
    borrowed: ClassVar[tuple[str, ...]] = ()
    downloads: ClassVar[bool] = True
    """Whether its data sets come from files or from OpenML instead of a generator."""

    def scope(self, quick: bool) -> Scope:
        """The full or the quick scope."""
        return replace(self.sample, quick=True) if quick else self.full

    def study(self, scope: Scope) -> Study:
        """What is measured by a scope."""
        # Sizes do not depend on the points that a run is restricted to.
        whole = self.scope(scope.quick)
        return Study(
            data={name: self.loader(scope, name) for name in scope.datasets},
            systems={name: partial(self.path, whole, name) for name in scope.systems},
            splits=self.parts,
            measures=partial(self.measure, whole),
            columns=COLUMNS,
            n_splits=scope.splits,
            points=scope.points,
            config=cache(partial(self.config, scope)),
            order=partial(self.order, scope),
        )

    def order(self, scope: Scope, study: Study, records: Mapping[Key, Record]) -> list[Task]:
        """The tasks that are possible with the records so far."""
        return every_task(study, records)

    def points(self, scope: Scope, system: str) -> tuple[float, ...]:
        """The x of a system."""
        return scope.points

    def config(self, scope: Scope, system: str, dataset: str = "") -> str:
        """The configuration that records must have: version, and digests of the settings and of the data file."""
        path = file_of(dataset, scope.data_dir)
        content = f" {checksum(path, path.stat().st_mtime_ns)}" if path else ""
        return settings_digest(self.settings(scope, system)) + content

    def loader(self, scope: Scope, dataset: str) -> Callable[[], Any]:
        """The function that loads a data set."""
        return partial(str, dataset)

    def parts(self, data: Any, index: int) -> Any:
        """The parts of split `index`, from 1."""
        return data, index

    def path(self, scope: Scope, system: str, gamma: float) -> Any:
        """A system as `measure` takes it; `gamma` is the kernel parameter of an earlier record, if any."""
        return system

    @abstractmethod
    def settings(self, scope: Scope, system: str) -> object:
        """The settings that the values depend on, besides data, system, split and x."""

    @abstractmethod
    def measure(self, scope: Scope, system: Callable[[Any], Any], parts: Any, task: Task) -> list[dict[str, Any]]:
        """Measure a task; the values for each of its points."""

    @abstractmethod
    def lines(self, frame: Any, scope: Scope) -> Any:
        """The values of the page as a data frame."""

    @abstractmethod
    def tables(self, frame: Any, scope: Scope) -> str:
        """The tables of the page, as Markdown."""

    @abstractmethod
    def draw(self, frame: Any, scope: Scope) -> Figure:
        """The figure of all records so far."""

    def lacking(self, frame: Any, scope: Scope) -> str:
        """What the page waits for; empty if there is something to show."""
        return ""


def values(
    score: float, seconds: float, sizes: tuple[int, int, int], hyperparameters: Any = None
) -> dict[str, Any]:
    """The values of a record."""
    return dict(zip(COLUMNS, (float(score), seconds, *sizes, hyperparameters or {}), strict=True))


@lru_cache(maxsize=64)
def checksum(path: Path, changed: int) -> str:
    """Checksum of a file, cached until its time changes."""
    return f"{zlib.crc32(path.read_bytes()):08x}"


class TunedTarget(Target):
    """A target with a grid search on each split."""

    paper: ClassVar[str]
    """A key of :data:`~benchmarks.papers.reproduce.papers.PAPERS`."""
    splitter: ClassVar[CrossValidated | Validated]
    error: ClassVar[bool] = False
    """Whether scores are test errors, not accuracies."""

    def loader(self, scope: Scope, dataset: str) -> Callable[[], Any]:
        return partial(load_published, dataset, scope.data_dir)

    def parts(self, data: Any, index: int) -> Any:
        return self.splitter.parts(data, index)

    def path(self, scope: Scope, system: str, gamma: float) -> SystemPath:
        """A system as a function of its size."""
        return PAPERS[self.paper][system].restricted(self.largest(scope, system))

    def grid(self, scope: Scope, path: SystemPath, n_features: int) -> Grid:
        """The grid of a search."""
        grid = path.grid(n_features)
        return reduced_grid(grid) if scope.quick else grid

    def size(self, scope: Scope, system: str, x: float) -> float:
        """The size of a system at x."""
        return x

    def largest(self, scope: Scope, system: str) -> float:
        """The largest size of a system in the target."""
        return max(self.size(scope, system, x) for x in scope.points)

    def settings(self, scope: Scope, system: str) -> object:
        path = self.path(scope, system, 1.0)
        return plain_params(path.make(2)), self.grid(scope, path, 1), self.splitter

    def measure(
        self, scope: Scope, system: Callable[[Any], Any], parts: DataSplit, task: Task
    ) -> list[dict[str, Any]]:
        path = system(task.choice)
        start = perf_counter()
        sizes = [self.size(scope, task.system, x) for x in task.points]
        accuracy, hyperparameters = tune(path, parts, sizes, self.grid(scope, path, parts.sizes[2]))
        seconds = (perf_counter() - start) / len(task.points)
        score = 100.0 * (1.0 - accuracy if self.error else accuracy)
        return [
            values(one, seconds, parts.sizes, choice) for one, choice in zip(score, hyperparameters, strict=True)
        ]


class TableTarget(TunedTarget):
    """A target that shows a mean per data set and system beside the published one."""

    subject: ClassVar[str]
    """Title of the figure."""

    @abstractmethod
    def comparison(self, frame: Any, scope: Scope) -> PublishedComparison:
        """The measured means beside the published ones."""

    def remarks(self, comparison: PublishedComparison) -> str:
        """Markdown below the table."""
        return ""

    def lines(self, frame: Any, scope: Scope) -> Any:
        return self.comparison(frame, scope).rows()

    def tables(self, frame: Any, scope: Scope) -> str:
        comparison = self.comparison(frame, scope)
        return comparison_table(comparison) + "\n" + self.remarks(comparison)

    def draw(self, frame: Any, scope: Scope) -> Figure:
        return draw_comparison(self.comparison(frame, scope), self.subject)


class CurveTarget(TunedTarget):
    """A target that shows one mean curve per system, over the data sets and splits that are complete."""

    label: ClassVar[str]
    """Name of the horizontal axis in tables."""
    xlabel: ClassVar[str]
    log_scale: ClassVar[bool] = False

    def curves(self, frame: Any, scope: Scope) -> Any:
        """The mean curves, a column per system."""
        return curves(complete_sets(frame), scope.systems)

    def lacking(self, frame: Any, scope: Scope) -> str:
        return incomplete(frame)

    def lines(self, frame: Any, scope: Scope) -> Any:
        return along(frame, self.label)

    def tables(self, frame: Any, scope: Scope) -> str:
        return f"{averaging_line(frame)}\n\n{curve_table(self.curves(frame, scope), self.label)}"

    def draw(self, frame: Any, scope: Scope) -> Figure:
        title = f"Mean of {complete_sets(frame)['dataset'].nunique()} data sets"
        curves = self.curves(frame, scope)
        return curve_figure(curves, self.xlabel, "mean test accuracy (%)", title, self.log_scale)
