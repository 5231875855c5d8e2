"""Comparison under identical conditions: the same splits, scaling and number of rounds for every system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np

from ..._version import __version__
from ...utils.choices import check_choices
from ...utils.packages import require_packages
from ...utils.parallel import run_in_processes
from ...utils.param_validation import BOOL, OPTIONAL, POSITIVE, Integer, OneOf, Real, require
from ...utils.typing import Array
from ..datasets import NamedDataset
from ..records import Record
from .systems import SYSTEMS, Grid, System

SYSTEM_SEED = 1
THREADS = 1
FOLDS = 5
WARM: set[str] = set()
"""Systems that have been fitted in this process, so that imports and compilation are not timed."""
MEASURES = ("accuracy", "log_loss", "fit_seconds", "predict_seconds", "params")
Parts = tuple[Array, Array, Array, Array]


@dataclass(frozen=True)
class Protocol:
    """The settings that all systems share.

    Parameters
    ----------
    rounds : int, default=100
        Boosting rounds.
    splits : int, default=10
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
    splits: int = 10
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
        }
        for name, check in checks.items():
            require("compare", name, getattr(self, name), check)
        # The last split has the largest random state.
        require("compare", "seed", self.seed, Integer(0, 2**32 - self.splits))

    def split(self, dataset: NamedDataset, index: int) -> tuple[Array, Array]:
        """Training and test rows of split `index`, from 1."""
        from sklearn.model_selection import train_test_split

        rows = np.arange(len(dataset.y))
        state = self.seed + index - 1
        return train_test_split(rows, test_size=self.test_size, stratify=dataset.y, random_state=state)

    def parts(self, dataset: NamedDataset, index: int) -> Parts:
        """Features and labels of the training and of the test part."""
        train, test = self.split(dataset, index)
        return dataset.X[train], dataset.y[train], dataset.X[test], dataset.y[test]

    def rate(self, system: System) -> float:
        """The shrinkage of `system`."""
        return system.learning_rate if self.learning_rate is None else self.learning_rate

    def grid(self, system: System, n_features: int) -> Grid:
        """The system's grid, without the shrinkage if that is set for all systems."""
        fixed = () if self.learning_rate is None else ("learning_rate",)
        return [{k: v for k, v in part.items() if k not in fixed} for part in system.grid(n_features)]

    def build(self, system: System, rounds: int) -> Any:
        """The classifier of a system, not fitted."""
        return system.build(rounds=rounds, learning_rate=self.rate(system), seed=SYSTEM_SEED, threads=THREADS)

    def fit(self, name: str, system: System, X: Array, y: Array) -> tuple[Any, float]:
        """The fitted classifier of a system, and the time of the fit in seconds, without a search."""
        from sklearn.model_selection import GridSearchCV

        if name not in WARM:
            self.build(system, 1).fit(X, y).predict(X[:1])
            WARM.add(name)
        model, grid = self.build(system, self.rounds), self.grid(system, X.shape[1])
        if self.tune and any(grid):
            search = GridSearchCV(model, grid, scoring="accuracy", cv=FOLDS, error_score="raise").fit(X, y)
            return search.best_estimator_, float(search.refit_time_)
        start = perf_counter()
        model.fit(X, y)
        return model, perf_counter() - start

    def measure(self, name: str, system: System, parts: Parts, curves: bool = False) -> dict[str, Any]:
        """Accuracy, log loss and times of a system, and with `curves` its accuracy after each round.

        A system that comes as it is has no curve. For others features are standardised on the training part.
        """
        from sklearn.metrics import accuracy_score, log_loss
        from sklearn.preprocessing import StandardScaler

        X, y, X_test, y_test = parts
        if not system.as_it_comes:
            scaler = StandardScaler().fit(X)
            X, X_test = scaler.transform(X), scaler.transform(X_test)
        model, fit_seconds = self.fit(name, system, X, y)
        model.predict(X_test[:1])
        start = perf_counter()
        predicted = model.predict(X_test)
        predict_seconds = perf_counter() - start
        values = {
            "accuracy": float(accuracy_score(y_test, predicted)),
            "log_loss": float(log_loss(y_test, model.predict_proba(X_test), labels=[0, 1])),
            "fit_seconds": fit_seconds,
            "predict_seconds": predict_seconds,
            "params": plain_params(model),
        }
        if curves:
            values["curve"] = None if system.as_it_comes else self.curve(system, model, X_test, y_test)
        return values

    def curve(self, system: System, model: Any, X: Array, y: Array) -> Array:
        """Accuracy after each round; the last one is repeated if training stopped early."""
        stages = islice(system.staged(model, X), self.rounds)
        curve = [float(np.mean(labels == y)) for labels in stages]
        return np.array(curve + curve[-1:] * (self.rounds - len(curve)))


