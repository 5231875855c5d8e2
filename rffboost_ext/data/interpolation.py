"""Rows that were interpolated between two rows of their class, as SMOTE and its variants make them.

Such a row reveals both of its parents. Validation sets therefore hold no interpolated rows, and the training set
of a model none with a held-out parent.

A row is interpolated if it lies on the line between two others. In three or more dimensions this does not happen
by chance, but it does where features are functions of each other, on grids, and where gaps of a time series were
filled. So one class must have such rows and another must not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..utils.typing import Array
from .dataset import Dataset

# Minimum share of interpolated rows in one class, and the maximum share in another.
MIN_SHARE, MAX_SHARE = 0.1, 0.02
# Rows of each class that are tested for this, and the minimum number of observed rows of a class: SMOTE needs 6.
N_TESTED, MIN_ROWS = 50, 6
# Parents are looked for after the removal of rows that lie between others, a few times.
MAX_PASSES = 4
# Largest difference of the cosine of the angle between the directions to both parents from -1.
MAX_DEVIATION = 1e-10
# Columns to look at, and the minimum share of distinct values in one.
MIN_COLUMNS, MAX_COLUMNS, MIN_DISTINCT_SHARE = 3, 8, 0.25
# An arbitrary direction.
PROJECTION = np.random.default_rng(0).standard_normal(MAX_COLUMNS)
# Maximum number of rows: with more, models rely less on single ones.
MAX_ROWS = 10_000


def find_parents(rows: Dataset, seed: int) -> Array | None:
    """The two parents of each interpolated row, (n, 2), -1 for the other rows; None if no row was interpolated.

    Parameters
    ----------
    rows : Dataset
        Rows whose target is the index of a class.
    seed : int
        Seed of the sample that is tested first.
    """
    if len(rows) > MAX_ROWS:
        return None
    rng = np.random.default_rng([seed, 3])
    points = Points.of(rows.X, rng.permutation(len(rows))[:1_000])
    _, codes, counts = np.unique(rows.y[:, 0], return_inverse=True, return_counts=True)
    classes = [np.flatnonzero(codes == c) for c in np.flatnonzero(counts > MIN_ROWS)]
    if points is None or len(classes) < 2:
        return None
    tested = [rng.permutation(index)[:N_TESTED] for index in classes]
    shares = np.array([points.between(few, index).mean() for few, index in zip(tested, classes, strict=True)])
    if shares.max() < MIN_SHARE or shares.min() > MAX_SHARE:
        return None
    parents = np.full((len(rows), 2), -1)
    for k in np.flatnonzero(shares >= MIN_SHARE):
        observed = points.observed(classes[k])
        if len(observed) >= MIN_ROWS:
            made = np.setdiff1d(classes[k], observed, assume_unique=True)
            parents[made] = [points.opposite_pair(row, observed)[0] for row in made.tolist()]
    return parents if (parents >= 0).any() else None


def observed_rows(rows: Dataset, parents: Array) -> Dataset:
    """The rows that were not interpolated; the weights of the others are divided between their parents."""
    made = parents[:, 0] >= 0
    weight = rows.weight.copy()
    np.add.at(weight, parents[made], 0.5 * rows.weight[made, None])
    return rows.reweighted(weight).take(np.flatnonzero(~made))


@dataclass(frozen=True)
class Points:
    """The continuous columns of some rows.

    Parameters
    ----------
    X : ndarray of shape (n, k)
        Numbers, each column of unit variance.
    is_single : ndarray of bool, shape (n, k)
        Whether no other row has this number. On a grid many have, and lie on one line.
    """

    X: Array
    is_single: Array

    @classmethod
    def of(cls, X: Array, sample: Array) -> Points | None:
        """Up to `MAX_COLUMNS` columns, continuous by a `sample` of the rows; None if they are too few."""
        some = X[sample]
        ordered = np.sort(some, axis=0)
        share = (ordered[1:] != ordered[:-1]).mean(axis=0)
        columns = np.flatnonzero(np.isfinite(some).all(axis=0) & (share >= MIN_DISTINCT_SHARE))[:MAX_COLUMNS]
        numbers = X[:, columns].astype(np.float64)
        numbers = numbers[:, np.isfinite(numbers).all(axis=0)]
        if numbers.shape[1] < MIN_COLUMNS:
            return None
        found = [np.unique(column, return_inverse=True, return_counts=True)[1:] for column in numbers.T]
        return cls(numbers / numbers.std(axis=0), np.column_stack([counts[code] == 1 for code, counts in found]))

    def between(self, rows: Array, others: Array) -> Array:
        """Whether each of some rows lies between two of the `others`."""
        return np.array([self.opposite_pair(row, others)[1] for row in rows.tolist()])

    def observed(self, rows: Array) -> Array:
        """Those of some rows that do not lie between two others."""
        for _ in range(MAX_PASSES):
            between = self.between(rows, rows)
            rows = rows[~between]
            if not between.any() or len(rows) < MIN_ROWS:
                break
        return rows

    def opposite_pair(self, row: int, others: Array) -> tuple[Array, bool]:
        """The two of the `others` in most opposite directions from a row, and whether the row is between them.

        One of the `others`, at least three rows, may be the row itself. Opposite directions have the same absolute
        projection, so they are neighbours in the order of these.
        """
        steps = self.X[others] - self.X[row]
        distance = np.sqrt(np.einsum("ij,ij->i", steps, steps))
        directions = np.divide(steps, distance[:, None], out=steps, where=distance[:, None] > 0.0)
        order = np.abs(directions @ PROJECTION[: steps.shape[1]]).argsort()
        first, second = np.r_[order[:-1], order[:-2]], np.r_[order[1:], order[2:]]
        cosines = np.einsum("ij,ij->i", directions[first], directions[second])
        best = int(cosines.argmin())
        pair = [first[best], second[best]]
        on_line = cosines[best] < MAX_DEVIATION - 1.0
        is_new = (self.is_single[row] | (directions[pair[0]] == 0.0)).all()
        return others[pair], bool(on_line and is_new)
