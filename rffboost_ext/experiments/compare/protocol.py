"""Comparison under identical conditions: the same splits, scaling and number of rounds for every system."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from ...utils.param_validation import BOOL, OPTIONAL, POSITIVE, Integer, OneOf, Real, require
from ...utils.typing import Array
from ..records import Record
from ..runner import Task, parallel
from .datasets import NamedDataset
from .systems import SYSTEMS, System

SYSTEM_SEED = 1
SEEDS = 2**32
"""Exclusive upper bound of NumPy's random states."""
THREADS = 1
FOLDS = 5
JOBS = Integer(1) | OneOf((-1,))


@dataclass(frozen=True)
class Protocol:
    """The settings that all systems share.

    Parameters
    ----------
    rounds : int, default=100
        Boosting rounds.
    splits : int, default=20
        Random stratified splits per data set.
    test_size : float, default=0.3
        Share of the test part.
    learning_rate : float, optional
        Shrinkage of all systems; by default each has the papers'.
    tune : bool, default=False
        Whether hyperparameters are selected by accuracy in a 5-fold grid search on the training part.
    seed : int, default=1
        From 0 to ``2**32 - splits``. Split i, from 1, has the random state ``seed + i - 1``. Systems always have
        the seed 1.
    """

    rounds: int = 100
    splits: int = 20
    test_size: float = 0.3
    learning_rate: float | None = None
    tune: bool = False
    seed: int = 1

    def validate(self) -> None:
        """Raise a TypeError or ValueError that names the first parameter out of range."""
        checks = {
            "rounds": Integer(1),
            "splits": Integer(1),
            "test_size": Real(0.0, 0.9),
            "learning_rate": POSITIVE | OPTIONAL,
            "tune": BOOL,
            "seed": Integer(0),
        }
        for name, check in checks.items():
            require("compare", name, getattr(self, name), check)
        if self.seed > SEEDS - self.splits:
            raise ValueError(
                f"compare: seed must be at most 2**32 - splits, {SEEDS - self.splits}, as each split adds 1, "
                f"got {self.seed}"
            )

    def split(self, dataset: NamedDataset, index: int) -> tuple[Array, Array]:
        """Training and test rows of split `index`, from 1."""
        from sklearn.model_selection import train_test_split

        rows = np.arange(len(dataset.y))
        state = self.seed + index - 1
        return train_test_split(rows, test_size=self.test_size, stratify=dataset.y, random_state=state)

    def rate(self, system: System) -> float:
        """The shrinkage of `system`."""
        return system.learning_rate if self.learning_rate is None else self.learning_rate

    def grid(self, system: System, n_features: int) -> list[dict[str, list[Any]]]:
        """The system's grid, without the shrinkage if that is set for all systems."""
        fixed = () if self.learning_rate is None else ("learning_rate",)
        return [{k: v for k, v in part.items() if k not in fixed} for part in system.grid(n_features)]


@dataclass(frozen=True)
class ComparisonRecord(Record):
    """The results of one system on one split.

    ``accuracy`` and ``log_loss`` (natural logarithm) are of the test part. ``fit_seconds`` is the time of the
    final fit, without a grid search. ``params`` are the classifier's hyperparameters. ``curve``, which files omit,
    is the test accuracy after 1, 2, ... rounds, (rounds,), if requested.
    """

    dataset: str
    system: str
    split: int
    accuracy: float
    log_loss: float
    fit_seconds: float
    predict_seconds: float
    rounds: int
    params: dict[str, Any]
    curve: Array | None = field(default=None, compare=False, repr=False)

    @property
    def key(self) -> tuple[str, str, int]:
        return self.dataset, self.system, self.split

    @property
    def kind(self) -> tuple[str, ...]:
        return self.system, self.dataset

    @property
    def unit_seconds(self) -> float:
        return self.fit_seconds + self.predict_seconds


