"""Identical loops: every system gets the same splits, the same scaling and the same number of rounds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from ...utils.param_validation import BOOL, OPTIONAL, POSITIVE, Integer, OneOf, Real, require
from ...utils.typing import Array
from .datasets import Dataset
from .systems import SYSTEMS, System

SYSTEM_SEED = 1
SEEDS = 2**32
"""Exclusive upper bound of NumPy's random states."""
THREADS = 1
FOLDS = 5
JOBS = Integer(1) | OneOf((-1,))


@dataclass(frozen=True)
class Protocol:
    """What is the same for all systems.

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
        Whether hyperparameters are chosen by a grid search, 5-fold on the training part, by accuracy.
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

    def split(self, dataset: Dataset, index: int) -> tuple[Array, Array]:
        """Training and test rows of split `index`, from 1."""
        from sklearn.model_selection import train_test_split

        rows = np.arange(len(dataset.y))
        state = self.seed + index - 1
        return train_test_split(rows, test_size=self.test_size, stratify=dataset.y, random_state=state)

    def rate(self, system: System) -> float:
        """The shrinkage of `system`."""
        return system.learning_rate if self.learning_rate is None else self.learning_rate

    def grid(self, system: System, n_features: int) -> list[dict[str, list[Any]]]:
        """The system's grid, without the shrinkage where that is set for all."""
        fixed = () if self.learning_rate is None else ("learning_rate",)
        return [{k: v for k, v in part.items() if k not in fixed} for part in system.grid(n_features)]


