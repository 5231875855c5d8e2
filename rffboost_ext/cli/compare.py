"""The command ``rffboost compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from ..experiments.compare.protocol import MEASURES, Protocol, check_comparison, measured
from ..experiments.compare.report import comparison_plot, comparison_report
from ..experiments.compare.systems import SYSTEMS
from ..experiments.datasets import load, resolve_path
from ..experiments.records import as_csv
from ..utils.choices import check_choices, comma_separated
from ..utils.files import check_outputs, write_atomically
from ..utils.packages import require_packages
from .progress import bars

DEFAULT_DATA = ["wine", "wdbc", "digits"]
FIGURES = [".png", ".pdf", ".svg"]

Data = Annotated[
    list[str] | None,
    Argument(
        metavar="DATA",
        help="Data sets: wine, wdbc or digits (which scikit-learn ships), the stem of a CSV or CSV.gz file in "
        "--data-dir, or a path to one.",
        show_default=" ".join(DEFAULT_DATA),
    ),
]
Dir = Annotated[
    str | None, Option(metavar="DIR", help="Folder of CSV or CSV.gz files, in it or directly below it.")
]
Target = Annotated[str, Option(metavar="COLUMN", help="The column of a file that holds the labels.")]
Systems = Annotated[
    str, Option(metavar="NAMES", help=f"Systems, separated by commas, out of {', '.join(SYSTEMS)}.")
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
Csv = Annotated[Path | None, Option(metavar="F", help="Write all records as CSV.")]
Plot = Annotated[Path, Option(metavar="F", help=f"Draw accuracies in this file, {', '.join(FIGURES)}.")]


def compare_command(
    data: Data = None,
    data_dir: Dir = None,
    target: Target = "target",
    systems: Systems = "rffboost_default,xgboost_default,gbrff1,gbrff2,mixture,tree,xgboost",
    rounds: Rounds = 100,
    splits: Splits = 10,
    test_size: TestSize = 0.3,
    learning_rate: Rate = None,
    tune: Tune = False,
    seed: Seed = 1,
    jobs: Jobs = 1,
    csv: Csv = None,
    plot: Plot = Path("compare.png"),
) -> None:
    """Compare default models as they come, and boosting systems under identical loops.

    In identical loops, systems have the same splits, scaling and number of rounds. Prints the mean test accuracy
    per data set and system, ranks and times, and draws a figure. Without arguments it takes less than a minute.
    """
    require_packages("rffboost compare", "pandas", "matplotlib")
    protocol = Protocol(rounds, splits, test_size, learning_rate, tune, seed)
    files = {"--plot": plot} | ({"--csv": csv} if csv else {})
    data = data or DEFAULT_DATA
    check_outputs(files, [path for name in data if (path := resolve_path(name, data_dir)) is not None])
    check_choices("suffix of --plot", [plot.suffix.lower()], FIGURES)
    names = comma_separated(systems)
    datasets = [load(name, data_dir, target) for name in data]
    check_comparison(datasets, names, protocol, jobs)
    with bars() as display:
        measurements = measured(datasets, names, protocol, jobs, curves=True)
        records = list(display.track(measurements, len(datasets) * splits * len(names), description="fits"))
    if csv is not None:
        write_atomically(csv, as_csv(records, MEASURES))
    write_atomically(plot, comparison_plot(records, plot.suffix[1:].lower()))
    typer.echo(f"{comparison_report(records, protocol)}\n\nFigure: {plot.resolve()}")
