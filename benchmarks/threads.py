"""Wall time of fits with one and with two threads, by the number and the kind of rows, beside three peers.

    python -m benchmarks.threads --out FILE.csv [--datasets NAME ...] [--systems NAME ...] [--splits N]

Systems have their defaults; a name says the threads. Both cores must be idle. Each split is a new draw. A first
fit to other rows pays for imports and compilation. The report has the factor of the second thread. What more
threads would give is computed from it by Amdahl's law, and not measured.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from .command import Benchmark
from .generated import classification, smooth
from .splits import Rows
from .study import Task
from .systems import SYSTEMS as SINGLE
from .systems import System, warm_up

Array = np.ndarray
SIZES = (1_000, 8_000, 100_000, 1_000_000)
COMPUTED = (4, 8, 16)


def categories(n: int, seed: int) -> tuple[Any, Array]:
    """A number from 10 numbers and 10 categories of 5 to 500 levels."""
    rng = np.random.default_rng(seed)
    frame, y = pd.DataFrame(rng.standard_normal((n, 10))).add_prefix("f"), 0.3 * rng.standard_normal(n)
    for k, n_levels in enumerate(np.geomspace(5, 500, 10).astype(int)):
        codes = rng.integers(n_levels, size=n)
        frame[f"c{k}"] = pd.Categorical.from_codes(codes, [f"level {code}" for code in range(n_levels)])
        y += np.sin(7.0 * codes) * frame[f"f{k}"]
    return frame, y


def classes(n: int, seed: int) -> tuple[Array, Array]:
    """One of 5 classes from 20 numbers."""
    X, score = smooth(n, seed)
    return X, np.digitize(score, np.quantile(score, [0.2, 0.4, 0.6, 0.8]))


KINDS: dict[str, tuple[str, Callable[[int, int], Any]]] = {
    "two classes": ("binary", classification),
    "numbers": ("regression", smooth),
    "categories": ("regression", categories),
    "five classes": ("multiclass", classes),
}
DATASETS = {f"{kind}, {n:,} rows": (kind, n) for kind in KINDS for n in SIZES}


SYSTEMS = {
    f"{name}, {n_jobs}": replace(SINGLE[name], build=partial(SINGLE[name].build, n_jobs=n_jobs))
    for name in ("RFFBoost", "RFFBoost-fast", "LightGBM", "XGBoost", "CatBoost")
    for n_jobs in (1, 2)
}


def draw(dataset: tuple[str, int], seed: int) -> Rows:
    """The rows of a split."""
    kind, n = dataset
    task, make = KINDS[kind]
    X, y = make(n, seed)
    return Rows(task, X, y, X, y)


def measure(system: System, rows: Rows, task: Task) -> list[dict[str, float]]:
    """Wall seconds of a fit."""
    warm_up(system, rows.task, isinstance(rows.X, pd.DataFrame))
    start = time.perf_counter()
    system.fit(rows)
    return [{"seconds": time.perf_counter() - start}]


def speed_up(factor: float, threads: int) -> float:
    """What threads give if the second gives a factor, by Amdahl's law."""
    serial = min(max(2.0 / factor - 1.0, 0.0), 1.0)
    return 1.0 / (serial + (1.0 - serial) / threads)


def show(frame: pd.DataFrame) -> str:
    """Seconds with one and two threads, the factor between them, and computed factors, by data set and system."""
    frame[["name", "threads"]] = frame["system"].str.rsplit(", ", n=1, expand=True)
    seconds = frame.groupby(["dataset", "name", "threads"], sort=False)["seconds"].median().unstack()
    factor = seconds["1"] / seconds["2"]
    columns = {"1 thread, s": seconds["1"], "2 threads, s": seconds["2"], "factor": factor}
    columns |= {f"{n}, computed": factor.map(partial(speed_up, threads=n)) for n in COMPUTED}
    return pd.DataFrame(columns).round(2).to_string()


BENCHMARK = Benchmark(
    __doc__,
    list(DATASETS),
    SYSTEMS,
    splits=3,
    load=lambda name, folder: DATASETS[name],
    split=draw,
    measure=measure,
    measures={"seconds": "time"},
    show=show,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
