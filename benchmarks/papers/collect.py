"""Collect the records of ``python -m benchmarks.papers`` in ``benchmarks/papers/results``, with tables.

    python -m benchmarks.papers.collect FOLDER [FOLDER ...]

Each folder is the --out of runs that have written a page; they may continue. Their rows join the earlier ones: of
two rows of the same data set, system, split and position the new one counts. RESULTS/TARGET.csv has a row per
measured value, runs.csv the command and the environment of each run, README.md the tables beside the published
values.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from rffboost_ext.experiments.records import Key, Record, as_frame

from .reproduce import TARGETS
from .reproduce.request import PROGRAM, Request, shared_records

RESULTS = Path(__file__).resolve().parent / "results"
RUNS = "runs.csv"
KEY = ["dataset", "system", "split", "x"]
COLUMNS = [*KEY, "score", "seconds"]
DIGITS = {"score": 4, "seconds": 2}
RUN = ["target", "command", "environment"]
FOOT = re.compile(rf"^`({PROGRAM} [^`]*)`\. (.*) Seconds in all: ", re.MULTILINE)
SPLITS = re.compile(r" --splits \d+")
LIMIT = re.compile(r" --time-limit ([\d.]+)")
DRAWN = ("ecml2020-figure1", "letarte2019-figure2")
"""Targets that are drawings of a toy; their rows say little."""
HEAD = """# Reproduced

What `python -m benchmarks.papers` has measured so far, beside the published values: in brackets what was
published and the difference. Data sets, systems and splits that are missing have not been run.

`TARGET.csv` has a row per value: data set, system, split, position along the horizontal axis (x), score in percent
or seconds, and the seconds that it took, the search for hyperparameters included. `runs.csv` has the command and
the environment of each run; the number of splits is that of the rows, and the machine had other work to do at the
same time, so that seconds are upper bounds. GBRFF1 and GBRFF2 search landmarks and frequencies by L-BFGS round
after round: the last digit of another version or processor moves the score of a split by a few points, and means
over 20 splits of sonar and newthyroid by 0.2 and 0.1. This page is written from these files by
`python -m benchmarks.papers.collect FOLDER ...`, and a test compares it with them.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Collect, and write the results."""
    parser = ArgumentParser(description=f"Keep the rows of '{PROGRAM}' in benchmarks/papers/results.")
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER", help="the --out of runs")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the rows are kept")
    options = parser.parse_args(arguments)
    try:
        collect(options.folders, options.results)
    except ValueError as error:
        parser.error(str(error))
    return 0


def collect(folders: Sequence[Path], results: Path = RESULTS) -> None:
    """Join the rows of all folders to the results.

    Raises
    ------
    ValueError
        If there is no page in a folder, or a file in it is not what the command writes.
    """
    rows, runs = dict(kept(results)), runs_of(results)
    for folder in folders:
        names = [name for name in TARGETS if name not in DRAWN and (folder / f"{name}.md").exists()]
        if not names:
            raise ValueError(f"{str(folder)!r} has no page of any of {', '.join(sorted(set(TARGETS) - {*DRAWN}))}")
        for name in names:
            newer = as_frame(all_rows(folder, name).values())[COLUMNS].round(DIGITS)
            rows[name] = newest([rows.get(name, newer[:0]), newer], KEY)
            runs = newest([runs, run_of(folder / f"{name}.md", name)], ["target", "without"])
    write(rows, runs, results)


def all_rows(folder: Path, name: str) -> dict[Key, Record]:
    """The rows of a target in a folder, those that it shares with other targets there included."""
    request = Request(name, folder)
    return shared_records(request, TARGETS[name]) | request.records().read()


def write(rows: Mapping[str, pd.DataFrame], runs: pd.DataFrame, results: Path) -> None:
    """Write all files of the results."""
    texts = {f"{name}.csv": frame.to_csv(index=False, lineterminator="\n") for name, frame in rows.items()}
    texts |= {RUNS: runs[RUN].to_csv(index=False, lineterminator="\n"), "README.md": report(rows, runs)}
    results.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (results / name).write_text(text)


def newest(frames: Sequence[pd.DataFrame], key: list[str]) -> pd.DataFrame:
    """All lines in the order of their keys; of two of a key the last one."""
    lines = pd.concat([frame for frame in frames if len(frame)] or frames[:1])
    return lines.drop_duplicates(key, keep="last").sort_values(key, kind="stable").reset_index(drop=True)


def kept(results: Path = RESULTS) -> dict[str, pd.DataFrame]:
    """The rows of each target that are kept."""
    return {name: pd.read_csv(path) for name in TARGETS if (path := results / f"{name}.csv").exists()}


def runs_of(results: Path = RESULTS) -> pd.DataFrame:
    """The runs that are kept."""
    path = results / RUNS
    return as_runs(pd.read_csv(path) if path.exists() else pd.DataFrame(columns=RUN))


def run_of(page: Path, target: str) -> pd.DataFrame:
    """The run that wrote a page."""
    foot = FOOT.search(page.read_text())
    if foot is None:
        raise ValueError(f"{str(page)!r} is no page of '{PROGRAM}': it has no line with the command")
    return as_runs(pd.DataFrame([(target, *foot.groups())], columns=RUN))


def as_runs(frame: pd.DataFrame) -> pd.DataFrame:
    """Runs, and what tells them apart: a further run of more splits is the same one."""
    return frame.assign(without=[SPLITS.sub("", command) for command in frame["command"]])


def report(rows: Mapping[str, pd.DataFrame], runs: pd.DataFrame) -> str:
    """The page of all results."""
    return "\n".join([HEAD, *(section(name, rows[name], runs) for name in TARGETS if name in rows)])


def section(name: str, frame: Any, runs: pd.DataFrame) -> str:
    """The tables of a target, and the commands of its rows."""
    target = TARGETS[name]
    mine = runs[runs["target"] == name]
    commands = [f"- `{command}`" for command in mine["command"]]
    made = "\n".join([*commands, *(f"- {environment}" for environment in mine["environment"].unique())])
    size = f"{len(frame):,} values in {frame['seconds'].sum() / 3600.0:.1f} hours of one core."
    limits = LIMIT.findall(" ".join(mine["command"])) or [target.full.time_limit]
    text = target.tables(frame, replace(target.full, time_limit=float(limits[-1])))
    tables = re.sub("^## ", "### ", text.rstrip("\n"), flags=re.MULTILINE)
    parts = [f"## {target.title}", target.about, tables, size, made]
    return "\n\n".join(part for part in parts if part) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
