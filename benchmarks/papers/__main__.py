"""The command ``python -m benchmarks.papers``: a table or figure of the papers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from rffboost_ext.cli import execute
from rffboost_ext.utils.choices import check_choices, comma_separated

from ..study import failure_lines
from .reproduce import TARGETS
from .reproduce.request import PROGRAM, Request, reproduce

Name = Annotated[str, Argument(metavar="TARGET", help="The table or figure; 'list' lists them all.")]
Out = Annotated[
    Path | None, Option(metavar="DIR", help="Folder of the results; created if needed.", show_default=False)
]
Splits = Annotated[
    int | None, Option(help="Random splits, or draws of generated data.", show_default="the paper's")
]
Datasets = Annotated[
    str | None, Option(metavar="NAMES", help="Data sets, separated by commas.", show_default="the paper's")
]
Systems = Annotated[
    str | None, Option(metavar="NAMES", help="Systems, separated by commas.", show_default="the paper's")
]
Points = Annotated[
    str | None,
    Option(
        metavar="NUMBERS",
        help="Positions along the horizontal axis, separated by commas.",
        show_default="the paper's",
    ),
]
Dir = Annotated[
    Path | None,
    Option(metavar="DIR", help="Folder of CSV or CSV.gz files, in it or directly below it.", show_default=False),
]
Jobs = Annotated[int, Option(help="Parallel processes, one thread each.")]
Quick = Annotated[bool, Option("--quick", help="A sample, in about a minute.")]
Limit = Annotated[
    float | None,
    Option(help="Seconds after which a system is stopped, where times are measured.", show_default="100"),
]


def command(
    target: Name,
    out: Out = None,
    splits: Splits = None,
    datasets: Datasets = None,
    systems: Systems = None,
    points: Points = None,
    data_dir: Dir = None,
    jobs: Jobs = 1,
    quick: Quick = False,
    time_limit: Limit = None,
) -> int:
    """Regenerate a table or figure of the papers beside its published values.

    Each measured value is appended to DIR/TARGET.csv at once; a later run measures what is missing. DIR/TARGET.md,
    TARGET.png and TARGET-values.csv show all values so far. Data come from CSV files in --data-dir, from
    scikit-learn or from OpenML; sets that are not available are listed and skipped.
    """
    if target == "list":
        typer.echo("\n".join(f"{name:24}{entry.title}" for name, entry in TARGETS.items()))
        return 0
    if out is None:
        check_choices("target", [target], [*TARGETS])
        raise ValueError("Missing option '--out': the folder of the results.")
    numbers = None if points is None else numbers_of(points)
    names, among = (None if text is None else comma_separated(text) for text in (datasets, systems))
    request = Request(target, out, splits, names, among, data_dir, jobs, quick, time_limit, numbers)
    page, failures = reproduce(request, lambda text: typer.echo(text, err=True))
    typer.echo(page)
    for line in failure_lines(failures):
        typer.echo(f"failed: {line}", err=True)
    return 1 if failures else 0


def numbers_of(text: str) -> list[float]:
    """Numbers that are separated by commas."""
    try:
        return [float(number) for number in comma_separated(text)]
    except ValueError as error:
        raise ValueError(f"--points must be numbers separated by commas, got {text!r}") from error


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; errors become one line on standard error, and the exit code is 2."""
    app = typer.Typer(add_completion=False)
    app.command()(command)
    return execute(app, PROGRAM, argv)


if __name__ == "__main__":
    raise SystemExit(main())