@dataclass(frozen=True)
class ComparisonTask(Task[ComparisonRecord]):
    """One system on one split of one data set."""

    protocol: Protocol
    data: NamedDataset
    booster: System
    curve: bool = False

    def measure(self) -> list[ComparisonRecord]:
        from sklearn.metrics import accuracy_score, log_loss

        X, y, X_test, y_test = self._split_data()
        model, fit_seconds = self._fit(X, y)
        # Imports and compilation are not timed.
        model.predict(X_test[:1])
        start = perf_counter()
        predicted = model.predict(X_test)
        predict_seconds = perf_counter() - start
        record = ComparisonRecord(
            dataset=self.dataset,
            system=self.system,
            split=self.split,
            accuracy=float(accuracy_score(y_test, predicted)),
            log_loss=float(log_loss(y_test, model.predict_proba(X_test), labels=[0, 1])),
            fit_seconds=fit_seconds,
            predict_seconds=predict_seconds,
            rounds=self.protocol.rounds,
            params=plain_params(model),
            curve=self._curve(model, X_test, y_test) if self.curve else None,
        )
        return [record]

    def _split_data(self) -> tuple[Array, Array, Array, Array]:
        """Features and labels of the training and of the test part, standardised on the former."""
        from sklearn.preprocessing import StandardScaler

        train, test = self.protocol.split(self.data, self.split)
        X, y = self.data.X, self.data.y
        scaler = StandardScaler().fit(X[train])
        return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]

    def _build(self, rounds: int) -> Any:
        rate = self.protocol.rate(self.booster)
        return self.booster.build(rounds=rounds, learning_rate=rate, seed=SYSTEM_SEED, threads=THREADS)

    def _fit(self, X: Array, y: Array) -> tuple[Any, float]:
        """The fitted model and the time of the fit in seconds."""
        from sklearn.model_selection import GridSearchCV

        # Imports and compilation are not timed.
        self._build(1).fit(X, y).predict(X[:1])
        model = self._build(self.protocol.rounds)
        grid = self.protocol.grid(self.booster, X.shape[1])
        if self.protocol.tune and any(grid):
            search = GridSearchCV(model, grid, scoring="accuracy", cv=FOLDS, error_score="raise").fit(X, y)
            return search.best_estimator_, float(search.refit_time_)
        start = perf_counter()
        model.fit(X, y)
        return model, perf_counter() - start

    def _curve(self, model: Any, X: Array, y: Array) -> Array:
        """Accuracy after each round; the last one is repeated if training stopped early."""
        stages = islice(self.booster.staged(model, X), self.protocol.rounds)
        curve = [float(np.mean(labels == y)) for labels in stages]
        return np.array(curve + curve[-1:] * (self.protocol.rounds - len(curve)))


def compare(
    datasets: Sequence[NamedDataset],
    systems: Sequence[str],
    protocol: Protocol | None = None,
    *,
    jobs: int = 1,
    curves: bool = False,
    progress: Callable[[ComparisonRecord], object] | None = None,
) -> list[ComparisonRecord]:
    """Run systems on data sets under identical loops.

    Parameters
    ----------
    datasets : sequence of NamedDataset
        As :func:`~rffboost_ext.experiments.compare.load` returns them.
    systems : sequence of str
        Names in :data:`~rffboost_ext.experiments.compare.SYSTEMS`.
    protocol : Protocol, optional
        The shared settings; 20 splits and 100 rounds by default.
    jobs : int, default=1
        Processes; -1 for one per core. Accuracies do not depend on it.
    curves : bool, default=False
        Whether to measure the accuracy after every round.
    progress : callable, optional
        Called with each record as it arrives.

    Returns
    -------
    list of ComparisonRecord
        Ordered by data set, split and system.

    Raises
    ------
    ValueError, TypeError
        If a system is unknown or lacks a package, a name is given twice, a parameter is out of range, or a
        data set is too small for the protocol; before any work is done.
    """
    protocol = protocol or Protocol()
    records = []
    for (record,) in parallel(make_tasks(datasets, systems, protocol, jobs, curves), jobs, ordered=True):
        records.append(record)
        if progress is not None:
            progress(record)
    return records


