"""The command ``rffboost compare``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from .datasets import find, load
from .outputs import check_outputs, write_all
from .plots import check_format, draw
from .protocol import Outcome, Protocol, compare, plan
from .report import as_csv, as_json, table
from .systems import SYSTEMS

if TYPE_CHECKING:
    from rich.console import Console

DEFAULT_DATA = ["wine", "wdbc"]
PLAIN_WIDTH = 500

Data = Annotated[
    list[str] | None,
    Argument(
        metavar="DATA",
        help="Data sets: wine or wdbc (which scikit-learn ships), the stem of a CSV or CSV.gz file in "
        "--data-dir, or a path to one.",
        show_default="wine wdbc",
    ),
]
Dir = Annotated[
    str | None,
    Option(metavar="DIR", help="Folder of CSV or CSV.gz files, in it or directly below it.", show_default=False),
]
Target = Annotated[str, Option(metavar="COLUMN", help="The column of a file that holds the labels.")]
Systems = Annotated[
    str, Option(metavar="NAMES", help=f"Systems, separated by commas, out of {', '.join(SYSTEMS.names())}.")
]
Rounds = Annotated[int, Option(help="Boosting rounds of every system.")]
Splits = Annotated[int, Option(help="Random stratified splits per data set.")]
TestSize = Annotated[float, Option(help="Share of the test part.")]
Rate = Annotated[float | None, Option(help="Shrinkage of all systems.", show_default="the papers'")]
Tune = Annotated[bool, Option("--tune", help="Search the papers' grids, 5-fold on the training part.")]
Seed = Annotated[
    int, Option(help="Random state of the first split; it counts up from there, to at most 2**32 - 1.")
]
Jobs = Annotated[int, Option(help="Parallel processes; -1 for one per core.")]
Json = Annotated[Path | None, Option(metavar="F", help="Write all records as JSON.", show_default=False)]
Csv = Annotated[Path | None, Option(metavar="F", help="Write all records as CSV.", show_default=False)]
Plot = Annotated[Path | None, Option(metavar="F.png", help="Draw accuracies.", show_default=False)]


def compare_command(
    data: Data = None,
    data_dir: Dir = None,
    target: Target = "target",
    systems: Systems = "gbrff1,gbrff2,mixture,tree,xgboost",
    rounds: Rounds = 100,
    splits: Splits = 20,
    test_size: TestSize = 0.3,
    learning_rate: Rate = None,
    tune: Tune = False,
    seed: Seed = 1,
    jobs: Jobs = 1,
    json: Json = None,
    csv: Csv = None,
    plot: Plot = None,
) -> None:
    """Compare boosting systems under identical loops: same splits, scaling and number of rounds.

    Prints the mean and standard deviation of test accuracy per data set and system. Without arguments it takes
    about a minute.
    """
    protocol = Protocol(rounds, splits, test_size, learning_rate, tune, seed)
    files = {option: path for option, path in (("--json", json), ("--csv", csv), ("--plot", plot)) if path}
    chosen = data or DEFAULT_DATA
    check_files(files, [path for name in chosen if (path := find(name, data_dir)) is not None])
    names = [name.strip() for name in systems.split(",") if name.strip()]
    protocol.validate()
    for name in names:
        SYSTEMS.get(name)
    datasets = [load(name, data_dir, target) for name in chosen]
    total = len(plan(datasets, names, protocol, jobs))
    outcomes = with_progress(
        total,
        lambda report: compare(datasets, names, protocol, jobs=jobs, curves=plot is not None, progress=report),
    )
    records = [outcome.record for outcome in outcomes]
    render: dict[str, Callable[[Path], bytes]] = {
        "--json": lambda path: as_json(records),
        "--csv": lambda path: as_csv(records),
        "--plot": lambda path: draw(outcomes, protocol, path.suffix[1:].lower()),
    }
    write_all({path: render[option](path) for option, path in files.items()})
    standard_output().print(table(records, datasets, protocol))


def check_files(files: dict[str, Path], inputs: Sequence[Path] = ()) -> None:
    """Raise a ValueError unless all output files can be written without loss of the `inputs`."""
    check_outputs(files, inputs)
    if "--plot" in files:
        if find_spec("matplotlib") is None:
            raise ValueError("--plot needs matplotlib, which is not installed: pip install 'rffboost-ext[plot]'")
        check_format(files["--plot"])


def with_progress(total: int, work: Callable[[Callable[[Outcome], None]], Sequence[Outcome]]) -> Sequence[Outcome]:
    """Do `work` under a progress bar on standard error; it is handed what to call after each outcome."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), Remaining(), console=Console(file=sys.stderr)) as bar:
        task = bar.add_task("comparing", total=total)

        def report(outcome: Outcome) -> None:
            record = outcome.record
            bar.update(task, advance=1, description=f"{record.dataset} {record.system}")

        outcomes = work(report)
        bar.update(task, description="done")
        return outcomes


def standard_output() -> Console:
    """Where tables go; a pipe or a file has no width, so that a table is not folded into 80 columns."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    return console if console.is_terminal else Console(file=sys.stdout, width=PLAIN_WIDTH)


def add_to(app: typer.Typer) -> None:
    """Offer the command in `app`."""
    app.command("compare")(compare_command)
