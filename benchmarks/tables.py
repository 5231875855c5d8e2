"""Accuracy, times and sizes of all systems, each at its own defaults, in tables of data sets.

    python -m benchmarks.tables --out FILE.csv [--tables ecml ...] [--systems ...] [--datasets ...] [--splits 1]
        [--data-dir DIR] [--again]

"ecml" are the 15 sets of the ECML 2020 paper; "few", "medium" and "many" 28 development sets with 1,000, 4,000 and
up to 8,400 training rows; "large" sets of more than 100,000 rows; "generated" 400,000 and 1,000,000 rows; "wide"
many columns; "structured" later rows or other groups; "made" needs no file; "further" needs further.R. The score
is the accuracy or R2, in percent. Times are CPU seconds of one thread: of a fit, and of predictions of classes or
targets of 10,000 rows and of one. The loss is the log loss or the root mean squared error. A further run measures
what the file lacks; `--again` measures the given systems anew.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from statistics import median
from time import process_time
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, log_loss, r2_score, root_mean_squared_error

from rffboost_ext.experiments.report import markdown, plus_minus, table_of_datasets
from rffboost_ext.experiments.summary import Summary

from .command import Benchmark
from .data import (
    DEVELOPMENT,
    FEW,
    FURTHER,
    GENERATED,
    LARGE,
    MEDIUM,
    SMALL,
    STRUCTURED,
    load_source,
    missing_source,
    source_split,
)
from .machine import installed
from .splits import Array, Rows
from .study import Task, settings_digest
from .systems import SYSTEMS, System, size, text_columns, warm_up
from .timing import in_turns

TABLES: dict[str, Sequence[str]] = {
    "ecml": SMALL,
    "few": [*FEW],
    "medium": [*MEDIUM],
    "many": [*DEVELOPMENT],
    "large": [*LARGE],
    "generated": [*GENERATED],
    "wide": ["classification_wide", "clusters_wide", "friedman1_wide", "linear_wide", "sparse_wide"],
    "structured": [*STRUCTURED],
    "made": [
        *("classification-10000", "classification_2", "classification_5", "gaussian_quantiles", "digits"),
        *("diabetes", "friedman1", "friedman2", "friedman3"),
    ],
    "further": [*FURTHER],
}
DEFAULTS = [*SYSTEMS][: [*SYSTEMS].index("XGBoost") + 1]
REFERENCE = "LightGBM"
"""What times and Elo are relative to, if it is measured."""
PREDICTED, BINS, LEAST_RATED = 10_000, 15, 5
MEASURES = (
    *("score", "error", "loss", "calibration_error", "fit_seconds", "predict_seconds", "row_seconds", "bytes"),
    *("rows", "features", "test_rows", "seed"),
)


def measure(system: System, rows: Rows, task: Task) -> list[dict[str, Any]]:
    """All measures of a system on a split."""
    warm_up(system, rows.task, bool(text_columns(rows.X)))
    start = process_time()
    model = system.fit(rows)
    seconds = process_time() - start
    X = system.features(rows.X_test)
    times = [prediction_seconds(system, model, X, *workload) for workload in ((PREDICTED, 3), (1, 21))]
    shape = (*rows.X.shape, len(rows.y_test), task.split)
    values = (*quality(model, X, rows), seconds, *times, size(model), *shape)
    return [dict(zip(MEASURES, values, strict=True))]


def prediction_seconds(system: System, model: Any, X: Any, n: int, turns: int) -> float:
    """The median time of a prediction of n rows, made of the test rows."""
    places = np.resize(np.arange(len(X)), n)
    rows = X[places] if isinstance(X, np.ndarray) else X.iloc[places]
    (seconds,) = in_turns(partial(model.predict, rows, **system.limits), turns=turns, clock=process_time)
    return median(seconds)


def quality(model: Any, X: Any, rows: Rows) -> tuple[float, float, float, float | None]:
    """Score, error, loss and calibration error on the test rows; a regression has no calibration error."""
    y, predicted = rows.y_test, np.ravel(model.predict(X))
    if rows.task == "regression":
        score = float(r2_score(y, predicted))
        return 100.0 * score, 1.0 - score, float(root_mean_squared_error(y, predicted)), None
    score, chances = float(accuracy_score(y, predicted)), model.predict_proba(X)
    loss = float(log_loss(y, chances, labels=np.arange(chances.shape[1])))
    return 100.0 * score, 1.0 - score, loss, calibration_error(y, chances)


def calibration_error(y: Array, chances: Array) -> float:
    """Mean gap between confidence and accuracy in 15 bins of the confidence, weighted by their rows.

    The expected calibration error of Guo et al., On calibration of modern neural networks, ICML 2017.
    """
    confidence, right = chances.max(axis=1), chances.argmax(axis=1) == y
    bins = np.minimum(BINS * confidence, BINS - 1).astype(int)
    return float(np.abs(np.bincount(bins, right - confidence)).sum() / len(y))


def show(tables: Mapping[str, Sequence[str]], frame: Any) -> str:
    """The tables of the records, of the data sets that all systems have."""
    parts = []
    for name, datasets in tables.items():
        rows = frame[frame["dataset"].isin(list(datasets))]
        if len(rows):
            summary = Summary(rows, datasets=datasets, systems=[*SYSTEMS])
            shared = rows[rows["dataset"].isin(summary.shared)].astype({"calibration_error": float})
            means = shared.groupby(["system", "dataset"], sort=False).mean(numeric_only=True)
            parts += [f"### {name}", scores_table(means, summary), costs_table(means, summary)]
            parts += [elo_table(shared, summary), table_of_datasets(summary)]
    return "\n".join(part for part in parts if part)


def scores_table(means: Any, summary: Summary) -> str:
    """Scores and errors of each system.

    The rank of each of our systems is that among it and those of others. The error is a geometric
    mean, in which less than half of a test row counts as half a row. The log loss and the calibration error are
    means over the classifications.
    """
    errors = means["error"].clip(lower=0.5 / means["test_rows"])
    classes = means[means["calibration_error"].notna()]
    gaps, lines = summary.differences(), []
    for name in summary.columns:
        gap = gaps.loc[name]
        minus = "" if name == summary.columns[0] else f"{gap['difference']:+.2f}{plus_minus(gap['error'])}"
        line = [
            name,
            f"{summary.overall[name]:.2f}",
            minus,
            f"{rank(name, summary):.2f}",
            f"{mean_ratio(errors[name]):.4f}",
        ]
        if len(classes):
            line += [f"{classes.loc[name, key].mean():.4f}" for key in ("loss", "calibration_error")]
        lines.append(line)
    header = ["mean", f"minus {summary.columns[0]}", "rank", "error", "log loss", "calibration"]
    return markdown([f"{len(summary.shared)} sets", *header[: len(lines[0]) - 1]], lines)


def rank(name: str, summary: Summary) -> float:
    """The average rank of a system among those of others, and itself or the first of ours."""
    ours = [system for system in summary.columns if SYSTEMS[system].package == "rffboost-ext"]
    compared = name if name in ours else next(iter(ours), name)
    kept = [system for system in summary.columns if system not in ours or system == compared]
    return float(summary.ranks(summary.mean[kept])[name])


def costs_table(means: Any, summary: Summary) -> str:
    """Fits in LightGBM's time, a geometric mean, and medians of sizes of files and times of predictions."""
    reference, lines = reference_of(summary), []
    for name in summary.columns:
        rows = means.loc[name]
        lines.append(
            [
                name,
                f"{mean_ratio(rows['fit_seconds'] / means.loc[reference, 'fit_seconds']):.2f}",
                f"{1e-3 * rows['bytes'].median():,.0f}",
                f"{1e3 * rows['predict_seconds'].median():.1f}",
                f"{1e3 * rows['row_seconds'].median():.2f}",
            ]
        )
    return markdown(["costs", f"fit, {reference}'s", "file, kB", "10,000 rows, ms", "1 row, ms"], lines)


