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
from rffboost_ext.experiments.study import Task

from .command import Benchmark
from .data import FURTHER, SMALL, SOURCES, Parts, TaskData, load_source, missing_source
from .systems import DEFAULTS, SCORING, applies, configuration, warm_up

FOLDS, TEST_SIZE = 5, 0.3
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


def split(data: TaskData, index: int) -> tuple[str, Parts]:
    """The task, and the parts of split `index`, from 1."""
    return data.task, data.split(TEST_SIZE, index)


def measure(tune: bool, system: System, parts: tuple[str, Parts], task: Task) -> list[dict[str, Any]]:
    """Score and times of a system."""
    kind, (X, y, X_test, y_test) = parts
    warm_up(system.build, kind)
    model, seconds, search_seconds, chosen = fit(system, kind, X, y, tune)
    start = perf_counter()
    predicted = np.ravel(model.predict(X_test))
    predict_seconds = perf_counter() - start
    score = (r2_score if kind == "regression" else accuracy_score)(y_test, predicted)
    values = 100.0 * float(score), seconds, search_seconds, predict_seconds, chosen
    return [dict(zip(MEASURES, values, strict=True))]


def fit(system: System, kind: str, X: Any, y: Any, tune: bool) -> tuple[Any, float, float, dict[str, Any]]:
    """The model, the seconds of its fit and of the search before it, and what that chose."""
    from sklearn.model_selection import GridSearchCV

    model = system.build(kind)
    start = perf_counter()
    if not tune:
        model.fit(X, y)
        return model, perf_counter() - start, 0.0, {}
    search = GridSearchCV(model, system.grid(X), scoring=SCORING[kind], cv=FOLDS, error_score="raise").fit(X, y)
    seconds = float(search.refit_time_)
    return search.best_estimator_, seconds, perf_counter() - start - seconds, search.best_params_


def benchmark(table: Table) -> Benchmark:
    """A table as a script."""
    return Benchmark(
        __doc__,
        table.datasets,
        {name: DEFAULTS[name] for name in table.systems},
        table.splits,
        load_source,
        split,
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
