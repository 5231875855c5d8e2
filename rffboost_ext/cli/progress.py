"""Progress bars of fits and of passes over files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from .. import boosting
from ..core import Observations
from ..sources.core import Batch, Part, Source
from ..utils.typing import Array

T = TypeVar("T")


@contextmanager
def bars() -> Iterator[Progress]:
    """Progress bars on standard error."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as display:
        yield display


class Rounds:
    """A callback with a bar for each model of a fit, which keeps the scores of held-out rows."""

    concurrent = True

    def __init__(self, display: Progress) -> None:
        self.display = display
        self.bars: dict[str, Any] = {}
        self.pairs: list[tuple[Observations, Array]] = []

    def __call__(self, progress: boosting.callbacks.Progress) -> None:
        name = str(progress.model) or "rounds"
        if name not in self.bars:
            self.bars[name] = self.display.add_task(name, total=progress.n_estimators)
        self.display.advance(self.bars[name])

    def held_out(self, pairs: list[tuple[Observations, Array]]) -> None:
        """Keep held-out rows and their scores."""
        self.pairs = pairs

    def close(self) -> None:
        """Fill the bars of models that early stopping has ended."""
        for task in self.display.tasks:
            if task.id in self.bars.values():
                self.display.update(task.id, total=task.completed)


class Watched(Source):
    """A source with a bar for each pass over its rows."""

    def __init__(self, rows: Source, display: Progress) -> None:
        super().__init__(rows.max_rows)
        self.rows, self.display, self.n_rows = rows, display, rows.n_rows

    def name_of(self, row: int) -> str:
        return self.rows.name_of(row)

    def parts(self) -> Sequence[Part]:
        return self.rows.parts()

    def reduce(self, read: Callable[[Part], T], merge: Callable[[T, T], T], features: bool = True) -> T:
        bar = self.display.add_task("reading" if features else "reading targets", total=self.n_rows)
        return self.rows.reduce(lambda part: read(WatchedPart(part, self.display, bar)), merge, features)


class WatchedPart:
    """A part that moves a bar."""

    def __init__(self, part: Part, display: Progress, bar: Any) -> None:
        self.part, self.display, self.bar = part, display, bar

    def batches(self, features: bool = True) -> Iterator[Batch]:
        """The batches of the part."""
        for batch in self.part.batches(features):
            yield batch
            self.display.advance(self.bar, len(batch))
