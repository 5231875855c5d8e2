"""What a model takes to deploy: accuracy, size of the ONNX file and time of a prediction, beside peers.

    python benchmarks/sizes.py [--data-dir FOLDER] [--splits 3] [--json F]

The 15 sets of the ECML 2020 paper, each system at its own defaults. Our default model is also compressed, and
there is one of 100 cosines. A prediction is the system's own, of classes, in Python, from float32, of 10,000 rows
made of the test rows, or of one alone; all systems of a split are timed in turns, on one thread.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

if __package__ in (None, ""):
    # In the place of this folder, where a script is called like the package onnx.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from benchmarks.accuracy_data import SMALL, SOURCES, Array, load_dataset
from benchmarks.accuracy_systems import catboost, lightgbm, rffboost, xgboost
from benchmarks.machine import describe_machine, machine
from benchmarks.speed import positive, require_writable
from benchmarks.timing import in_turns
from onnx_export import to_onnx
from rffboost_ext import compress

THREADS, ROWS = 1, 10_000
# Turns in which predictions of all rows are timed, and those of one row.
TURNS, TURNS_ALONE = 5, 51
Fit = Callable[[Array, Array, int], dict[str, Any]]
"""Fitted models by title, from training rows, their classes and a number of rounds, 0 for the default."""


def ours(X: Array, y: Array, rounds: int) -> dict[str, Any]:
    """The default model, and a small one that has its scores."""
    model = rffboost("binary", THREADS, n_estimators=rounds or None).fit(X, y)
    return {"RFFBoost": model, "RFFBoost, compressed": compress(model, X, random_state=0)}


def hundred(X: Array, y: Array, rounds: int) -> dict[str, Any]:
    """A model of at most 100 cosines from the start."""
    given = {"learner": "rff_newton", "n_estimators": rounds or 100, "n_folds": 1}
    return {"RFFBoost, 100 cosines": rffboost("binary", THREADS, **given).fit(X, y)}


def peers(X: Array, y: Array, rounds: int) -> dict[str, Any]:
    """The others."""
    made = {"XGBoost": xgboost, "LightGBM": lightgbm, "CatBoost": catboost}
    more = {"n_estimators": rounds} if rounds else {}
    return {title: make("binary", THREADS).set_params(**more).fit(X, y) for title, make in made.items()}


def size(model: Any) -> int:
    """Bytes of the model as an ONNX file."""
    if not type(model).__module__.startswith("catboost"):
        return len(to_onnx(model).SerializeToString())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        model.save_model(str(path), format="onnx")
        return path.stat().st_size


def records_of(name: str, data_dir: Path | None, split: int, rounds: int) -> Iterator[dict[str, Any]]:
    """A row for each system on one split of a set."""
    data = load_dataset(name, data_dir)
    train, test = data.split(split)
    X, y, new = data.X[train], data.y[train], data.X[test]
    models = {title: model for fit in (ours, hundred, peers) for title, model in fit(X, y, rounds).items()}
    many = np.resize(np.arange(len(new)), ROWS)
    rows = np.ascontiguousarray(new[many], dtype=np.float32)
    times = zip(timed(models, rows, TURNS), timed(models, rows[:1], TURNS_ALONE), strict=True)
    for (title, model), (seconds, alone) in zip(models.items(), times, strict=True):
        accuracy = 100.0 * float(np.mean(np.ravel(model.predict(new)) == data.y[test]))
        found = {"accuracy": accuracy, "bytes": size(model), "seconds": seconds, "alone": alone}
        yield {"data": name, "split": split, "system": title} | found


def timed(models: dict[str, Any], rows: Array, turns: int) -> list[float]:
    """The median seconds that each model takes to predict some rows, in turns."""
    calls = ((lambda model=model: model.predict(rows)) for model in models.values())
    return [median(seconds) for seconds in in_turns(*calls, turns=turns)]


def show(records: list[dict[str, Any]], facts: dict[str, object]) -> None:
    """Print the mean accuracy, and medians of sizes and times over the sets."""
    frame = pd.DataFrame(records)
    figures = ["accuracy", "bytes", "seconds", "alone"]
    means = frame.groupby(["system", "data"], sort=False)[figures].mean().reset_index()
    table = Table(
        "system", "accuracy, mean", "ONNX file, median", f"{ROWS:,} rows, median", "1 row", "largest file"
    )
    for system, rows in means.groupby("system", sort=False):
        files = [f"{1e-3 * value:,.0f} kB" for value in (rows["bytes"].median(), rows["bytes"].max())]
        durations = [f"{1e3 * rows[kind].median():.2f} ms" for kind in ("seconds", "alone")]
        table.add_row(str(system), f"{rows['accuracy'].mean():.2f}", files[0], *durations, files[1])
    console = Console(width=110)
    console.print(table)
    console.print(f"{frame['data'].nunique()} sets, {frame['split'].max()} splits of 70/30", highlight=False)
    console.print(describe_machine(facts), highlight=False)


def main(arguments: Sequence[str] | None = None) -> None:
    """Parse arguments, measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds, one split of two sets: no figures")
    parser.add_argument("--data-dir", type=Path, help="folder with the sets as CSV, or with folders of them")
    parser.add_argument("--splits", type=positive, default=3)
    parser.add_argument("--json", type=Path, help="where to write all figures")
    given = parser.parse_args(arguments)
    require_writable(parser, json=given.json)
    if given.data_dir is not None and not given.data_dir.is_dir():
        parser.error(f"--data-dir: {str(given.data_dir)!r} is not a folder")
    names = [name for name in SMALL if not SOURCES[name].missing(given.data_dir)]
    print("left out, not found:", *(set(SMALL) - set(names) or {"nothing"}), file=sys.stderr)
    rounds = 20 if given.quick else 0
    if given.quick:
        names, given.splits = ["wine", "wdbc"], 1
    facts, records = machine(THREADS), []
    for name in names:
        for split in range(1, given.splits + 1):
            for record in records_of(name, given.data_dir, split, rounds):
                records.append(record)
                print(*record.values(), file=sys.stderr, flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps({"machine": facts, "records": records}, indent=1) + "\n")
    show(records, facts)


if __name__ == "__main__":
    main()
