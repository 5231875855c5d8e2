"""One call of ``rffboost reproduce``: from the target's name to its files."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ...utils.param_validation import OPTIONAL, POSITIVE, Integer, require
from ..compare.datasets import unknown
from ..compare.outputs import check_folder, write_all
from .data import obtain
from .figures import as_png, waiting
from .markdown import environment
from .rows import Journal, Key, Row
from .runner import Failure, run_all, told
from .summary import as_frame
from .target import DATA, Plan, Target
from .targets import TARGETS

NEEDED = ("matplotlib", "lightgbm")


@dataclass(frozen=True)
class Request:
    """What is asked for.

    Parameters
    ----------
    target : str
        Name of a target.
    out : Path
        Folder of the results; created if needed.
    splits : int, optional
        Random splits, or draws of generated data; the target's number by default.
    datasets, systems : sequence of str, optional
        A subset of the target's; all by default.
    data_dir : Path, optional
        Folder of data files.
    jobs : int
        Processes.
    quick : bool
        Whether to measure a sample only.
    time_limit : float, optional
        Seconds after which a system is stopped, where times are measured.
    points : sequence of float, optional
        A subset of the target's positions along the horizontal axis; all by default.
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
        """Raise a ValueError or TypeError that names what cannot be done, before any work."""
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
        """All that the page can show."""
        plan = TARGETS[self.target].plan(self.quick)
        folder = None if self.data_dir is None else self.data_dir.resolve()
        limit = plan.time_limit if self.time_limit is None else self.time_limit
        datasets = tuple(dict.fromkeys((*plan.datasets, *(self.datasets or ()))))
        return replace(plan, datasets=datasets, data_dir=folder, time_limit=limit)

    def plan(self) -> Plan:
        """What is to be done."""
        whole = self.whole()
        systems = tuple(name for name in whole.systems if self.systems is None or name in self.systems)
        datasets = tuple(self.datasets or TARGETS[self.target].plan(self.quick).datasets)
        points = tuple(x for x in whole.points if self.points is None or x in self.points)
        splits = self.splits or whole.splits
        return replace(whole, datasets=datasets, systems=systems, splits=splits, points=points)

    def file(self, ending: str) -> Path:
        """One of the files of the target."""
        return self.out / f"{self.target}{'-quick' if self.quick else ''}{ending}"

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
            raise ValueError(f"unknown {kind} {unknown(repr(text), text, known)}")
        if texts.count(text) > 1:
            raise ValueError(f"{kind} {text!r} is given more than once")


def as_text(value: object) -> str:
    """A name or a number as it is typed."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def reproduce(request: Request, say: Callable[[str], object] = print) -> tuple[str, list[Failure]]:
    """Measure what is missing, and write the files.

    Parameters
    ----------
    request : Request
        What is asked for.
    say : callable
        Called with each line of messages before the work starts.

    Returns
    -------
    page : str
        The Markdown page.
    failures : list of Failure
        What could not be measured.

    Raises
    ------
    ValueError, TypeError
        If the request cannot be met; the message says why.
    """
    request.validate()
    target, plan = TARGETS[request.target], request.plan()
    plan, skipped = available(target, plan)
    for name, why in skipped.items():
        say(f"skipped: {name}: {why}")
    if not plan.datasets:
        raise ValueError("none of the data sets can be had: give a folder of them by --data-dir")
    for name in plan.systems:
        if name in target.slow and not request.quick:
            say(f"slow by nature: {name}: {target.slow[name]}. --systems leaves it out.")
    request.out.mkdir(parents=True, exist_ok=True)
    rows, failures = measured(request, target, plan, say)
    page = write(request, target, rows, skipped, failures)
    return page, failures


def available(target: Target, plan: Plan) -> tuple[Plan, dict[str, str]]:
    """The plan without the data sets that are not available, and why not."""
    if not target.downloads:
        return plan, {}
    names, reasons = obtain(list(plan.datasets), plan.data_dir)
    return replace(plan, datasets=tuple(names)), reasons


def measured(
    request: Request, target: Target, plan: Plan, say: Callable[[str], object]
) -> tuple[dict[Key, Row], list[Failure]]:
    """All rows, those of earlier runs included, and what failed."""
    journal = Journal(request.file(".csv"))
    if journal.mend():
        say(f"{journal.path}: the last line was unfinished and is dropped")
    rows = journal.rows()
    lent = borrowed(request, target)
    jobs = 1 if target.serial else request.jobs
    everything = lent | rows
    failures = run_all(
        lambda known: target.tasks(plan, known), everything, jobs, lambda found: journal.append(*found)
    )
    return everything, failures


def borrowed(request: Request, target: Target) -> dict[Key, Row]:
    """Rows of other targets in the same folder that count here, too."""
    rows: dict[Key, Row] = {}
    points = {name: target.points(request.whole(), name) for name in target.borrowed}
    for name in target.borrows:
        found = Journal(replace(request, target=name).file(".csv")).rows().values()
        rows |= {row.key: row for row in found if row.x in points.get(row.system, ())}
    return rows


def write(
    request: Request,
    target: Target,
    rows: Mapping[Key, Row],
    skipped: Mapping[str, str],
    failures: Sequence[Failure],
) -> str:
    """Write page, figure and values of all rows so far; the page."""
    whole = request.whole()
    current = up_to_date(rows.values(), target, whole, request.plan().datasets)
    if not current:
        raise ValueError("nothing could be measured: " + "; ".join(told(failures)))
    frame = as_frame(current)
    there = set(frame["dataset"])
    # In the order of the target, also where earlier runs have enlarged a sample.
    known = dict.fromkeys((*target.full.datasets, *whole.datasets))
    whole = replace(whole, datasets=tuple(name for name in known if name in there))
    page = page_of(request, target, frame, whole, skipped, failures)
    values = target.lines(frame, whole).to_csv(index=False, float_format="%.6g", lineterminator="\n")
    lacking = target.lacking(frame, whole)
    picture = as_png(waiting(lacking) if lacking else target.draw(frame, whole))
    contents = {".md": page.encode(), "-values.csv": values.encode(), ".png": picture}
    write_all({request.file(ending): content for ending, content in contents.items()})
    return page


def up_to_date(rows: Iterable[Row], target: Target, whole: Plan, asked: Collection[str]) -> list[Row]:
    """The rows of the present settings and files; of sets that are not asked for also those without a file now.

    A page shows what earlier runs have measured, also of files in a folder that is not given this time.
    """
    known: dict[tuple[str, str], str] = {}
    found = []
    for row in rows:
        if row.system not in whole.systems:
            continue
        key = row.system, row.dataset
        config = known[key] = known.get(key) or target.config(whole, *key)
        free = row.dataset not in asked and DATA not in config
        if (row.config.partition(DATA)[0] if free else row.config) == config:
            found.append(row)
    return found


def page_of(
    request: Request,
    target: Target,
    frame: Any,
    plan: Plan,
    skipped: Mapping[str, str],
    failures: Sequence[Failure],
) -> str:
    """The whole page."""
    notes = [f"- Skipped: {name}: {why}." for name, why in skipped.items()]
    notes += [f"- Failed: {line}" for line in told(failures)]
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
        raise ValueError(f"unknown target {unknown(repr(target), target, list(TARGETS))}")
