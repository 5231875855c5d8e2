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
    """Read the options, hold every pool to the threads, do what is missing and write the tables."""
    chosen = ready(options(), arguments, check_choices)
    failures = [] if chosen.no_run else [*fill(chosen), *time(chosen)]
    write(chosen)
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the results; made if need be")
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


def ready(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None, check: Callable[[argparse.Namespace], None]
) -> argparse.Namespace:
    """Read and check the options, hold every pool to the threads, and make the folder of the results."""
    chosen = parser.parse_args(arguments)
    for name in POOLS:
        os.environ[name] = str(chosen.threads)
    try:
        chosen.data_dir = checked_folder(chosen.data_dir)
        check(chosen)
    except ValueError as error:
        parser.error(str(error))
    chosen.out.mkdir(parents=True, exist_ok=True)
    return chosen


def checked_folder(folder: Path | None) -> Path | None:
    """The folder of data: the given one, else that of the environment, if there is either."""
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
    from benchmarks.accuracy_rows import Journal
    from rffboost_ext.experiments.compare.outputs import check_folder

    accuracy_systems.check_names([*(chosen.systems or ()), *chosen.redo])
    accuracy_data.check_names(chosen.datasets or [])
    check_folder("--out", chosen.out)
    journal = Journal(chosen.out / "accuracy.csv")
    if journal.mend():
        print(f"{journal.path}: the last line was unfinished and is dropped", file=sys.stderr)
    journal.rows()


def fill(chosen: argparse.Namespace) -> list[object]:
    """Add the rows that are missing; what failed."""
    from benchmarks.accuracy_rows import Journal
    from benchmarks.accuracy_run import Pace, pending, run_all

    journal, selection, tables = Journal(chosen.out / "accuracy.csv"), selected(chosen), named(chosen)
    names = {table.name for table in tables}
    dropped = journal.drop(lambda row: row.system in chosen.redo and row.table in names)
    for name, why in selection.missing(tables).items():
        print(f"left out: {name}: {why}", file=sys.stderr)
    rows = journal.rows()
    wanted = [task for table in tables for task in selection.tasks(table)]
    tasks = pending(wanted, rows)
    print(f"{len(tasks)} of {len(wanted)} rows to do, {dropped} dropped", file=sys.stderr)
    return list(run_all(tasks, chosen.jobs, Pace(rows.values()), journal.append))


def time(chosen: argparse.Namespace) -> list[object]:
    """Take the times that are missing, if they are wanted; what failed."""
    from benchmarks.accuracy_speed import QUICK, Sizes, SpeedFile, measure_all

    ours = chosen.systems is None or "rffboost" in chosen.systems
    if "speed" not in chosen.tables or not ours:
        return []
    file = SpeedFile(chosen.out / "speed.json")
    if "rffboost" in chosen.redo:
        file.write({})
    sizes = QUICK if chosen.quick else Sizes()
    return list(measure_all(file, sizes, chosen.threads, lambda text: print(text, file=sys.stderr, flush=True)))


def write(chosen: argparse.Namespace) -> None:
    """Write the tables of all rows so far, and print them."""
    from benchmarks.accuracy_report import report
    from benchmarks.accuracy_rows import Journal
    from benchmarks.accuracy_run import current
    from benchmarks.accuracy_speed import QUICK, Sizes, SpeedFile, speed_section
    from benchmarks.accuracy_tables import TABLES
    from benchmarks.machine import machine
    from rffboost_ext.experiments.compare.outputs import write_all

    rows = current(Journal(chosen.out / "accuracy.csv").rows().values(), chosen.threads)
    sizes = QUICK if chosen.quick else Sizes()
    speed = speed_section(SpeedFile(chosen.out / "speed.json"), sizes, chosen.threads)
    text = report(TABLES.values(), rows, speed, machine(chosen.threads))
    write_all({chosen.out / "accuracy.md": text.encode()})
    print(text)


def selected(chosen: argparse.Namespace) -> Selection:
    """What of the tables is wanted."""
    from benchmarks.accuracy_run import Selection

    systems, datasets = (None if names is None else tuple(names) for names in (chosen.systems, chosen.datasets))
    return Selection(systems, datasets, chosen.splits, chosen.quick, chosen.threads, chosen.data_dir)


def named(chosen: argparse.Namespace) -> list[Table]:
    """The tables that were named, without that of times."""
    from benchmarks.accuracy_tables import TABLES

    return [TABLES[name] for name in chosen.tables if name in TABLES]


if __name__ == "__main__":
    sys.exit(main())
