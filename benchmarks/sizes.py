"""Accuracy, size of the ONNX file and time of a prediction of default, compressed and small models, beside peers.

    python -m benchmarks.sizes --out FILE.csv [--data-dir FOLDER] [--datasets ...] [--systems ...] [--splits 3]

The 15 sets of the ECML 2020 paper, each system at its own defaults. A prediction is the system's own, of classes,
in Python, from float32, of 10,000 rows made of the test rows, or of one alone; medians of several calls count.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from onnx_export import to_onnx
from rffboost_ext import compress
from rffboost_ext.experiments.report import markdown
from rffboost_ext.experiments.study import Task

from .command import Benchmark
from .data import SMALL, Array, Parts, load_source, missing_source, task_split
from .systems import catboost, lightgbm, rffboost, xgboost
from .timing import in_turns

ROWS = 10_000
TURNS, TURNS_ALONE = 5, 51
MEASURES = dict.fromkeys(("accuracy", "bytes", "seconds", "alone"), "")


def default_model(X: Array, y: Array) -> Any:
    """The default model."""
    return rffboost("binary").fit(X, y)


def compressed(X: Array, y: Array) -> Any:
    """A small model with the scores of the default model."""
    return compress(default_model(X, y), X, random_state=0)


def cosines(X: Array, y: Array) -> Any:
    """At most 100 cosines."""
    return rffboost("binary", learner="rff_newton", n_estimators=100, n_folds=1).fit(X, y)


SYSTEMS: dict[str, Callable[[Array, Array], Any]] = {
    "RFFBoost": default_model,
    "RFFBoost, compressed": compressed,
    "RFFBoost, 100 cosines": cosines,
    "XGBoost": lambda X, y: xgboost("binary").fit(X, y),
    "LightGBM": lambda X, y: lightgbm("binary").fit(X, y),
    "CatBoost": lambda X, y: catboost("binary").fit(X, y),
}


def size(model: Any) -> int:
    """Bytes of the model as an ONNX file."""
    if not type(model).__module__.startswith("catboost"):
        return len(to_onnx(model).SerializeToString())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.onnx")
        model.save_model(str(path), format="onnx")
        return path.stat().st_size


def measure(fit: Callable[[Array, Array], Any], parts: tuple[str, Parts], task: Task) -> list[dict[str, Any]]:
    """Accuracy, size, and the seconds of a prediction of all rows and of one."""
    _, (X, y, new, labels) = parts
    model = fit(X, y)
    accuracy = 100.0 * float(np.mean(np.ravel(model.predict(new)) == labels))
    rows = np.ascontiguousarray(new[np.resize(np.arange(len(new)), ROWS)], dtype=np.float32)
    (seconds,) = in_turns(partial(model.predict, rows), turns=TURNS)
    (alone,) = in_turns(partial(model.predict, rows[:1]), turns=TURNS_ALONE)
    return [dict(zip(MEASURES, (accuracy, size(model), median(seconds), median(alone)), strict=True))]


def show(frame: Any) -> str:
    """The mean accuracy, and medians of sizes and times over the sets."""
    means = frame.groupby(["system", "dataset"], sort=False)[list(MEASURES)].mean()
    lines = []
    for system, rows in means.groupby("system", sort=False):
        files = [f"{1e-3 * value:,.0f} kB" for value in (rows["bytes"].median(), rows["bytes"].max())]
        durations = [f"{1e3 * rows[kind].median():.2f} ms" for kind in ("seconds", "alone")]
        lines.append([str(system), f"{rows['accuracy'].mean():.2f}", files[0], *durations, files[1]])
    return markdown(["system", "accuracy", "ONNX file", f"{ROWS:,} rows", "1 row", "largest file"], lines)


BENCHMARK = Benchmark(
    __doc__,
    SMALL,
    SYSTEMS,
    3,
    load_source,
    partial(task_split, 0.3, 1),
    measure,
    MEASURES,
    show=show,
    missing=missing_source,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