def make_tasks(
    datasets: Sequence[NamedDataset],
    systems: Sequence[str],
    protocol: Protocol,
    jobs: int = 1,
    curves: bool = False,
) -> list[ComparisonTask]:
    """All tasks, if they are valid."""
    protocol.validate()
    require("compare", "jobs", jobs, JOBS)
    if isinstance(systems, str):
        raise TypeError(f"compare: systems must be a sequence of names, got the text {systems!r}")
    require_distinct("system", systems)
    for dataset in datasets:
        check_data(dataset)
    require_distinct("data set", [dataset.name for dataset in datasets])
    boosters = {name: create_system(name) for name in systems}
    for dataset in datasets:
        check_size(dataset, protocol)
    return [
        ComparisonTask(dataset.name, name, split, protocol, dataset, booster, curves)
        for dataset in datasets
        for split in range(1, protocol.splits + 1)
        for name, booster in boosters.items()
    ]


def require_distinct(kind: str, names: Sequence[str]) -> None:
    """Raise a ValueError unless there is at least one name and none occurs twice."""
    if not names:
        raise ValueError(f"compare: at least one {kind} is needed, got none")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"compare: {kind} {twice[0]!r} is given more than once")


def create_system(name: str) -> System:
    """The system of that name; a ValueError if it is unknown or lacks a package."""
    system = SYSTEMS.create(name)
    missing = system.missing()
    if missing:
        raise ValueError(
            f"system {name!r} needs {' and '.join(missing)}, which is not installed: "
            f"pip install 'rffboost-ext[peers]'"
        )
    return system


def check_data(dataset: NamedDataset) -> None:
    """Raise a TypeError or ValueError unless a data set is valid."""
    if not isinstance(dataset, NamedDataset):
        raise TypeError(f"compare: datasets must hold instances of NamedDataset, got {type(dataset).__name__}")
    X, y, what = dataset.X, dataset.y, f"data set {dataset.name!r}"
    if not isinstance(X, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"{what}: X and y must be arrays, got {type(X).__name__} and {type(y).__name__}")
    if X.ndim != 2 or X.dtype.kind not in "biuf" or not np.isfinite(X).all():
        raise ValueError(f"{what}: X must be finite numbers of shape (n, d), got {X.dtype} of shape {X.shape}")
    if y.shape != (len(X),) or y.dtype.kind not in "biu" or not np.isin(y, (0, 1)).all():
        found = ", ".join(map(str, np.unique(y)[:3])) if y.size else "none"
        raise ValueError(f"{what}: y must be 0 or 1, whole numbers, for each of {len(X)} rows, got {found}")


def check_size(dataset: NamedDataset, protocol: Protocol) -> None:
    """Raise a ValueError that names the data set if it cannot be split as the protocol requires."""
    try:
        # The last split has the largest seed.
        train, _ = protocol.split(dataset, protocol.splits)
    except ValueError as error:
        raise ValueError(f"data set {dataset.name!r} cannot be split: {error}") from error
    least = int(np.bincount(dataset.y[train], minlength=2).min())
    if least < (FOLDS if protocol.tune else 1):
        raise ValueError(
            f"data set {dataset.name!r} is too small: its smaller class has {least} rows in the training part"
            + (f", a {FOLDS}-fold search needs {FOLDS}" if protocol.tune else "")
        )


def plain_params(model: Any) -> dict[str, Any]:
    """The hyperparameters of a classifier, including nested ones, that are numbers or strings."""
    params = model.get_params(deep=True)
    return {name: value for name, value in sorted(params.items()) if is_plain(value)}


def is_plain(value: object) -> bool:
    """Whether a value is a bool, an integer, a finite float or a string."""
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))
