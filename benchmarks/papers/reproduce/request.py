"""A run of ``python -m benchmarks.papers``, from the options to the files."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rffboost_ext.experiments.figures import as_bytes
from rffboost_ext.experiments.records import Key, Record, as_frame
from rffboost_ext.utils.choices import check_choices
from rffboost_ext.utils.files import write_atomically
from rffboost_ext.utils.packages import require_packages
from rffboost_ext.utils.param_validation import OPTIONAL, POSITIVE, Integer, require

from ...machine import environment
from ...records import Records
from ...study import Failure, failure_lines
from ..data import unavailable_datasets
from . import TARGETS
from .target import COLUMNS, Scope, Target

PROGRAM = "python -m benchmarks.papers"


@dataclass(frozen=True)
class Request:
    """The options of :data:`PROGRAM`; None is the default of the target.

    `datasets`, `systems` and `points` are subsets of the target's; `time_limit` is in seconds.
    """

    target: str
    out: Path
    splits: int | None = None
    datasets: Sequence[str] | None = None
    systems: Sequence[str] | None = None
    data_dir: Path | None = None
    jobs: int = 1
    quick: bool = False
    time_limit: float | None = None
    points: Sequence[float] | None = None

    def validate(self) -> None:
        """Raise a ValueError or TypeError that names the invalid option, or an ImportError."""
        check_choices("target", [self.target], [*TARGETS])
        require("reproduce", "splits", self.splits, Integer(1) | OPTIONAL)
        require("reproduce", "jobs", self.jobs, Integer(1))
        require("reproduce", "time_limit", self.time_limit, POSITIVE | OPTIONAL)
        target = TARGETS[self.target]
        check_choices("data set", self.datasets or (), target.full.datasets)
        check_choices("system", self.systems or (), target.full.systems)
        check_choices(
            "point", *([f"{x:g}" for x in xs or ()] for xs in (self.points, target.scope(self.quick).points))
        )
        if self.data_dir is not None and not self.data_dir.is_dir():
            raise ValueError(f"data_dir {str(self.data_dir)!r} is not a folder")
        require_packages("reproduce", "matplotlib", "lightgbm")

    def whole(self) -> Scope:
        """The scope of the whole page."""
        scope = TARGETS[self.target].scope(self.quick)
        folder = None if self.data_dir is None else self.data_dir.resolve()
        datasets = tuple(dict.fromkeys((*scope.datasets, *(self.datasets or ()))))
        return replace(scope, datasets=datasets, data_dir=folder, time_limit=self.time_limit or scope.time_limit)

    def scope(self) -> Scope:
        """The scope of this run."""
        whole = self.whole()
        return replace(
            whole,
            systems=tuple(name for name in whole.systems if name in (self.systems or whole.systems)),
            datasets=tuple(self.datasets or TARGETS[self.target].scope(self.quick).datasets),
            points=tuple(x for x in whole.points if x in (self.points or whole.points)),
            splits=self.splits or whole.splits,
        )

    def file(self, ending: str) -> Path:
        """One of the files of the target."""
        return self.out / f"{self.target}{'-quick' if self.quick else ''}{ending}"

    def records(self) -> Records:
        """The file of its records."""
        return Records(self.file(".csv"), COLUMNS)

    @property
    def command(self) -> str:
        """The equivalent command line."""
        options = {
            "--splits": self.splits,
            "--datasets": ",".join(self.datasets or ()) or None,
            "--systems": ",".join(self.systems or ()) or None,
            "--points": ",".join(f"{x:g}" for x in self.points or ()) or None,
            "--time-limit": self.time_limit,
            "--jobs": None if self.jobs == 1 else self.jobs,
        }
        with_value = [f"{name} {shlex.quote(str(value))}" for name, value in options.items() if value is not None]
        flags = ["--data-dir DIR"] * (self.data_dir is not None) + ["--quick"] * self.quick
        return " ".join([PROGRAM, self.target, *with_value, *flags, "--out DIR"])


def reproduce(request: Request, say: Callable[[str], object] = print) -> tuple[str, list[Failure]]:
    """Run the missing measurements and write the files.

    Parameters
    ----------
    request : Request
        The options.
    say : callable
        Called with each message before the work starts.

    Returns
    -------
    page : str
        The Markdown page.
    failures : list of Failure
        Failed measurements.

    Raises
    ------
    ValueError, TypeError
        If an option is invalid or no data set is available.
    """
    request.validate()
    request.out.mkdir(parents=True, exist_ok=True)
    target, scope = TARGETS[request.target], request.scope()
    skipped = unavailable_datasets(scope.datasets, scope.data_dir) if target.downloads else {}
    scope = replace(scope, datasets=tuple(name for name in scope.datasets if name not in skipped))
    for name, why in skipped.items():
        say(f"skipped: {name}: {why}")
    if not scope.datasets:
        raise ValueError("no data set is available: pass their folder with --data-dir")
    jobs = 1 if target.serial else request.jobs
    records, failures = target.study(scope).resume(request.records(), jobs, shared_records(request, target))
    return write_page(request, target, records.values(), skipped, failures), failures


def shared_records(request: Request, target: Target) -> dict[Key, Record]:
    """Records of other targets in the same folder that this target shares."""
    rows: dict[Key, Record] = {}
    points = {name: target.points(request.whole(), name) for name in target.borrowed}
    for name in target.borrows:
        records = replace(request, target=name).records().read().values()
        rows |= {row.key: row for row in records if row.x in points.get(row.system, ())}
    return rows


def write_page(
    request: Request,
    target: Target,
    records: Iterable[Record],
    skipped: Mapping[str, str],
    failures: Sequence[Failure],
) -> str:
    """Write page, figure and values of all records so far, and return the page."""
    whole = request.whole()
    study, asked = target.study(whole), request.scope().datasets

    def counts(record: Record) -> bool:
        if record.system not in study.systems:
            return False
        # Data sets outside the request whose file is not available now count with any file.
        expected = study.config(record.system, record.dataset)
        any_file = record.dataset not in asked and record.config.startswith(expected)
        return any_file or record.config == expected

    current = [record for record in records if counts(record)]
    if not current:
        raise ValueError("nothing could be measured: " + "; ".join(failure_lines(failures)))
    frame = as_frame(current)
    present = set(frame["dataset"])
    names = dict.fromkeys((*target.full.datasets, *whole.datasets))
    whole = replace(whole, datasets=tuple(name for name in names if name in present))
    page = render_page(request, target, frame, whole, skipped, failures)
    values = target.lines(frame, whole).to_csv(index=False, float_format="%.6g", lineterminator="\n")
    contents = {".md": page.encode(), "-values.csv": values.encode()}
    if target.lacking(frame, whole):
        request.file(".png").unlink(missing_ok=True)
    else:
        contents[".png"] = as_bytes(target.draw(frame, whole))
    for ending, content in contents.items():
        write_atomically(request.file(ending), content)
    return page


def render_page(
    request: Request,
    target: Target,
    frame: Any,
    scope: Scope,
    skipped: Mapping[str, str],
    failures: Sequence[Failure],
) -> str:
    """The page as Markdown."""
    notes = [f"- Skipped: {name}: {why}." for name, why in skipped.items()]
    notes += [f"- Failed: {line}" for line in failure_lines(failures)]
    lacking = target.lacking(frame, scope)
    sample = "\n\n**A sample: fewer data sets, splits, rounds and hyperparameters.**" if request.quick else ""
    parts = [
        f"# {target.title}",
        target.about + sample,
        f"Waits for {lacking}." if lacking else f"![{target.title}]({request.file('.png').name})",
        "" if lacking else target.tables(frame, scope).rstrip("\n"),
        "\n".join(notes),
        f"`{request.command}`. {environment(1 if target.serial else request.jobs)} "
        f"Seconds in all: {frame['seconds'].sum():,.0f}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"
