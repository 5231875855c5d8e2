"""The random splits of the papers, and their generated data sets in two dimensions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rffboost_ext.experiments.datasets import NamedDataset
from rffboost_ext.utils.typing import Array

from ..data import PublishedDataset
from .grid_search import Arrays, DataSplit

PUBLISHED_SEED = 42


@dataclass(frozen=True)
class CrossValidated:
    """Gautheron et al.: stratified, with k-fold cross-validation in the training part.

    Split and folds are those of the published experiments with seed `index`, if the rows are in the same order.
    """

    test_size: float
    standardized: bool = True
    folds: int = 5

    def parts(self, data: NamedDataset, index: int) -> DataSplit:
        """The parts of split `index`, from 1."""
        return self.of(data.X, data.y, np.random.RandomState(index))

    def of(self, X: Array, y: Array, rng: np.random.RandomState) -> DataSplit:
        """The parts of X (n, d) and y (n,), at random."""
        from sklearn.model_selection import StratifiedKFold, train_test_split

        rows = np.arange(len(y))
        train, test = train_test_split(rows, test_size=self.test_size, stratify=y, random_state=rng)
        folds = StratifiedKFold(self.folds, shuffle=True, random_state=rng).split(X[train], y[train])
        pairs = [self._pair(X, y, train[fitted], train[choosing]) for fitted, choosing in folds]
        return DataSplit(*self._pair(X, y, train, test), pairs)

    def _pair(self, X: Array, y: Array, fitted: Array, judged: Array) -> tuple[Arrays, Arrays]:
        """Rows to fit on and rows to evaluate on, standardised on the former."""
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler(with_mean=self.standardized, with_std=self.standardized).fit(X[fitted])
        return (scaler.transform(X[fitted]), y[fitted]), (scaler.transform(X[judged]), y[judged])


@dataclass(frozen=True)
class Validated:
    """Letarte et al.: 20 % of the training part are for validation and not fitted on.

    Features are not standardised. The first split is the published one, if the rows are in the same order.
    """

    test_size: float = 0.25
    validation_size: float = 0.2

    def parts(self, data: PublishedDataset, index: int) -> DataSplit:
        """The parts of split `index`, from 1."""
        from sklearn.model_selection import train_test_split

        rng = np.random.RandomState(PUBLISHED_SEED + index - 1)
        rows = np.arange(len(data.y))
        if data.train_rows is None:
            rows, test = train_test_split(rows, test_size=self.test_size, random_state=rng)
        else:
            rows, test = rows[: data.train_rows], rows[data.train_rows :]
        fitted, choosing = train_test_split(rows, test_size=self.validation_size, random_state=rng)
        train, held, judged = ((data.X[part], data.y[part]) for part in (fitted, choosing, test))
        return DataSplit(train, judged, [(train, held)])


def swiss(n: int, rng: np.random.RandomState) -> Arrays:
    """A spiral of one turn and one of 0.9 times its radius, with Gaussian noise of 0.4."""
    each = n // 2
    X = np.vstack([spiral(each, factor, rng) for factor in (1.0, 0.9)])
    return X, np.repeat([0, 1], each)


def spiral(n: int, factor: float, rng: np.random.RandomState) -> Array:
    """Points whose radius is `factor` times their angle, between 1.5 and 4.5 pi, with Gaussian noise of 0.4."""
    angle = 1.5 * np.pi * (1.0 + 2.0 * rng.uniform(size=n))
    around = np.column_stack([np.cos(angle), np.sin(angle)])
    return factor * angle[:, None] * around + 0.4 * rng.standard_normal((n, 2))


def circles(n: int, rng: np.random.RandomState) -> Arrays:
    """Four concentric circles of alternating class, with Gaussian noise of 0.07 times the radius."""
    each = n // 4
    angle = np.linspace(0.0, 2.0 * np.pi, each, endpoint=False)
    around = np.array([np.cos(angle), np.sin(angle)])
    X = [radius * (around + 0.07 * rng.standard_normal((2, each))).T for radius in range(1, 5)]
    return np.vstack(X), np.repeat([0, 1, 0, 1], each)


def board(n: int, rng: np.random.RandomState) -> Arrays:
    """A board of 4 x 4 fields of alternating class."""
    X = rng.uniform(0.0, 4.0, size=(2, n)).T
    return X, np.floor(X).sum(axis=1).astype(np.int64) % 2


def moons(n: int, noise: float, rng: np.random.RandomState) -> Arrays:
    """Two moons around the origin, twice the usual size."""
    from sklearn.datasets import make_moons

    X, y = make_moons(n, noise=noise, random_state=rng)
    return 2.0 * (X - [0.5, 0.25]), y


TOYS: dict[str, Callable[[int, np.random.RandomState], Arrays]] = {
    "swiss": swiss,
    "circles": circles,
    "board": board,
}
"""The data sets of ECML-PKDD 2020, Figure 5."""
