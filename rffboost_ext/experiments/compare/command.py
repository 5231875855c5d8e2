"""The command ``rffboost compare``."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..datasets import comma_separated, load, resolve_path
from ..outputs import check_outputs, write_files
from ..records import as_csv
from ..study import progress_bar
from .plots import check_format, draw
from .protocol import MEASURES, Protocol, comparison, measured
from .report import as_json, table
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
    check_files(files, [path for name in chosen if (path := resolve_path(name, data_dir)) is not None])
    names = comma_separated(systems)
    protocol.validate()
    for name in names:
        SYSTEMS.get(name)
    datasets = [load(name, data_dir, target) for name in chosen]
    study = comparison(datasets, names, protocol, plot is not None, jobs)
    with progress_bar(lines=False) as bar:
        records = measured(study, jobs, bar.add, bar.finish)
    render: dict[str, Callable[[Path], bytes]] = {
        "--json": lambda path: as_json(records),
        "--csv": lambda path: as_csv(records, MEASURES),
        "--plot": lambda path: draw(records, protocol, path.suffix[1:].lower()),
    }
    write_files({path: render[option](path) for option, path in files.items()})
    standard_output().print(table(records, datasets, protocol))


def check_files(files: dict[str, Path], inputs: Sequence[Path] = ()) -> None:
    """Raise a ValueError unless all output files can be written and are none of the `inputs`."""
    check_outputs(files, inputs)
    if "--plot" in files:
        if find_spec("matplotlib") is None:
            raise ValueError("--plot needs matplotlib, which is not installed: pip install 'rffboost-ext[plot]'")
        check_format(files["--plot"])


def standard_output() -> Console:
    """The console of standard output; wide enough for any table if it is a pipe or a file."""
    from rich.console import Console

    console = Console(file=sys.stdout)
    return console if console.is_terminal else Console(file=sys.stdout, width=PLAIN_WIDTH)
