"""Accuracy and times of RFFBoost, XGBoost, LightGBM, HistGradientBoosting and CatBoost, each at its own defaults.

    python -m benchmarks.accuracy --table ecml --out FILE.csv [--systems ...] [--datasets ...] [--splits N]
        [--data-dir DIR] [--jobs N]

The tables are "ecml", "wider", "development" and "further", and "ecml-tuned", where systems are tuned by 5-fold
cross-validation on the training part. All systems have the same random 70/30 splits, stratified by class. The
score is the accuracy, or for regression R2, in percent. A further run measures what the file lacks.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from rffboost_ext.experiments.compare import System
from rffboost_ext.experiments.compare.protocol import timed_fit
from rffboost_ext.experiments.study import Task

from .command import Benchmark
from .data import FURTHER, SMALL, SOURCES, Parts, load_source, missing_source, task_split
from .systems import DEFAULTS, SCORING, applies, configuration, warm_up

TEST_SIZE = 0.3
PEERS = ("xgboost", "lightgbm", "histgb", "catboost")
MEASURES = {"score": "higher", "fit_seconds": "time", "search_seconds": "", "predict_seconds": "", "chosen": ""}


@dataclass(frozen=True)
class Table:
    """One table: its data sets, systems and splits, and whether the systems are tuned."""

    datasets: tuple[str, ...]
    systems: tuple[str, ...]
    splits: int
    tune: bool = False


TABLES = {
    "ecml": Table(SMALL, ("rffboost", *PEERS, "gbrff2"), 20),
    "ecml-tuned": Table(SMALL, ("rffboost", *PEERS, "gbrff2"), 20, tune=True),
    "wider": Table(
        (
            *("bankmarketing", "adult", "mnist17", "mnist49", "mnist56", "classification_2"),
            *("classification_5", "gaussian_quantiles", "digits"),
            *("diabetes", "friedman1", "friedman2", "friedman3", "sparse_uncorrelated"),
        ),
        ("rffboost", *PEERS, "gbrff2", "rffboost_high"),
        5,
    ),
    "development": Table(
        ("electricity", "elevators", "letter", "magic", "winequality_white"),
        ("rffboost", *PEERS, "rffboost_high"),
        3,
    ),
    "further": Table(tuple(FURTHER), ("rffboost", *PEERS, "rffboost_high"), 3),
}


def measure(tune: bool, system: System, parts: tuple[str, Parts], task: Task) -> list[dict[str, Any]]:
    """Score and times of a system."""
    kind, (X, y, X_test, y_test) = parts
    warm_up(system.build, kind)
    grid = system.grid(X) if tune else []
    model, seconds, search_seconds, chosen = timed_fit(system.build(kind), X, y, grid, SCORING[kind])
    start = perf_counter()
    predicted = np.ravel(model.predict(X_test))
    predict_seconds = perf_counter() - start
    score = (r2_score if kind == "regression" else accuracy_score)(y_test, predicted)
    values = 100.0 * float(score), seconds, search_seconds, predict_seconds, chosen
    return [dict(zip(MEASURES, values, strict=True))]


def benchmark(table: Table) -> Benchmark:
    """A table as a script."""
    return Benchmark(
        __doc__,
        table.datasets,
        {name: DEFAULTS[name] for name in table.systems},
        table.splits,
        load_source,
        partial(task_split, TEST_SIZE, 1),
        partial(measure, table.tune),
        MEASURES,
        config=cache(lambda system, dataset: configuration(DEFAULTS[system], SOURCES[dataset].task, table.tune)),
        applies=lambda dataset, system: applies(system, SOURCES[dataset].task),
        missing=missing_source,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure one table."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--table", choices=TABLES, default="ecml")
    given, others = parser.parse_known_args(arguments)
    return benchmark(TABLES[given.table]).main(others)


if __name__ == "__main__":
    sys.exit(main())
