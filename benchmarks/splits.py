"""Training and test rows of a data set: random, of whole groups, or in the order of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, train_test_split

Array = np.ndarray
TEST_SHARE, MOST_TESTED = 0.3, 20_000


@dataclass(frozen=True)
class Rows:
    """Features and targets of the training and of the test rows.

    `groups` are the groups of the training rows, if splits keep groups whole; `ordered` is whether rows are in the
    order of time, and test rows later.
    """

    task: str
    X: Any
    y: Array
    X_test: Any
    y_test: Array
    groups: Array | None = None
    ordered: bool = False


@dataclass(frozen=True)
class TaskData:
    """A data set.

    Attributes
    ----------
    task : str
        "binary", "multiclass" or "regression".
    X : ndarray or data frame of shape (n, d)
        Features, with missing values; a data frame, with text as categories, unless all of them are numbers.
    y : ndarray of shape (n,)
        Classes, counted from 0, or targets.
    train : int, optional
        Most training rows of a split.
    groups : ndarray of shape (n,), optional
        The groups that splits keep whole.
    ordered : bool, default=False
        Whether rows are in the order of time, so that splits test later rows.
    """

    task: str
    X: Any
    y: Array
    train: int | None = None
    groups: Array | None = None
    ordered: bool = False

    def split(self, seed: int) -> Rows:
        """At most 70 % of the rows for training, and the others for tests, at most 20,000 in random splits.

        The split is random and stratified by class, or of whole groups. In the order of time the last 30 % are
        test rows; each seed after 1 leaves out another 15 % at the end.
        """
        n = len(self.y)
        n_test = int(np.ceil(TEST_SHARE * n))
        n_train = min(self.train or n, n - n_test)
        if self.groups is not None:
            ((train, test),) = GroupShuffleSplit(1, test_size=TEST_SHARE, random_state=seed).split(
                self.X, groups=self.groups
            )
        elif self.ordered:
            end = int(n * (1.0 - 0.15 * (seed - 1)))
            train, test = np.split(np.arange(end), [int((1.0 - TEST_SHARE) * end)])
        else:
            classes = None if self.task == "regression" else self.y
            sizes = {"train_size": n_train, "test_size": min(n - n_train, MOST_TESTED)}
            train, test = train_test_split(np.arange(n), **sizes, stratify=classes, random_state=seed)
        return self.parts(train, test)

    def parts(self, train: Array, test: Array) -> Rows:
        """The features and targets of training and test rows."""
        X = self.X if isinstance(self.X, np.ndarray) else self.X.iloc
        groups = None if self.groups is None else self.groups[train]
        return Rows(self.task, X[train], self.y[train], X[test], self.y[test], groups, self.ordered)
