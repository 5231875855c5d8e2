"""Grid search of hyperparameters, for every size of a system at once."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from rffboost_ext.experiments.compare.systems import Grid
from rffboost_ext.experiments.summary import DIGITS
from rffboost_ext.utils.typing import Array

from ..baselines.feature_map import MappedSVM

Arrays = tuple[Array, Array]
Candidate = dict[str, Any]
Candidates = Sequence[Candidate]
Sizes = Sequence[float]
P = TypeVar("P", bound="SystemPath")
MAPPING = "mapping__"
KERNEL_ROWS = 12_000
"""Largest number of rows whose Gram matrix is held in memory."""
KERNEL_BYTES = 8 * 2**30
"""Memory for the values of a kernel between the rows of a search."""


@dataclass(frozen=True)
class DataSplit:
    """Features and labels of the training and the test part, and of both parts of each fold of the search."""

    train: Arrays
    test: Arrays
    folds: list[tuple[Arrays, Arrays]]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of training rows, test rows and features."""
        return len(self.train[1]), len(self.test[1]), self.train[0].shape[1]


@dataclass(frozen=True)
class SystemPath(ABC):
    """A system as a function of its size: rounds, landmarks or frequencies.

    ``make(size)`` is a classifier of that size, not fitted, for features that need no further scaling; ``grid(d)``
    are the hyperparameters to search for data of d features. `largest` is the largest size, if sizes are nested.
    """

    make: Callable[[float], Any]
    grid: Callable[[int], Grid]
    largest: float | None = None

    def restricted(
        self: P, largest: float | None = None, fixed: Mapping[str, float] | None = None, **parameters: Any
    ) -> P:
        """The same with a largest size and with some parameters set.

        Parameters
        ----------
        largest : float, optional
            The largest size that there is.
        fixed : mapping, optional
            Hyperparameters with one value instead of those of the grid.
        **parameters
            Set on the classifier.
        """
        single = {name: [value] for name, value in (fixed or {}).items()}
        return type(self)(
            lambda size: self.make(size).set_params(**parameters),
            lambda d: [part | single for part in self.grid(d)],
            largest,
        )

    @abstractmethod
    def scores(self, candidates: Candidates, train: Arrays, test: Arrays, sizes: Sizes) -> Array:
        """Accuracy on `test`, (candidates, sizes), after a fit to `train`."""


class StagedPath(SystemPath):
    """A booster: the fit of the largest size includes all smaller ones."""

    def scores(self, candidates: Candidates, train: Arrays, test: Arrays, sizes: Sizes) -> Array:
        return np.array([self._along(candidate, train, test, sizes) for candidate in candidates])

    def _along(self, candidate: Candidate, train: Arrays, test: Arrays, sizes: Sizes) -> list[float]:
        X, y = test
        model = self.make(max(sizes)).set_params(**candidate).fit(*train)
        if len(sizes) == 1:
            return [float(np.mean(model.predict(X) == y))]
        curve = [float(np.mean(labels == y)) for labels in model.staged_predict(X)]
        # A fit that stopped early keeps its last accuracy.
        return [curve[min(int(size), len(curve)) - 1] for size in sizes]


class MappedPath(SystemPath):
    """A map and a linear SVM: all C share one map.

    If a `largest` size is set, the first columns of its map are the map of a smaller size. Otherwise each call is
    for one size.
    """

    def scores(self, candidates: Candidates, train: Arrays, test: Arrays, sizes: Sizes) -> Array:
        accuracy = np.empty((len(candidates), len(sizes)))
        for mapping, members in by_mapping(candidates):
            model = self.make(self.largest or max(sizes)).set_params(**mapping)
            solvers = [clone(model).set_params(**rest).solver() for _, rest in members]
            rows = [index for index, _ in members]
            for column, (F, F_test) in enumerate(self.features(model, train, test[0], sizes)):
                accuracy[rows, column] = accuracies(solvers, (F, train[1]), (F_test, test[1]))
        return accuracy

    def features(self, model: MappedSVM, train: Arrays, X_test: Array, sizes: Sizes) -> Iterator[Arrays]:
        """The features of both parts, for each size."""
        mapping = clone(model.mapping).fit(*train)
        F, F_test = mapping.transform(train[0]), mapping.transform(X_test)
        for size in sizes:
            width = F.shape[1] if self.largest is None else int(size)
            yield F[:, :width], F_test[:, :width]


