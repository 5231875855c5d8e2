"""The default model on nested subsets of rows: does more data ever lower the accuracy?

    python -m benchmarks.nested --out FILE.csv [--datasets jagged ...] [--systems 1000 ...] [--splits N]
        [--data-dir DIR]

A system is a number of training rows, the first ones of a split, so that fewer rows are a subset of more. The
score is R2 or the explained share of the log loss of class frequencies, in percent, on the same test rows for all
numbers, which are on both sides of each at which the defaults change.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss, r2_score

from .command import Benchmark
from .data import LARGE, missing_source, source_split
from .generated import Drawn, jagged, smooth
from .splits import Rows, TaskData
from .study import Task
from .systems import SYSTEMS, text_columns, warm_up

SIZES = (
    *(1_000, 2_000, 2_900, 3_100, 5_000, 9_500, 10_500, 20_000, 31_000, 35_000),
    *(60_000, 120_000, 140_000, 150_000, 250_000, 400_000),
)
SOURCES = {draw.__name__: Drawn("regression", draw, SIZES[-1], 50_000) for draw in (jagged, smooth)}
# The most training rows of real data sets.
REAL = {"beijing_pm25": 250_000, "green_taxi": 400_000, "hotel_bookings": 60_000, "weather_aus": 60_000}
MEASURES = {"score": "higher", "seconds": "time"}


def load(name: str, folder: Path | None) -> TaskData | Drawn:
    """A data set, of which splits have enough training rows."""
    if name in SOURCES:
        return SOURCES[name]
    return replace(LARGE[name], train=REAL[name]).read(name, folder)


def measure(n_rows: int, rows: Rows, task: Task) -> list[dict[str, Any]]:
    """Score and processor time of a default fit to the first rows."""
    warm_up(SYSTEMS["RFFBoost"], rows.task, bool(text_columns(rows.X)))
    start = process_time()
    model = SYSTEMS["RFFBoost"].fit(replace(rows, X=rows.X[:n_rows], y=rows.y[:n_rows]))
    return [{"score": 100.0 * explained(model, rows), "seconds": process_time() - start}]


def explained(model: Any, rows: Rows) -> float:
    """R2, or the share of the log loss of the class frequencies that predictions save, on the test rows."""
    if rows.task == "regression":
        return float(r2_score(rows.y_test, model.predict(rows.X_test)))
    share = np.bincount(rows.y_test) / len(rows.y_test)
    least = log_loss(rows.y_test, np.tile(share, (len(rows.y_test), 1)))
    return float(1.0 - log_loss(rows.y_test, model.predict_proba(rows.X_test)) / least)


BENCHMARK = Benchmark(
    __doc__,
    [*SOURCES, *REAL],
    {str(size): size for size in SIZES},
    2,
    load,
    partial(source_split, 1),
    measure,
    MEASURES,
    config=lambda system, dataset: "",
    applies=lambda dataset, system: int(system) <= REAL.get(dataset, SIZES[-1]),
    missing=lambda name, folder: "" if name in SOURCES else missing_source(name, folder),
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
