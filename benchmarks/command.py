"""What the scripts share: their options, and the run and the report of a study."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from rffboost_ext.experiments.records import Record, as_frame
from rffboost_ext.experiments.report import report
from rffboost_ext.utils.choices import check_choices

from .machine import environment
from .records import Records
from .study import Measures, Study, failure_lines

MINUS = str.maketrans("-", "\u2212")


def options(doc: str | None) -> argparse.ArgumentParser:
    """A command line whose help is the docstring of a script."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def data_folder(folder: Path | None) -> Path | None:
    """The folder of data: the argument or the folder of the environment variable RFFBOOST_DATA, if any."""
    usual = os.environ.get("RFFBOOST_DATA")
    if folder is None and not usual:
        return None
    source, path = ("--data-dir", folder) if folder is not None else ("RFFBOOST_DATA", Path(usual or ""))
    if not path.is_dir():
        raise ValueError(f"{source}: {str(path)!r} is not a folder")
    return path.resolve()


def signed(value: float, digits: int = 1) -> str:
    """A number with its sign; 0 has none."""
    text = f"{value:+.{digits}f}"
    return text[1:] if float(text) == 0.0 else text.translate(MINUS)


@dataclass(frozen=True)
class Benchmark:
    """A study as a script.

    Attributes
    ----------
    doc : str
        The docstring of the script.
    datasets : sequence of str
        The names of all data sets.
    systems : mapping of str to object
        All systems, as `measure` takes them.
    splits : int
        Splits of each data set.
    load : callable
        ``load(dataset, folder)`` is a data set, given the folder of CSV files, if any.
    split, measure : callable
        As in :class:`~benchmarks.study.Study`.
    measures : mapping of str to str
        The measures, and what is better of each in the report, "higher" or "lower", or "time"; "" leaves it out.
    config, applies : callable, optional
        As in the study.
    groups : mapping, optional
        Names of data sets by group, for the report.
    show : callable, optional
        ``show(frame)`` is the report of a data frame of records.
    missing : callable, optional
        ``missing(dataset, folder)`` is why a data set is not available; empty if it is.
    optional : sequence of str
        Systems that are measured only if they are named.
    """

    doc: str | None
    datasets: Sequence[str]
    systems: Mapping[str, Any]
    splits: int
    load: Callable[[str, Path | None], Any]
    split: Callable[[Any, int], Any]
    measure: Measures
    measures: Mapping[str, str]
    config: Callable[[str, str], str] = Study.config
    applies: Callable[[str, str], bool] = Study.applies
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    show: Callable[[Any], str] | None = None
    missing: Callable[[str, Path | None], str] = lambda dataset, folder: ""
    optional: Sequence[str] = ()

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Measure what is missing in a file of records, and print the report of all of them."""
        parser = options(self.doc)
        self.add_options(parser)
        parsed = parser.parse_args(arguments)
        file = Records(parsed.out, tuple(self.measures))
        try:
            study = self.study(parsed)
            records = file.read()
        except ValueError as error:
            parser.error(str(error))
        if parsed.again:
            file.write(r for r in records.values() if r.system not in study.systems or r.dataset not in study.data)
        records, failures = study.resume(file, parsed.jobs)
        print(self.text(records.values(), study))
        for line in failure_lines(failures):
            print(f"failed: {line}", file=sys.stderr)
        return 1 if failures else 0

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """The options that all studies have."""
        parser.add_argument(
            "--out", type=Path, required=True, help="CSV file of the records, resumed if it exists"
        )
        parser.add_argument("--datasets", nargs="+", metavar="NAME", help="all by default")
        parser.add_argument(
            "--systems", nargs="+", metavar="NAME", help="all by default; the first is compared with"
        )
        parser.add_argument("--again", action="store_true", help="measure these systems anew")
        parser.add_argument("--splits", type=positive, help=f"splits of each data set; {self.splits} by default")
        parser.add_argument("--data-dir", type=Path, help="folder of CSV files; $RFFBOOST_DATA by default")
        parser.add_argument("--jobs", type=positive, default=1, help="processes; more than one blurs the times")

    def study(self, arguments: argparse.Namespace) -> Study:
        """What is measured; data sets that are not available are named and left out."""
        check_choices("data set", arguments.datasets or (), self.datasets)
        check_choices("system", arguments.systems or (), [*self.systems])
        if not arguments.out.absolute().parent.is_dir():
            raise ValueError(f"--out: there is no folder {str(arguments.out.absolute().parent)!r}")
        folder = data_folder(arguments.data_dir)
        names = arguments.datasets or self.datasets
        systems = arguments.systems or [name for name in self.systems if name not in self.optional]
        missing = {name: why for name in names if (why := self.missing(name, folder))}
        for name, why in missing.items():
            print(f"left out: {name}: {why}", file=sys.stderr)
        return Study(
            data={name: partial(self.load, name, folder) for name in names if name not in missing},
            systems={name: self.systems[name] for name in systems},
            splits=self.split,
            measures=self.measure,
            columns=tuple(self.measures),
            n_splits=arguments.splits or self.splits,
            config=self.config,
            applies=self.applies,
        )

    def text(self, records: Iterable[Record], study: Study) -> str:
        """The report of the records of a study, and the machine."""
        order = {name: place for place, name in enumerate(study.systems)}
        reported = [r for r in records if r.system in order and r.dataset in study.data]
        frame = as_frame(sorted(reported, key=lambda record: order[record.system]))
        shown = {name: better for name, better in self.measures.items() if better}
        text = report(frame, shown, self.groups) if self.show is None else self.show(frame)
        return f"{text}\n{environment()}"
