"""A run of ``rffboost reproduce``, from the options to the files."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...utils.param_validation import OPTIONAL, POSITIVE, Integer, require
from ..compare.datasets import choices_text
from ..outputs import check_folder, write_files
from ..records import Records
from ..runner import Failure, failure_lines, run_all
from .data import unavailable_datasets
from .figures import as_png, placeholder
from .markdown import environment
from .summary import as_frame
from .target import DATA, Plan, Target
from .targets import TARGETS
from .task import Key, TargetRecord

NEEDED = ("matplotlib", "lightgbm")


@dataclass(frozen=True)
class Request:
    """The options of ``rffboost reproduce``; None is the default of the target.

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
        """Raise a ValueError or TypeError that names the invalid option."""
        require_known(self.target)
        require("reproduce", "splits", self.splits, Integer(1) | OPTIONAL)
        require("reproduce", "jobs", self.jobs, Integer(1))
        require("reproduce", "time_limit", self.time_limit, POSITIVE | OPTIONAL)
        target = TARGETS[self.target]
        if self.time_limit is not None and not target.serial:
            timed = ", ".join(name for name, other in TARGETS.items() if other.serial)
            raise ValueError(f"time_limit is for targets that measure times, {timed}; got it for {self.target}")
        check_known("data set", self.datasets, target.full.datasets)
        check_known("system", self.systems, target.full.systems)
        check_known("point", self.points, target.plan(self.quick).points)
        if self.data_dir is not None and not self.data_dir.is_dir():
            raise ValueError(f"data_dir {str(self.data_dir)!r} is not a folder")
        check_folder("out", self.out)
        for package in NEEDED:
            if find_spec(package) is None:
                raise ValueError(
                    f"reproduce needs {package}, which is not installed: pip install 'rffboost-ext[all]'"
                )

    def whole(self) -> Plan:
        """The plan of the whole page."""
        plan = TARGETS[self.target].plan(self.quick)
        folder = None if self.data_dir is None else self.data_dir.resolve()
        limit = plan.time_limit if self.time_limit is None else self.time_limit
        datasets = tuple(dict.fromkeys((*plan.datasets, *(self.datasets or ()))))
        return replace(plan, datasets=datasets, data_dir=folder, time_limit=limit)

    def plan(self) -> Plan:
        """The plan of this run."""
        whole = self.whole()
        systems = tuple(name for name in whole.systems if self.systems is None or name in self.systems)
        datasets = tuple(self.datasets or TARGETS[self.target].plan(self.quick).datasets)
        points = tuple(x for x in whole.points if self.points is None or x in self.points)
        splits = self.splits or whole.splits
        return replace(whole, datasets=datasets, systems=systems, splits=splits, points=points)

    def file(self, ending: str) -> Path:
        """One of the files of the target."""
        return self.out / f"{self.target}{'-quick' if self.quick else ''}{ending}"

    def records(self) -> Records[TargetRecord]:
        """The file of its records."""
        return Records(self.file(".csv"), TargetRecord)

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
        given = [f"{name} {shlex.quote(str(value))}" for name, value in options.items() if value is not None]
        flags = ["--data-dir DIR"] * (self.data_dir is not None) + ["--quick"] * self.quick
        return " ".join(["rffboost reproduce", self.target, *given, *flags, "--out DIR"])


def check_known(kind: str, given: Sequence[object] | None, choices: Sequence[object]) -> None:
    """Raise a ValueError that lists the choices unless all given values are among them, without repetition."""
    texts, known = ([as_text(value) for value in values or ()] for values in (given, choices))
    for text in texts:
        if text not in known:
            raise ValueError(f"unknown {kind} {choices_text(repr(text), text, known)}")
        if texts.count(text) > 1:
            raise ValueError(f"{kind} {text!r} is given more than once")