@dataclass(frozen=True)
class Record:
    """The results of one system on one split.

    ``accuracy`` and ``log_loss`` (natural logarithm) are of the test part. ``fit_seconds`` is the time of the
    final fit, without a grid search. ``params`` are the classifier's hyperparameters.
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


@dataclass(frozen=True)
class Outcome:
    """A record and, if requested, the test accuracy after 1, 2, ... rounds, (rounds,)."""

    record: Record
    curve: Array | None = None


@dataclass(frozen=True)
class Task:
    """One system on one split of one data set: the unit of parallel work."""

    protocol: Protocol
    dataset: Dataset
    name: str
    system: System
    split: int
    curve: bool

    def __call__(self) -> Outcome:
        """Fit and measure, on one thread."""
        from threadpoolctl import threadpool_limits

        try:
            with threadpool_limits(THREADS):
                return self._measured()
        except Exception as error:
            error.add_note(f"in system {self.name!r} on split {self.split} of data set {self.dataset.name!r}")
            raise

    def _measured(self) -> Outcome:
        from sklearn.metrics import accuracy_score, log_loss

        X, y, X_test, y_test = self._parts()
        model, fit_seconds = self._fitted(X, y)
        # What this model is the first to need is loaded and compiled here, not while it is timed.
        model.predict(X_test[:1])
        start = perf_counter()
        predicted = model.predict(X_test)
        predict_seconds = perf_counter() - start
        record = Record(
            dataset=self.dataset.name,
            system=self.name,
            split=self.split,
            accuracy=float(accuracy_score(y_test, predicted)),
            log_loss=float(log_loss(y_test, model.predict_proba(X_test), labels=[0, 1])),
            fit_seconds=fit_seconds,
            predict_seconds=predict_seconds,
            rounds=self.protocol.rounds,
            params=plain_params(model),
        )
        return Outcome(record, self._curve(model, X_test, y_test) if self.curve else None)

    def _parts(self) -> tuple[Array, Array, Array, Array]:
        """Features and labels of the training and of the test part, standardised on the former."""
        from sklearn.preprocessing import StandardScaler

        train, test = self.protocol.split(self.dataset, self.split)
        X, y = self.dataset.X, self.dataset.y
        scaler = StandardScaler().fit(X[train])
        return scaler.transform(X[train]), y[train], scaler.transform(X[test]), y[test]

    def _build(self, rounds: int) -> Any:
        rate = self.protocol.rate(self.system)
        return self.system.build(rounds=rounds, learning_rate=rate, seed=SYSTEM_SEED, threads=THREADS)

    def _fitted(self, X: Array, y: Array) -> tuple[Any, float]:
        """The fitted model and the seconds that the fit took."""
        from sklearn.model_selection import GridSearchCV

        # Warm up imports and compilation, so that the first fit of a process is not the slowest.
        self._build(1).fit(X, y).predict(X[:1])
        model = self._build(self.protocol.rounds)
        grid = self.protocol.grid(self.system, X.shape[1])
        if self.protocol.tune and any(grid):
            search = GridSearchCV(model, grid, scoring="accuracy", cv=FOLDS, error_score="raise").fit(X, y)
            return search.best_estimator_, float(search.refit_time_)
        start = perf_counter()
        model.fit(X, y)
        return model, perf_counter() - start

    def _curve(self, model: Any, X: Array, y: Array) -> Array:
        """Accuracy after each round; a model that stopped early keeps its last."""
        stages = islice(self.system.staged(model, X), self.protocol.rounds)
        curve = [float(np.mean(labels == y)) for labels in stages]
        return np.array(curve + curve[-1:] * (self.protocol.rounds - len(curve)))


def compare(
    datasets: Sequence[Dataset],
    systems: Sequence[str],
    protocol: Protocol | None = None,
    *,
    jobs: int = 1,
    curves: bool = False,
    progress: Callable[[Outcome], object] | None = None,
) -> list[Outcome]:
    """Run systems on data sets under identical loops.

    Parameters
    ----------
    datasets : sequence of Dataset
        From :func:`~rffboost_ext.experiments.compare.load`, or made by hand.
    systems : sequence of str
        Names in :data:`~rffboost_ext.experiments.compare.SYSTEMS`.
    protocol : Protocol, optional
        What is the same for all; 20 splits and 100 rounds by default.
    jobs : int, default=1
        Processes; -1 for one per core. Accuracies do not depend on it, times may.
    curves : bool, default=False
        Whether to measure the accuracy after every round, too.
    progress : callable, optional
        Called with each outcome as it arrives.

    Returns
    -------
    list of Outcome
        By data set, split and system.

    Raises
    ------
    ValueError, TypeError
        If a system is unknown or lacks a package, a name is given twice, a parameter is out of range, or a
        data set is too small for the protocol; before any work is done.
    """
    protocol = protocol or Protocol()
    tasks = plan(datasets, systems, protocol, jobs, curves)
    outcomes = []
    for outcome in run(tasks, jobs):
        outcomes.append(outcome)
        if progress is not None:
            progress(outcome)
    return outcomes


def plan(
    datasets: Sequence[Dataset], systems: Sequence[str], protocol: Protocol, jobs: int = 1, curves: bool = False
) -> list[Task]:
    """All tasks, after checking that they can be done."""
    protocol.validate()
    require("compare", "jobs", jobs, JOBS)
    if isinstance(systems, str):
        raise TypeError(f"compare: systems must be a sequence of names, got the text {systems!r}")
    require_distinct("system", systems)
    for dataset in datasets:
        check_data(dataset)
    require_distinct("data set", [dataset.name for dataset in datasets])
    made = {name: available(name) for name in systems}
    for name in made if curves else ():
        require_stages(name, made[name])
    for dataset in datasets:
        check_size(dataset, protocol)
    return [
        Task(protocol, dataset, name, system, split, curves)
        for dataset in datasets
        for split in range(1, protocol.splits + 1)
        for name, system in made.items()
    ]


def run(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """The outcomes of `tasks`, in their order, as they arrive."""
    from joblib import Parallel, delayed

    return Parallel(n_jobs=jobs, return_as="generator")(delayed(task)() for task in tasks)


def require_distinct(kind: str, names: Sequence[str]) -> None:
    """Raise a ValueError unless there is at least one name and none occurs twice."""
    if not names:
        raise ValueError(f"compare: at least one {kind} is needed, got none")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"compare: {kind} {twice[0]!r} is given more than once")


def require_stages(name: str, system: System) -> None:
    """Raise a ValueError unless a system can tell what its models predict after each round."""
    try:
        model = system.build(rounds=1, learning_rate=1.0, seed=SYSTEM_SEED, threads=THREADS)
    # What a system cannot do is told where it is to do it, with the split and the data set.
    except Exception:
        return
    if type(system).staged is System.staged and not hasattr(model, "staged_predict"):
        raise ValueError(f"compare: curves need staged_predict, which the models of system {name!r} do not offer")


def available(name: str) -> System:
    """The system of that name; a ValueError if it is unknown or lacks a package."""
    system = SYSTEMS.create(name)
    missing = system.missing()
    if missing:
        raise ValueError(
            f"system {name!r} needs {' and '.join(missing)}, which is not installed: "
            f"pip install 'rffboost-ext[peers]'"
        )
    return system


def check_data(dataset: Dataset) -> None:
    """Raise a TypeError or ValueError unless a data set, which may be made by hand, is as Dataset documents."""
    if not isinstance(dataset, Dataset):
        raise TypeError(f"compare: datasets must hold instances of Dataset, got {type(dataset).__name__}")
    X, y, what = dataset.X, dataset.y, f"data set {dataset.name!r}"
    if not isinstance(X, np.ndarray) or not isinstance(y, np.ndarray):
        raise TypeError(f"{what}: X and y must be arrays, got {type(X).__name__} and {type(y).__name__}")
    if X.ndim != 2 or X.dtype.kind not in "biuf" or not np.isfinite(X).all():
        raise ValueError(f"{what}: X must be finite numbers of shape (n, d), got {X.dtype} of shape {X.shape}")
    if y.shape != (len(X),) or y.dtype.kind not in "biu" or not np.isin(y, (0, 1)).all():
        found = ", ".join(map(str, np.unique(y)[:3])) if y.size else "none"
        raise ValueError(f"{what}: y must be 0 or 1, whole numbers, for each of {len(X)} rows, got {found}")


def check_size(dataset: Dataset, protocol: Protocol) -> None:
    """Raise a ValueError that names the data set if it cannot be split as the protocol requires."""
    try:
        # This depends on the counts only, and on the seed, which is the largest for the last split.
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
    """The hyperparameters of a classifier that are numbers or strings, nested ones included."""
    params = model.get_params(deep=True)
    return {name: value for name, value in sorted(params.items()) if is_plain(value)}


def is_plain(value: object) -> bool:
    """Whether a value is a bool, an integer, a finite float or a string."""
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))
