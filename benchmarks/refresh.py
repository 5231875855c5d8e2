"""A model on a stream that drifts: kept, refreshed, continued, or fitted anew.

    python -m benchmarks.refresh --out FILE.csv [--systems ...] [--datasets ...] [--splits 5]

The model is fitted to 5,000 rows. Then the target changes: either the weights of 24 sines and steps ("values"), or
the places of their waves and thresholds ("structure"). The score is R2 in percent on 10,000 rows after the change,
with noise of half of the signal's deviation. Seconds are CPU time of the update alone. Each split is another draw.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from pathlib import Path
from time import process_time
from typing import Any

import lightgbm
import numpy as np

from rffboost_ext import RFFBoostRegressor

from .command import Benchmark
from .study import Task

Array = np.ndarray
OLD_ROWS, TEST_ROWS, FEATURES, PARTS = 5_000, 10_000, 8, 24
LIGHTGBM = {"learning_rate": 0.05, "num_threads": 1, "verbose": -1}
LIGHTGBM_ROUNDS = 300
MEASURES = {"R2": "higher", "seconds": "time"}
DRIFTS = {"values": 0.5, "structure": 0.3}
DATASETS = {f"{drift}, {n:,} rows": (drift, n) for drift, n in product(DRIFTS, (200, 1_000, 5_000))}


@dataclass(frozen=True)
class Stream:
    """A signal of sines and steps of pairs of features, that changes from time 0 to time 1."""

    drift: str
    seed: int

    def rows(self, n: int, time: int, number: int) -> tuple[Array, Array]:
        """Features and targets at a time; each number is another sample."""
        rng, size = np.random.default_rng(self.seed), DRIFTS[self.drift] * time
        pair, frequency = rng.integers(0, FEATURES, (PARTS, 2)), rng.uniform(0.5, 2.5, PARTS)
        phase, threshold = rng.uniform(0.0, 6.0, PARTS), rng.normal(0.0, 0.7, (PARTS, 2))
        weight, other = rng.standard_normal((2, PARTS))
        shift = size if self.drift == "structure" else 0.0
        if self.drift == "values":
            weight = np.cos(size) * weight + np.sin(size) * other
        draw = np.random.default_rng([self.seed, number])
        X = draw.standard_normal((n, FEATURES))
        first, second = X[:, pair[:, 0]], X[:, pair[:, 1]]
        waves = np.sin(frequency * first + phase + shift) * (1.0 + 0.5 * second)
        steps = 1.5 * ((first > threshold[:, 0] + shift) & (second > threshold[:, 1] + shift))
        y = np.where(np.arange(PARTS) % 2 == 0, waves, steps) @ weight
        return X, y + 0.5 * y.std() * draw.standard_normal(n)


@lru_cache(maxsize=1)
def old_models(stream: Stream) -> tuple[Any, Any]:
    """Our model and LightGBM's, fitted to rows before the change."""
    X, y = stream.rows(OLD_ROWS, 0, 0)
    return RFFBoostRegressor(random_state=0).fit(X, y), new_lightgbm(X, y)


def new_lightgbm(X: Array, y: Array) -> Any:
    """A model of LightGBM."""
    return lightgbm.train(LIGHTGBM, lightgbm.Dataset(X, y), LIGHTGBM_ROUNDS)


def joint(stream: Stream, X: Array, y: Array) -> Any:
    """A fit to old and new rows, of weight 3 for the new."""
    old, target = stream.rows(OLD_ROWS, 0, 0)
    weight = np.repeat([1.0, 3.0], [len(old), len(X)])
    return RFFBoostRegressor(random_state=0).fit(np.vstack([old, X]), np.append(target, y), weight)


Update = Callable[[Stream, Array, Array], Any]
SYSTEMS: dict[str, Update] = {
    "refresh": lambda stream, X, y: copy(old_models(stream)[0]).refresh(X, y),
    "refresh, prior_weight=0": lambda stream, X, y: copy(old_models(stream)[0]).refresh(X, y, prior_weight=0.0),
    "no update": lambda stream, X, y: old_models(stream)[0],
    "init_model": lambda stream, X, y: RFFBoostRegressor(random_state=0).fit(
        X, y, init_model=old_models(stream)[0]
    ),
    "fit to new rows": lambda stream, X, y: RFFBoostRegressor(random_state=0).fit(X, y),
    "fit to old and new rows": joint,
    "LightGBM, refit": lambda stream, X, y: old_models(stream)[1].refit(X, y),
    "LightGBM, refit, decay_rate=0.5": lambda stream, X, y: old_models(stream)[1].refit(X, y, decay_rate=0.5),
    "LightGBM, new": lambda stream, X, y: new_lightgbm(X, y),
}


def load(name: str, folder: Path | None) -> tuple[str, int]:
    """The kind of change, and the number of new rows."""
    return DATASETS[name]


def problem(data: tuple[str, int], index: int) -> tuple[Stream, int]:
    """Draw `index`, from 1, of a stream, and the number of new rows."""
    return Stream(data[0], index), data[1]


def measure(update: Update, data: tuple[Stream, int], task: Task) -> list[dict[str, Any]]:
    """The score after the change, and the time of the update."""
    stream, n = data
    (X, y), (rows, target) = stream.rows(n, 1, 1), stream.rows(TEST_ROWS, 1, 2)
    old_models(stream)
    start = process_time()
    model = update(stream, X, y)
    seconds = process_time() - start
    error = np.square(target - model.predict(rows)).mean() / target.var()
    return [{"R2": 100.0 * (1.0 - float(error)), "seconds": seconds}]


BENCHMARK = Benchmark(__doc__, [*DATASETS], SYSTEMS, 5, load, problem, measure, MEASURES)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
