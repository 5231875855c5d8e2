"""Fits to a category of many levels, beside LightGBM and CatBoost: time, memory and R2.

    python -m benchmarks.wide_categories [--rows 10000 50000 100000] [--rows-per-level 2] [--noise]

Four normal features and a category with few rows per level on average, whose levels have normal effects, or with
`--noise` none. Each system has its defaults, one thread and a process of its own. Memory is the peak of the fit
above what the process had before. R2 is that of as many new rows; with two rows per level an eighth of these have
levels that the fit has not seen.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from rffboost_ext.experiments.report import markdown

from .command import options, positive
from .machine import environment
from .splits import Rows
from .symmetric_trees import resident
from .systems import SYSTEMS, warm_up

NAMES = ("RFFBoost", "LightGBM", "CatBoost")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = options(__doc__)
    parser.add_argument("--rows", type=positive, nargs="+", default=[10_000, 50_000, 100_000])
    parser.add_argument("--rows-per-level", type=positive, default=2)
    parser.add_argument("--noise", action="store_true", help="levels without effects")
    parsed, lines = parser.parse_args(arguments), []
    for n, name in product(parsed.rows, NAMES):
        n_levels = n // parsed.rows_per_level
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            seconds, memory, score = pool.apply(measure, (name, n, n_levels, parsed.noise))
        line = [f"{n:,}", f"{n_levels:,}", name, f"{seconds:.1f}", f"{memory / 1e6:.0f}", f"{score:.3f}"]
        lines.append(line)
        print(*line, file=sys.stderr)
    print(environment(), "", markdown(["rows", "levels", "system", "CPU seconds", "MB", "R2"], lines), sep="\n")


def measure(name: str, n: int, n_levels: int, noise: bool) -> tuple[float, int, float]:
    """CPU seconds and additional memory of a fit to n rows, and R2 on n others."""
    X, y = data(2 * n, n_levels, noise)
    system, rows = SYSTEMS[name], Rows("regression", X[:n], y[:n], X[n:], y[n:])
    warm_up(system, "regression", True)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    start = time.process_time()
    model = system.fit(rows)
    seconds, memory = time.process_time() - start, resident("VmHWM") - before
    return seconds, memory, float(model.score(system.features(rows.X_test), rows.y_test))


def data(n: int, n_levels: int, noise: bool = False) -> tuple[pd.DataFrame, np.ndarray]:
    """A table of n rows, and targets with noise of standard deviation 0.5."""
    rng = np.random.default_rng(0)
    level, effect, Z = rng.integers(n_levels, size=n), rng.standard_normal(n_levels), rng.standard_normal((n, 4))
    X = pd.DataFrame(Z, columns=list("abcd")).assign(level=pd.Categorical(level, range(n_levels)))
    signal = (not noise) * effect[level] + np.sin(2.0 * Z[:, 0]) + Z[:, 1] * (Z[:, 2] > 0.0)
    return X, signal + 0.5 * rng.standard_normal(n)


if __name__ == "__main__":
    main()
