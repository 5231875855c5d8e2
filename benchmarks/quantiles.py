"""Several quantiles by one model, by a model of each level and by LightGBM, on standardised targets.

    python -m benchmarks.quantiles --data-dir FOLDER --out FILE.csv [--datasets ...] [--systems ...]
        [--splits 3] [--rows 2000]

The levels are 0.05, 0.25, 0.5, 0.75 and 0.95. The mean pinball loss over levels times 100, the share of targets in
the interval of 90 %, the share of rows whose quantiles cross before they are sorted, and the CPU seconds of fits
with the defaults of each system. Text is coded by numbers, missing values are medians.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import mean_pinball_loss

from rffboost_ext import RFFBoostQuantileRegressor, RFFBoostRegressor
from rffboost_ext.losses import Quantile

from .distributions import main
from .study import Task

Array = np.ndarray
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
MEASURES = {"pinball": "lower", "coverage": "", "crossing": "lower", "seconds": "time"}


def one_model(X: Array, y: Array, X_test: Array, seed: int) -> Array:
    """RFFBoostQuantileRegressor with its defaults; its scores may cross, its predictions do not."""
    return RFFBoostQuantileRegressor(LEVELS, random_state=seed).fit(X, y).raw_scores(X_test)


def per_level(make: Callable[[float, int], Any], X: Array, y: Array, X_test: Array, seed: int) -> Array:
    """A model of each level."""
    return np.column_stack([make(level, seed).fit(X, y).predict(X_test) for level in LEVELS])


def ours(level: float, seed: int) -> Any:
    """RFFBoostRegressor with its defaults."""
    return RFFBoostRegressor(Quantile(level), random_state=seed)


def lightgbm(level: float, seed: int) -> Any:
    """LightGBM with its defaults."""
    from lightgbm import LGBMRegressor

    return LGBMRegressor(objective="quantile", alpha=level, random_state=seed, n_jobs=1, verbose=-1)


SYSTEMS: dict[str, Callable[..., Array]] = {
    "a model per level": partial(per_level, ours),
    "one model": one_model,
    "LightGBM per level": partial(per_level, lightgbm),
}


def measure(system: Callable[..., Array], parts: Any, task: Task) -> list[dict[str, Any]]:
    """Pinball loss, coverage, crossing rows and time."""
    X, y, X_test, y_test = parts
    start = time.process_time()
    predicted = system(X, y, X_test, task.split - 1)
    seconds = time.process_time() - start
    ordered = np.sort(predicted, axis=1)
    losses = [mean_pinball_loss(y_test, q, alpha=level) for level, q in zip(LEVELS, ordered.T, strict=True)]
    covered = (ordered[:, 0] <= y_test) & (y_test <= ordered[:, -1])
    crossing = (np.diff(predicted, axis=1) < 0.0).any(axis=1)
    shares = {"coverage": 100.0 * float(covered.mean()), "crossing": 100.0 * float(crossing.mean())}
    return [{"pinball": 100.0 * float(np.mean(losses)), **shares, "seconds": seconds}]


if __name__ == "__main__":
    sys.exit(main(None, __doc__, SYSTEMS, measure, MEASURES))
