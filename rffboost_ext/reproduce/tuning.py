"""Hyperparameters by a search over a grid, for every size of a system at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from sklearn.base import clone

from ..baselines.grids import Grid
from ..baselines.mapping import FeatureMap, MappedSVM, Sample
from ..compare.report import DIGITS
from ..core import Array

Arrays = tuple[Array, Array]
Candidate = dict[str, Any]
MAPPING = "mapping__"


@dataclass(frozen=True)
class Parts:
    """One split of a data set, ready for a search.

    Attributes
    ----------
    train, test : (ndarray of shape (n, d), ndarray of shape (n,))
        Features and labels that the chosen model is fitted to, and those that it is judged by.
    folds : list of pairs of the same kind
        What to fit on and what to choose by, for each fold of the search.
    """

    train: Arrays
    test: Arrays
    folds: list[tuple[Arrays, Arrays]]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Rows to learn from, rows to be judged by, and features."""
        return len(self.train[1]), len(self.test[1]), self.train[0].shape[1]


class Path(ABC):
    """A system as a function of its size: rounds, landmarks or frequencies.

    Parameters
    ----------
    make : callable
        ``make(size)`` is a classifier of that size, not fitted.
    grid : callable
        ``grid(d)`` are the hyperparameters to search for data of d features.
    """

    def __init__(self, make: Callable[[float], Any], grid: Callable[[int], Grid]) -> None:
        self.make = make
        self.grid = grid

    @abstractmethod
    def scores(
        self, candidates: Sequence[Candidate], train: Arrays, test: Arrays, sizes: Sequence[float]
    ) -> Array:
        """Share of `test` that is right, (candidates, sizes), after a fit to `train`."""


class Staged(Path):
    """A booster: one fit of the largest size holds all smaller ones."""

    def scores(
        self, candidates: Sequence[Candidate], train: Arrays, test: Arrays, sizes: Sequence[float]
    ) -> Array:
        return np.array([self._along(candidate, train, test, sizes) for candidate in candidates])

    def _along(self, candidate: Candidate, train: Arrays, test: Arrays, sizes: Sequence[float]) -> list[float]:
        X, y = test
        model = self.make(max(sizes)).set_params(**candidate).fit(*train)
        if len(sizes) == 1:
            return [float(np.mean(model.predict(X) == y))]
        curve = [float(np.mean(labels == y)) for labels in model.staged_predict(X)]
        # A fit that ended early stays where it is.
        return [curve[min(int(size), len(curve)) - 1] for size in sizes]


class Mapped(Path):
    """A map and a linear SVM: all C share one map, and its first columns are the map of a smaller size."""

    def scores(
        self, candidates: Sequence[Candidate], train: Arrays, test: Arrays, sizes: Sequence[float]
    ) -> Array:
        found = np.empty((len(candidates), len(sizes)))
        for mapping, members in by_mapping(candidates):
            model = self.make(max(sizes)).set_params(**mapping)
            for column, (F, F_test) in enumerate(self.features(model, train, test[0], sizes)):
                for index, rest in members:
                    svm = clone(model).set_params(mapping=Unchanged(), **rest).fit(F, train[1])
                    found[index, column] = np.mean(svm.predict(F_test) == test[1])
        return found

    def features(self, model: MappedSVM, train: Arrays, X_test: Array, sizes: Sequence[float]) -> Iterator[Arrays]:
        """The features of both parts, for each size."""
        mapping = clone(model.mapping).fit(*train)
        F, F_test = mapping.transform(train[0]), mapping.transform(X_test)
        for size in sizes:
            width = F.shape[1] if len(sizes) == 1 else int(size)
            yield F[:, :width], F_test[:, :width]


