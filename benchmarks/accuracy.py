"""Accuracy beside XGBoost, LightGBM, HistGradientBoosting and CatBoost, and what it costs.

    python benchmarks/accuracy.py --out DIR [--quick] [--tables ecml wider ...] [--systems ...] [--datasets ...]
        [--splits N] [--threads 1] [--jobs N] [--data-dir DIR] [--redo SYSTEM ...] [--no-run]

All systems meet the same splits in one run, each at its own defaults. DIR/accuracy.csv gets a row per table, data
set, split and system as soon as it is there, and a further run does what is missing: one that was interrupted goes
on. --redo drops the rows of a system first, of the tables that are named. DIR/accuracy.md has the tables,
DIR/speed.json the times of the table "speed". Data are CSV files in --data-dir, by default $RFFBOOST_DATA, or
directly below it, and what scikit-learn has; a data set that cannot be had is named and left out. Needs
``pip install "rffboost-ext[all]"``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
# A script's own folder comes first on the path, and there onnx.py would be taken for the package of that name.
sys.path[:] = [
    str(ROOT),
    *(entry for entry in sys.path if Path(entry or ".").resolve() not in (ROOT, ROOT / "benchmarks")),
]

from benchmarks.speed import POOLS, positive  # noqa: E402

if TYPE_CHECKING:
    from benchmarks.accuracy_run import Selection
    from benchmarks.accuracy_tables import Table

NAMES = ("ecml", "ecml-tuned", "wider", "development", "further", "speed")


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the options, limit the threads of every pool, measure what is missing and write the tables."""
    chosen = parse_options(options(), arguments, check_choices)
    failures = [] if chosen.no_run else [*run_missing(chosen), *time(chosen)]
    write(chosen)
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the results; created if needed")
    parser.add_argument("--quick", action="store_true", help="a sample of each table, in about a minute")
    parser.add_argument("--tables", nargs="+", choices=NAMES, default=list(NAMES), help="all by default")
    parser.add_argument("--systems", nargs="+", metavar="NAME", help="all by default")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="all by default; adult_full only if named")
    parser.add_argument("--splits", type=positive, help="splits of each data set, each table's own by default")
    parser.add_argument("--redo", nargs="+", metavar="SYSTEM", default=[], help="drop the rows of these first")
    parser.add_argument("--no-run", action="store_true", help="write the tables of the rows so far, and no more")
    parser.add_argument("--data-dir", type=Path, help="folder of CSV files; $RFFBOOST_DATA by default")
    parser.add_argument("--threads", type=positive, default=1, help="threads of every system")
    parser.add_argument("--jobs", type=positive, default=1, help="processes; more than one blurs the times")
    return parser


def parse_options(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, check: Callable[[argparse.Namespace], None]
) -> argparse.Namespace:
    """Read and check the options, limit the threads of every pool, and create the folder of the results."""
    chosen = parser.parse_args(arguments)
    for name in POOLS:
        os.environ[name] = str(chosen.threads)
    try:
        chosen.data_dir = data_folder(chosen.data_dir)
        check(chosen)
    except ValueError as error:
        parser.error(str(error))
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def data_folder(folder: Path | None) -> Path | None:
    """The folder of data: the argument or the folder of the environment variable, if any."""
    usual = os.environ.get("RFFBOOST_DATA")
    if folder is None and not usual:
        return None
    source, chosen = ("--data-dir", folder) if folder is not None else ("RFFBOOST_DATA", Path(usual or ""))
    if not chosen.is_dir():
        raise ValueError(f"{source}: {str(chosen)!r} is not a folder")
    return chosen.resolve()


def check_choices(chosen: argparse.Namespace) -> None:
    """Raise a ValueError unless systems and data sets are known and the results can be read and written."""
    from benchmarks import accuracy_data, accuracy_systems
    from benchmarks.accuracy_records import AccuracyRecord
    from rffboost_ext.experiments.outputs import check_folder
    from rffboost_ext.experiments.records import Records

    accuracy_systems.check_names([*(chosen.systems or ()), *chosen.redo])
    accuracy_data.check_names(chosen.datasets or [])
    check_folder("--out", chosen.out)
    file = Records(chosen.out / "accuracy.csv", AccuracyRecord)
    if file.repair():
        print(f"{file.path}: the last line was incomplete and is dropped", file=sys.stderr)
    file.read()


def run_missing(chosen: argparse.Namespace) -> list[str]:
    """Measure the missing records, and return the failures."""
    from benchmarks.accuracy_records import AccuracyRecord
    from rffboost_ext.experiments.records import Records
    from rffboost_ext.experiments.runner import failure_lines, pending, run_all

    file = Records(chosen.out / "accuracy.csv", AccuracyRecord)
    selected, tables = selection(chosen), requested_tables(chosen)
    names = {table.name for table in tables}
    dropped = file.drop(lambda row: row.system in chosen.redo and row.table in names)
    for name, why in selected.missing(tables).items():
        print(f"left out: {name}: {why}", file=sys.stderr)
    rows = file.read()
    wanted = [task for table in tables for task in selected.tasks(table)]
    print(f"{len(pending(wanted, rows))} of {len(wanted)} rows to do, {dropped} dropped", file=sys.stderr)
    return failure_lines(run_all(lambda known: wanted, rows, file, chosen.jobs))


def time(chosen: argparse.Namespace) -> list[str]:
    """Take the missing times, if requested, and return the failures."""
    from benchmarks.accuracy_speed import QUICK, SpeedFile, SpeedSizes, measure_all

    ours = chosen.systems is None or "rffboost" in chosen.systems
    if "speed" not in chosen.tables or not ours:
        return []
    file = SpeedFile(chosen.out / "speed.json")
    if "rffboost" in chosen.redo:
        file.write({})
    sizes = QUICK if chosen.quick else SpeedSizes()
    return measure_all(file, sizes, chosen.threads, lambda text: print(text, file=sys.stderr, flush=True))


def write(chosen: argparse.Namespace) -> None:
    """Write the tables of all rows so far, and print them."""
    from benchmarks.accuracy_records import AccuracyRecord
    from benchmarks.accuracy_report import report
    from benchmarks.accuracy_run import current
    from benchmarks.accuracy_speed import QUICK, SpeedFile, SpeedSizes, speed_section
    from benchmarks.accuracy_tables import TABLES
    from benchmarks.machine import machine
    from rffboost_ext.experiments.records import Records
    from rffboost_ext.utils.files import write_atomically

    rows = current(Records(chosen.out / "accuracy.csv", AccuracyRecord).read().values(), chosen.threads)
    sizes = QUICK if chosen.quick else SpeedSizes()
    speed = speed_section(SpeedFile(chosen.out / "speed.json"), sizes, chosen.threads)
    text = report(TABLES.values(), rows, speed, machine(chosen.threads))
    write_atomically(chosen.out / "accuracy.md", text.encode())
    print(text)


def selection(chosen: argparse.Namespace) -> Selection:
    """The parts of the tables to measure."""
    from benchmarks.accuracy_run import Selection

    systems, datasets = (None if names is None else tuple(names) for names in (chosen.systems, chosen.datasets))
    return Selection(systems, datasets, chosen.splits, chosen.quick, chosen.threads, chosen.data_dir)


def requested_tables(chosen: argparse.Namespace) -> list[Table]:
    """The requested tables, without that of times."""
    from benchmarks.accuracy_tables import TABLES

    return [TABLES[name] for name in chosen.tables if name in TABLES]


if __name__ == "__main__":
    sys.exit(main())
