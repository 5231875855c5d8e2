"""Boosting rounds of symmetric trees beside XGBoost's trees in our loop and CatBoost, for ``symmetric_trees.py``.

The time of a round is what passes between two calls of a callback: what a fit does once is left out. Systems are
fitted in turns; the median over the rounds of all fits counts, without the first two of each. It is CPU time on
one thread. Where two threads are compared with one it is wall time, for which both cores must be idle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from statistics import median
from typing import Any

import numpy as np

from rffboost_ext import STEPS, Design, Shrunk, SymmetricTree, Tree, boost

from .timing import format_duration

DEPTH, RATE, WARM = 6, 0.1, 2
SIZES = ((20_000, 20), (200_000, 50))
CLASSES = 26
OURS, LINEAR, XGBOOST = "constant leaves", "linear leaves", "XGBoost's trees in our loop"
LEARNERS = {
    OURS: SymmetricTree(DEPTH, "constant"),
    LINEAR: SymmetricTree(DEPTH, "linear"),
    XGBOOST: Tree(max_depth=DEPTH),
}
Fit = Callable[[Callable[..., bool]], Any]


@dataclass(frozen=True)
class Workload:
    """What is fitted: a name, the rows, and the number of rounds that are timed."""

    name: str
    X: Any
    y: Any
    loss: str
    rounds: int

    @classmethod
    def numbers(cls, n: int, d: int, rounds: int) -> Workload:
        """A number from d features."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d))
        y = X[:, 0] * X[:, 1] + np.sin(2.0 * X[:, 2]) + 0.5 * rng.standard_normal(n)
        return cls(f"{n:,} x {d}", X, y, "squared_error", rounds)

    @classmethod
    def classes(cls, n: int, d: int, rounds: int) -> Workload:
        """One of 26 classes from d features."""
        rng = np.random.default_rng(0)
        X = rng.standard_normal((n, d))
        scores = X @ rng.standard_normal((d, CLASSES)) + rng.standard_normal((n, CLASSES))
        return cls(f"{n:,} x {d}, {CLASSES} classes", X, scores.argmax(axis=1), "log_loss", rounds)

    def ours(self, name: str, design: Design) -> Fit:
        """A fit in our loop, whose callback is called after each round."""
        y = self.y[:, None].astype(np.float64)
        parts = {"loss": self.loss, "learner": LEARNERS[name], "step": Shrunk(STEPS.create("unit"), RATE)}
        rounds = {"n_estimators": self.rounds + WARM, "random_state": 0}
        return lambda callback: boost(design, y, callbacks=[callback], **parts, **rounds)

    def catboost(self) -> Fit:
        """A fit by CatBoost, whose callback is called after each round."""
        import catboost

        fixed = {"thread_count": 1, "verbose": False, "allow_writing_files": False, "learning_rate": RATE}
        kind = catboost.CatBoostRegressor if self.loss == "squared_error" else catboost.CatBoostClassifier
        model = kind(iterations=self.rounds + WARM, depth=DEPTH, **fixed)
        return lambda callback: model.fit(self.X, self.y, callbacks=[AfterIteration(callback)])


@dataclass(frozen=True)
class AfterIteration:
    """A callback in the form that CatBoost calls."""

    callback: Callable[..., bool]

    def after_iteration(self, info: Any) -> bool:
        """Whether to continue."""
        return not self.callback(info)


def measure_rounds(turns: int) -> None:
    """Time all workloads, and print their lines."""
    for workload in (*(Workload.numbers(*size, 20) for size in SIZES), Workload.classes(20_000, 20, 8)):
        design = Design(workload.X)
        fits = {name: workload.ours(name, design) for name in LEARNERS}
        if find_spec("catboost"):
            fits["CatBoost"] = workload.catboost()
        compare_rounds(workload.name, fits, turns, time.process_time)
    workload = Workload.numbers(*SIZES[-1], 20)
    designs = {f"{n_jobs} thread{'s' * (n_jobs - 1)}": Design(workload.X, n_jobs=n_jobs) for n_jobs in (1, 2)}
    for name in (OURS, LINEAR):
        threads = {f"{name}, {number}": workload.ours(name, design) for number, design in designs.items()}
        compare_rounds(workload.name, threads, turns, time.perf_counter)


def compare_rounds(name: str, fits: dict[str, Fit], turns: int, clock: Callable[[], float]) -> None:
    """Print the time of a round by each system, with the ratio to the first one."""
    times = {system: list[float]() for system in fits}
    for _ in range(turns):
        for system, fit in fits.items():
            times[system] += rounds_of(fit, clock)
    first = median(times[next(iter(fits))])
    for system, seconds in times.items():
        ratio = median(seconds) / first
        print(f"{name:<32}{system:<32}{format_duration(median(seconds)):>10} a round{ratio:>8.2f}")


def rounds_of(fit: Fit, clock: Callable[[], float]) -> list[float]:
    """Seconds of each round of a fit, without the first ones."""
    ends = list[float]()

    def note(_: Any) -> bool:
        ends.append(clock())
        return False

    fit(note)
    return [b - a for a, b in zip(ends[WARM - 1 :], ends[WARM:], strict=False)]
