"""Rows that are drawn anew for each split: many rows of jagged and of smooth targets, and wide tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

from .splits import Array, Rows

Arrays = tuple[Array, Array]
WIDTH, NOISE = 20, 0.3
TREES, DEPTH, SINES = 300, 6, 12


@dataclass(frozen=True)
class Drawn:
    """A data set of which each split is a new draw: ``draw(n, seed)`` are the features and targets of n rows."""

    task: str
    draw: Callable[[int, int], Arrays]
    train: int
    test: int

    def missing(self, data_dir: Path | None) -> str:
        """It needs no file."""
        return ""

    def read(self, name: str, data_dir: Path | None) -> Drawn:
        """The data set."""
        return self

    @lru_cache(maxsize=1)  # noqa: B019
    def split(self, seed: int) -> Rows:
        """Training and test rows of one draw."""
        X, y = self.draw(self.train + self.test, seed)
        return Rows(self.task, X[: self.train], y[: self.train], X[self.train :], y[self.train :])


def jagged(n: int, seed: int) -> Arrays:
    """The sum of 300 random trees of depth 6, with noise of 0.3 of its standard deviation."""
    rng = np.random.default_rng(seed)
    X, signal = rng.standard_normal((n, WIDTH), dtype=np.float32), np.zeros(n)
    rows, n_inner = np.arange(n), 2**DEPTH - 1
    for _ in range(TREES):
        feature, threshold = rng.integers(0, WIDTH, n_inner), rng.standard_normal(n_inner, dtype=np.float32)
        node = np.zeros(n, dtype=np.intp)
        for _ in range(DEPTH):
            node = 2 * node + 1 + (X[rows, feature[node]] > threshold[node])
        signal += rng.standard_normal(n_inner + 1)[node - n_inner]
    return X, noisy(signal, rng)


def smooth(n: int, seed: int) -> Arrays:
    """The sum of 12 sines of two features, with noise of 0.3 of its standard deviation."""
    rng = np.random.default_rng(seed)
    X, signal = rng.standard_normal((n, WIDTH), dtype=np.float32), np.zeros(n)
    for _ in range(SINES):
        (first, second), frequency = rng.choice(WIDTH, 2, replace=False), rng.uniform(0.5, 1.5, 2)
        signal += np.sin(frequency[0] * X[:, first] + frequency[1] * X[:, second] + rng.uniform(0.0, 2.0 * np.pi))
    return X, noisy(signal, rng)


def noisy(signal: Array, rng: np.random.Generator) -> Array:
    """A signal with noise of `NOISE` of its standard deviation."""
    return signal + NOISE * signal.std() * rng.standard_normal(len(signal))


def classification(n: int, seed: int) -> Arrays:
    """``make_classification`` with 20 features."""
    return make_classification(n, WIDTH, random_state=seed)


def sparse_linear(n: int, seed: int) -> Arrays:
    """The sum of five of 1,000 normal features, with noise of standard deviation 0.3."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 1_000))
    return X, X[:, :5].sum(axis=1) + 0.3 * rng.standard_normal(n)