class KernelPath(SystemPath):
    """A support vector machine with the Gaussian kernel: all C of a gamma share the Gram matrix."""

    def scores(self, candidates: Candidates, train: Arrays, test: Arrays, sizes: Sizes) -> Array:
        (X, y), (X_test, y_test) = train, test
        if 8 * len(X) * (len(X) + len(X_test)) > KERNEL_BYTES:
            return StagedPath(self.make, self.grid).scores(candidates, train, test, sizes)
        accuracy = np.empty((len(candidates), len(sizes)))
        for gamma in {candidate["gamma"] for candidate in candidates}:
            kernel, kernel_test = rbf_kernel(X, gamma=gamma), rbf_kernel(X_test, X, gamma=gamma)
            for index in (i for i, candidate in enumerate(candidates) if candidate["gamma"] == gamma):
                svm = self.make(max(sizes)).set_params(**candidates[index], kernel="precomputed")
                accuracy[index] = np.mean(svm.fit(kernel, y).predict(kernel_test) == y_test)
            # Only one pair of matrices is in memory at a time.
            del kernel, kernel_test
        return accuracy


class ResampledPath(MappedPath):
    """Greedy kernel learning: one pass over the data for all sizes."""

    def features(self, model: MappedSVM, train: Arrays, X_test: Array, sizes: Sizes) -> Iterator[Arrays]:
        fitted: Any = clone(model.mapping).fit(*train)
        for size in sizes:
            mapping = fitted.reweighted(n_components=int(size))
            yield mapping.transform(train[0]), mapping.transform(X_test)


class RedrawnPath(MappedPath):
    """Random features: a separate map for each size."""

    def features(self, model: MappedSVM, train: Arrays, X_test: Array, sizes: Sizes) -> Iterator[Arrays]:
        for size in sizes:
            mapping = clone(model.mapping).set_params(n_components=int(size)).fit(*train)
            yield mapping.transform(train[0]), mapping.transform(X_test)


def accuracies(solvers: Sequence[Any], train: Arrays, test: Arrays) -> list[float]:
    """Accuracy of each linear SVM on `test`, after a fit to `train`.

    For few rows, all SVMs of libsvm share one Gram matrix.
    """
    (F, y), (F_test, y_test) = train, test
    if isinstance(solvers[0], SVC) and len(F) <= KERNEL_ROWS:
        solvers = [solver.set_params(kernel="precomputed") for solver in solvers]
        F, F_test = F @ F.T, F_test @ F.T
    return [float(np.mean(solver.fit(F, y).predict(F_test) == y_test)) for solver in solvers]


def by_mapping(candidates: Candidates) -> list[tuple[Candidate, list[tuple[int, Candidate]]]]:
    """Candidates grouped by the parameters of the map: indices and remaining parameters."""

    def mapping(item: tuple[int, Candidate]) -> list[tuple[str, Any]]:
        return sorted((name, value) for name, value in item[1].items() if name.startswith(MAPPING))

    groups = groupby(sorted(enumerate(candidates), key=mapping), key=mapping)
    return [(dict(shared), [(index, without(item, shared)) for index, item in group]) for shared, group in groups]


def without(candidate: Candidate, shared: list[tuple[str, Any]]) -> Candidate:
    """The parameters of a candidate that are not among the shared ones."""
    names = {name for name, _ in shared}
    return {name: value for name, value in candidate.items() if name not in names}


def tune(path: SystemPath, parts: DataSplit, sizes: Sizes, grid: Grid) -> tuple[Array, list[Candidate]]:
    """Accuracy on the test part, (sizes,), with the best hyperparameters of each size, and these hyperparameters.

    The best have the highest mean accuracy over the folds; the first of ties wins.
    """
    from sklearn.model_selection import ParameterGrid

    candidates: list[Candidate] = list(ParameterGrid(grid))
    accuracy = np.empty(len(sizes))
    with warnings.catch_warnings():
        # The papers' solvers stop after a fixed number of iterations.
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = best_candidates(path, parts, sizes, candidates)
        for index in np.unique(best):
            part = [size for size, candidate in zip(sizes, best, strict=True) if candidate == index]
            accuracy[best == index] = path.scores([candidates[index]], parts.train, parts.test, part)[0]
    return accuracy, [candidates[index] for index in best]


def best_candidates(path: SystemPath, parts: DataSplit, sizes: Sizes, candidates: Candidates) -> Array:
    """The index of the best candidate of each size."""
    if len(candidates) == 1:
        return np.zeros(len(sizes), dtype=np.int64)
    folds = [path.scores(candidates, fitted, choosing, sizes) for fitted, choosing in parts.folds]
    return np.asarray(np.mean(folds, axis=0).round(DIGITS).argmax(axis=0))


def reduced_grid(grid: Grid) -> Grid:
    """At most two values of each hyperparameter, for a quick run: those of :func:`quartiles`."""
    return [{name: [*dict.fromkeys(quartiles(values))] for name, values in part.items()} for part in grid[-2:]]


def quartiles(values: list[Any]) -> list[Any]:
    """The values at a quarter and three quarters of a list."""
    last = len(values) - 1
    return [values[last // 4], values[last - last // 4]]