def as_text(value: object) -> str:
    """A name or a number as text."""
    return f"{value:g}" if isinstance(value, float) else str(value)


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
    target, plan = TARGETS[request.target], request.plan()
    skipped = unavailable_datasets(plan.datasets, plan.data_dir) if target.downloads else {}
    plan = replace(plan, datasets=tuple(name for name in plan.datasets if name not in skipped))
    for name, why in skipped.items():
        say(f"skipped: {name}: {why}")
    if not plan.datasets:
        raise ValueError("no data set is available: pass their folder with --data-dir")
    for name in plan.systems:
        if name in target.slow and not request.quick:
            say(f"slow: {name}: {target.slow[name]}. Use --systems to leave it out.")
    request.out.mkdir(parents=True, exist_ok=True)
    file = request.records()
    if file.repair():
        say(f"{file.path}: the last line was incomplete and is dropped")
    records = shared_records(request, target) | file.read()
    jobs = 1 if target.serial else request.jobs
    failures = run_all(lambda known: target.tasks(plan, known), records, file, jobs)
    return write_page(request, target, records.values(), skipped, failures), failures


def shared_records(request: Request, target: Target) -> dict[Key, TargetRecord]:
    """Records of other targets in the same folder that this target shares."""
    rows: dict[Key, TargetRecord] = {}
    points = {name: target.points(request.whole(), name) for name in target.borrowed}
    for name in target.borrows:
        found = replace(request, target=name).records().read().values()
        rows |= {row.key: row for row in found if row.x in points.get(row.system, ())}
    return rows


def write_page(
    request: Request,
    target: Target,
    records: Iterable[TargetRecord],
    skipped: Mapping[str, str],
    failures: Sequence[Failure],
) -> str:
    """Write page, figure and values of all records so far, and return the page."""
    whole = request.whole()
    current = current_records(records, target, whole, request.plan().datasets)
    if not current:
        raise ValueError("nothing could be measured: " + "; ".join(failure_lines(failures)))
    frame = as_frame(current)
    present = set(frame["dataset"])
    names = dict.fromkeys((*target.full.datasets, *whole.datasets))
    whole = replace(whole, datasets=tuple(name for name in names if name in present))
    page = render_page(request, target, frame, whole, skipped, failures)
    values = target.lines(frame, whole).to_csv(index=False, float_format="%.6g", lineterminator="\n")
    lacking = target.lacking(frame, whole)
    picture = as_png(placeholder(lacking) if lacking else target.draw(frame, whole))
    contents = {".md": page.encode(), "-values.csv": values.encode(), ".png": picture}
    write_files({request.file(ending): content for ending, content in contents.items()})
    return page


def current_records(
    records: Iterable[TargetRecord], target: Target, whole: Plan, asked: Collection[str]
) -> list[TargetRecord]:
    """The records of the present settings and data files.

    Data sets outside the request whose file is not available now count with any file.
    """
    config = cache(partial(target.config, whole))

    def is_current(record: TargetRecord) -> bool:
        if record.system not in whole.systems:
            return False
        expected = config(record.system, record.dataset)
        any_file = record.dataset not in asked and DATA not in expected
        return (record.config.partition(DATA)[0] if any_file else record.config) == expected

    return [record for record in records if is_current(record)]


def render_page(
    request: Request,
    target: Target,
    frame: Any,
    plan: Plan,
    skipped: Mapping[str, str],
    failures: Sequence[Failure],
) -> str:
    """The page as Markdown."""
    notes = [f"- Skipped: {name}: {why}." for name, why in skipped.items()]
    notes += [f"- Failed: {line}" for line in failure_lines(failures)]
    lacking = target.lacking(frame, plan)
    sample = "\n\n**A sample: fewer data sets, splits, rounds and hyperparameters.**" if request.quick else ""
    parts = [
        f"# {target.title}",
        target.about + sample,
        f"![{target.title}]({request.file('.png').name})",
        f"Waits for {lacking}." if lacking else target.tables(frame, plan).rstrip("\n"),
        "\n".join(notes),
        f"`{request.command}`. {environment(1 if target.serial else request.jobs)} "
        f"Seconds in all: {frame['seconds'].sum():,.0f}.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def require_known(target: str) -> None:
    """Raise a ValueError that lists the choices unless there is such a target."""
    if target not in TARGETS:
        raise ValueError(f"unknown target {choices_text(repr(target), target, list(TARGETS))}")