def compare(
    datasets: Sequence[NamedDataset],
    systems: Sequence[str],
    protocol: Protocol | None = None,
    *,
    jobs: int = 1,
    curves: bool = False,
) -> list[Record]:
    """Run systems on data sets under identical loops.

    Parameters
    ----------
    datasets : sequence of NamedDataset
        As :func:`~rffboost_ext.experiments.compare.load` returns them.
    systems : sequence of str
        Names in :data:`~rffboost_ext.experiments.compare.SYSTEMS`.
    protocol : Protocol, optional
        The shared settings; 10 splits and 100 rounds by default.
    jobs : int, default=1
        Processes; -1 for one per core. Accuracies do not depend on it.
    curves : bool, default=False
        Whether to measure the accuracy after every round.

    Returns
    -------
    list of Record
        Ordered by data set, split and system. Their measures are ``accuracy`` and ``log_loss`` (natural logarithm)
        of the test part, ``fit_seconds`` of the final fit without a grid search, ``predict_seconds``, ``params``,
        the hyperparameters, and if requested ``curve``, the accuracy after 1, 2, ... rounds, (rounds,), or None
        for a system that comes as it is.

    Raises
    ------
    ValueError, TypeError
        If a system is unknown, a name is given twice or a parameter is out of range, before any work is done; or
        if a fit fails, for example because a data set is too small or a package is not installed.
    """
    protocol = protocol or Protocol()
    check_comparison(datasets, systems, protocol, jobs)
    return list(measured(datasets, systems, protocol, jobs, curves))


def check_comparison(
    datasets: Sequence[NamedDataset], systems: Sequence[str], protocol: Protocol, jobs: int
) -> None:
    """Raise a TypeError or ValueError unless a comparison is valid, or an ImportError."""
    protocol.validate()
    require("compare", "jobs", jobs, Integer(1) | OneOf((-1,)))
    for dataset in datasets:
        check_arrays(dataset)
    names = [dataset.name for dataset in datasets]
    for kind, requested, choices in (("data set", names, names), ("system", list(systems), [*SYSTEMS])):
        if not requested:
            raise ValueError(f"compare: at least one {kind} is needed, got none")
        check_choices(kind, requested, choices)
    for name in systems:
        if package := SYSTEMS[name].package:
            require_packages(f"system {name!r}", package)


def measured(
    datasets: Sequence[NamedDataset], systems: Sequence[str], protocol: Protocol, jobs: int, curves: bool
) -> Iterator[Record]:
    """The records of a valid comparison, by data set, split and system, as they arrive."""
    calls = [
        partial(measure, protocol, curves, dataset, split, name, SYSTEMS[name])
        for dataset in datasets
        for split in range(1, protocol.splits + 1)
        for name in systems
    ]
    return run_in_processes(calls, jobs, ordered=True)


def measure(
    protocol: Protocol, curves: bool, dataset: NamedDataset, split: int, name: str, system: System
) -> Record:
    """The record of a system on a split, on one thread; a ValueError that says where it failed."""
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):
            values = protocol.measure(name, system, protocol.parts(dataset, split), curves)
    except Exception as error:
        where = f"{dataset.name}, {name}, split {split}"
        raise ValueError(f"{where}: {type(error).__name__}: {error}") from error
    return Record(dataset.name, name, split, float(protocol.rounds), f"rffboost-ext {__version__}", values)


def check_arrays(dataset: NamedDataset) -> None:
    """Raise a ValueError unless features are finite and labels are 0 or 1."""
    from sklearn.utils import check_X_y

    _, y = check_X_y(dataset.X, dataset.y)
    if y.dtype.kind not in "biu" or not np.isin(y, (0, 1)).all():
        raise ValueError(f"data set {dataset.name!r}: y must be 0 or 1, whole numbers, got {np.unique(y)[:3]}")


def plain_params(model: Any) -> Mapping[str, Any]:
    """The hyperparameters of a classifier, including nested ones, that are numbers or strings."""
    params = model.get_params(deep=True)
    return {name: value for name, value in sorted(params.items()) if is_plain(value)}


def is_plain(value: object) -> bool:
    """Whether a value is a bool, an integer, a finite float or a string."""
    return isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value))
