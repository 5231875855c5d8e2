"""What the defaults of the estimators were chosen by: variants beside them, on splits that no table uses.

    python benchmarks/defaults.py --out DIR [--quick] [--variants ...] [--datasets ...] [--splits N]
        [--threads 1] [--data-dir DIR] [--no-run]

DIR/defaults.csv gets a row per variant, data set and split as soon as it is there, and a further run does what is
missing. DIR/defaults.md has the table: the mean over the data sets of each kind, the paired difference from the
defaults with its standard error over data sets and splits, and the ratio of times. A line of fewer fits is of
fewer data sets: only its difference compares. Data are found as ``benchmarks/accuracy.py`` finds them, and split
as there, but with random states from 1001 on. The files of that name beside this script are what was found, on one
split and one thread. Variants of the rate have five folds and the patience of short steps.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parents[1]
sys.path[:] = [
    str(ROOT),
    *(entry for entry in sys.path if Path(entry or ".").resolve() not in (ROOT, ROOT / "benchmarks")),
]

from benchmarks.accuracy import parse_options  # noqa: E402
from benchmarks.speed import positive  # noqa: E402

if TYPE_CHECKING:
    from benchmarks.defaults_run import DefaultsRecord, Key
    from rffboost_ext.experiments.records import Records


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the options, do what is missing and write the table."""
    chosen = parse_options(options(), arguments, check_names)
    # NumPy is imported once the pools are held.
    from benchmarks.defaults_run import DefaultsRecord
    from rffboost_ext.experiments.records import Records
    from rffboost_ext.utils.files import write_atomically

    file = Records(chosen.out / "defaults.csv", DefaultsRecord)
    file.repair()
    failures = [] if chosen.no_run else run_missing(chosen, file)
    text = report(file.read())
    write_atomically(chosen.out / "defaults.md", text.encode())
    print(text)
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder of the results; created if needed")
    parser.add_argument("--quick", action="store_true", help="two variants on two data sets")
    parser.add_argument("--variants", nargs="+", metavar="NAME", help="all by default")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="all by default")
    parser.add_argument("--splits", type=positive, default=3, help="splits of each data set")
    parser.add_argument("--no-run", action="store_true", help="write the table of the rows so far, and no more")
    parser.add_argument("--data-dir", type=Path, help="folder of CSV files; $RFFBOOST_DATA by default")
    parser.add_argument("--threads", type=positive, default=1, help="threads of every fit")
    return parser


def check_names(chosen: argparse.Namespace) -> None:
    """Set the variants and data sets to measure; raise a ValueError for an unknown one."""
    from benchmarks.defaults_run import GROUPS, REFERENCE, variants

    known = {"variants": list(variants()), "datasets": [name for group in GROUPS.values() for name in group]}
    quick = {"variants": [REFERENCE, "fast"], "datasets": ["wine", "heart"]}
    for option, names in known.items():
        given = getattr(chosen, option) or (quick if chosen.quick else known)[option]
        unknown = [name for name in given if name not in names]
        if unknown:
            raise ValueError(f"--{option}: unknown {unknown[0]!r}; there are {', '.join(names)}")
        setattr(chosen, option, given)


def run_missing(chosen: argparse.Namespace, file: Records[DefaultsRecord]) -> list[str]:
    """Measure what is missing, append it to the file, and return the failures."""
    from benchmarks.accuracy_data import SOURCES
    from benchmarks.defaults_run import make_tasks
    from rffboost_ext.experiments.runner import failure_lines, run_all

    for dataset in chosen.datasets:
        if why := SOURCES[dataset].missing(chosen.data_dir):
            print(f"left out: {dataset}: {why}", file=sys.stderr)
    tasks = make_tasks(chosen.variants, chosen.datasets, chosen.splits, chosen.threads, chosen.data_dir)
    return failure_lines(run_all(lambda known: tasks, file.read(), file, 1))


def report(rows: Mapping[Key, DefaultsRecord]) -> str:
    """The table in Markdown, on what each variant and the defaults have both been measured on."""
    from benchmarks.defaults_run import GROUPS

    names = list(dict.fromkeys(variant for variant, _, _ in rows))
    head = ["variant", *GROUPS, "difference", "time", "fits"]
    lines = [" | ".join(head), " | ".join("---" for _ in head)]
    lines += [" | ".join(cells(name, rows)) for name in names]
    return "\n".join(f"| {line} |" for line in lines) + "\n"


def cells(variant: str, rows: Mapping[Key, DefaultsRecord]) -> list[str]:
    """One line of the table."""
    import numpy as np

    from benchmarks.defaults_run import GROUPS, REFERENCE

    shared = [key[1:] for key in rows if key[0] == variant and (REFERENCE, *key[1:]) in rows]
    if not shared:
        return [variant, *("" for _ in GROUPS), "", "", "0"]
    pairs = [(rows[variant, *key], rows[REFERENCE, *key]) for key in shared]
    gaps = np.array([ours.score - base.score for ours, base in pairs])
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else float("nan")
    ratio = np.exp(np.mean([np.log(ours.seconds / base.seconds) for ours, base in pairs]))
    means = [
        group_mean([rows[variant, *key].score for key in shared if key[0] in group]) for group in GROUPS.values()
    ]
    return [variant, *means, f"{gaps.mean():+.2f} ± {error:.2f}", f"{ratio:.2f}", str(len(gaps))]


def group_mean(scores: list[float]) -> str:
    """The mean, if there is one."""
    return f"{sum(scores) / len(scores):.2f}" if scores else ""


if __name__ == "__main__":
    sys.exit(main())