def reference_of(summary: Summary) -> str:
    """LightGBM, if it is measured, or else the first system."""
    return REFERENCE if REFERENCE in summary.columns else summary.columns[0]


def mean_ratio(values: Any) -> float:
    """The geometric mean of positive numbers."""
    return float(np.exp(np.log(values).mean()))


def elo_table(frame: Any, summary: Summary) -> str:
    """Elo of the loss with its interval of 95 %, and the share of comparisons won, if bencheval is installed."""
    if not installed("bencheval") or len(summary.columns) < 2 or len(summary.shared) < LEAST_RATED:
        return ""
    from bencheval.evaluator import BenchmarkEvaluator

    judge = BenchmarkEvaluator("system", "dataset", "loss", columns_to_agg_extra=None, seed_column="split")
    board = judge.leaderboard(
        frame[["system", "dataset", "split", "loss"]],
        include_improvability=False,
        elo_kwargs={"calibration_framework": reference_of(summary), "calibration_elo": 1_000},
    )
    lines = [
        [name, f"{row['elo']:.0f}", f"+{row['elo+']:.0f}, -{row['elo-']:.0f}", f"{100.0 * row['winrate']:.0f}"]
        for name, row in board.iterrows()
    ]
    return markdown(["by the loss", "Elo", "95 %", "wins, %"], lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure some tables."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=[*TABLES])
    own, others = parser.parse_known_args(arguments)
    tables = {name: TABLES[name] for name in own.tables}
    return Benchmark(
        __doc__,
        [name for table in tables.values() for name in table],
        SYSTEMS,
        1,
        load_source,
        partial(source_split, 1),
        measure,
        dict.fromkeys(MEASURES, ""),
        config=lambda system, dataset: settings_digest(package=SYSTEMS[system].package),
        show=partial(show, tables),
        missing=missing_source,
        optional=[
            name for name, system in SYSTEMS.items() if name not in DEFAULTS or not installed(system.package)
        ],
    ).main(others)


if __name__ == "__main__":
    sys.exit(main())
