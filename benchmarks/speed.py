"""Speed beside other systems: a table of ratios, and the papers' figure 4.

    python benchmarks/speed.py [--quick] [--threads 1] [--json F] [--plot F.png] [--limit 10]

All rows take seven minutes on a machine that does nothing else, the figure some minutes on top; --quick takes
one or two: every row, of fewer rows of data. Lines on standard error tell what runs, and the ratios so far.

The members of a pair are timed in turns in one run, so that a busy machine slows both; medians of at least five
turns after a warm-up count. Where more processes run than there are cores, the longer member of a pair is
interrupted more often: such ratios mean little. Needs ``pip install "rffboost-ext[all]"``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, hold every pool to the threads, measure, print and write."""
    parser = options()
    chosen = parser.parse_args(arguments)
    for name in POOLS:
        os.environ[name] = str(chosen.threads)
    # A script's own folder comes first on the path, and there onnx.py would be taken for the package of that name.
    sys.path[:] = [
        str(ROOT),
        *(entry for entry in sys.path if Path(entry or ".").resolve() != ROOT / "benchmarks"),
    ]
    from rffboost_ext.experiments.outputs import write_files

    require_writable(parser, json=chosen.json, plot=chosen.plot)
    try:
        check_plot(chosen.plot)
    except ValueError as error:
        parser.error(str(error))
    write_files(measured(chosen))


def options() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small workloads: one or two minutes, not seven")
    parser.add_argument("--threads", type=positive, default=1, help="threads of every system")
    parser.add_argument("--json", type=Path, help="write rows, times of all turns and machine to this file")
    parser.add_argument("--plot", type=Path, help="draw figure 4 into this file")
    parser.add_argument("--limit", type=duration, help="seconds per fit in figure 4 (10, or 0.5 with --quick)")
    return parser


def positive(text: str) -> int:
    """A whole number of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, got {text!r}")
    return int(text)


def require_writable(parser: argparse.ArgumentParser, **files: Path | None) -> None:
    """End with a message unless the files of these options can be written, before anything is measured."""
    from rffboost_ext.experiments.outputs import check_outputs

    try:
        check_outputs({f"--{name}": path for name, path in files.items() if path is not None})
    except ValueError as error:
        parser.error(str(error))


def duration(text: str) -> float:
    """A finite number of seconds above 0."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"must be a number above 0, got {text!r}")
    return number


def check_plot(path: Path | None) -> None:
    """Raise a ValueError unless `path`, if given, ends in a format that can be drawn."""
    from rffboost_ext.experiments.compare.plots import check_format

    if path is not None:
        check_format(path)


def measured(chosen: argparse.Namespace) -> dict[Path, bytes]:
    """Print the table, and return the files that were asked for."""
    from benchmarks import figure4
    from benchmarks.machine import machine
    from benchmarks.table import rows_of, show
    from benchmarks.workloads import MEASURES, QUICK, Sizes

    facts = machine(chosen.threads)
    sizes = QUICK if chosen.quick else Sizes()
    rows = rows_of(MEASURES, sizes, chosen.threads)
    show(rows, facts, chosen.quick)
    result = {"machine": facts, "quick": chosen.quick, "rows": [row.record() for row in rows]}
    files = {}
    if chosen.plot is not None:
        limit = chosen.limit or (0.5 if chosen.quick else 10.0)
        result["figure"] = curves = figure4.curves(limit, chosen.threads)
        files[chosen.plot] = figure4.draw(curves, chosen.threads, chosen.plot.suffix[1:])
    if chosen.json is not None:
        files[chosen.json] = (json.dumps(result, indent=1) + "\n").encode()
    return files


if __name__ == "__main__":
    main()