class Resampled(Mapped):
    """Greedy kernel learning: one pass over the data for all sizes."""

    def features(self, model: MappedSVM, train: Arrays, X_test: Array, sizes: Sequence[float]) -> Iterator[Arrays]:
        fitted: Any = clone(model.mapping).fit(*train)
        for size in sizes:
            mapping = fitted.reweighted(n_components=int(size))
            yield mapping.transform(train[0]), mapping.transform(X_test)


class Redrawn(Mapped):
    """Random features: a map of its own for each size."""

    def features(self, model: MappedSVM, train: Arrays, X_test: Array, sizes: Sequence[float]) -> Iterator[Arrays]:
        for size in sizes:
            mapping = clone(model.mapping).set_params(n_components=int(size)).fit(*train)
            yield mapping.transform(train[0]), mapping.transform(X_test)


class Unchanged(FeatureMap):
    """The features as they are: what stands for a map whose features are known already."""

    supervised = False

    def __init__(self, standardize: bool = False, random_state: Any = None) -> None:
        self.standardize = standardize
        self.random_state = random_state

    def _learn(self, sample: Sample) -> None:
        pass

    def _features(self, X: Array) -> Array:
        return X


def by_mapping(candidates: Sequence[Candidate]) -> list[tuple[Candidate, list[tuple[int, Candidate]]]]:
    """The distinct parameters of the map, each with the candidates that have them and what those add."""

    def mapping(item: tuple[int, Candidate]) -> list[tuple[str, Any]]:
        return sorted((name, value) for name, value in item[1].items() if name.startswith(MAPPING))

    groups = groupby(sorted(enumerate(candidates), key=mapping), key=mapping)
    return [(dict(shared), [(index, without(item, shared)) for index, item in group]) for shared, group in groups]


def without(candidate: Candidate, shared: list[tuple[str, Any]]) -> Candidate:
    """The parameters of a candidate that are not among the shared ones."""
    names = {name for name, _ in shared}
    return {name: value for name, value in candidate.items() if name not in names}


def tuned(path: Path, parts: Parts, sizes: Sequence[float], grid: Grid) -> tuple[Array, list[Candidate]]:
    """Accuracy on the test part with the best hyperparameters of each size, and those.

    The best have the highest mean accuracy over the folds, the first of equals.

    Parameters
    ----------
    path : Path
        The system.
    parts : Parts
        The data.
    sizes : sequence of float
        Sizes, each with a search of its own.
    grid : list of dict
        What is searched, as ``GridSearchCV`` takes it.

    Returns
    -------
    accuracy : ndarray of shape (sizes,)
        Share of the test part.
    chosen : list of dict
        Hyperparameters, for each size.
    """
    from sklearn.model_selection import ParameterGrid

    candidates: list[Candidate] = list(ParameterGrid(grid))
    best = searched(path, parts, sizes, candidates)
    accuracy = np.empty(len(sizes))
    for index in np.unique(best):
        part = [size for size, chosen in zip(sizes, best, strict=True) if chosen == index]
        accuracy[best == index] = path.scores([candidates[index]], parts.train, parts.test, part)[0]
    return accuracy, [candidates[index] for index in best]


def searched(path: Path, parts: Parts, sizes: Sequence[float], candidates: Sequence[Candidate]) -> Array:
    """The index of the best candidate of each size."""
    if len(candidates) == 1:
        return np.zeros(len(sizes), dtype=np.int64)
    folds = [path.scores(candidates, fitted, choosing, sizes) for fitted, choosing in parts.folds]
    return np.asarray(np.mean(folds, axis=0).round(DIGITS).argmax(axis=0))


def thinned(grid: Grid) -> Grid:
    """At most two values of each hyperparameter, in the lower and the upper half of its range: for a sample."""
    return [{name: [*dict.fromkeys(quarters(values))] for name, values in part.items()} for part in grid[-2:]]


def quarters(values: list[Any]) -> list[Any]:
    """The values a quarter and three quarters of the way along a list."""
    last = len(values) - 1
    return [values[last // 4], values[last - last // 4]]
