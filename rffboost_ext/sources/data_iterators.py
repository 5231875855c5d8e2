"""Iterators of XGBoost as sources of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .core import Source
from .functions import batches

# The arguments of input_data that a fit has, by their places in a batch.
TAKEN = {"data": 0, "label": 1, "weight": 2, "qid": 3}
IGNORED = {"feature_names", "feature_types"}


@dataclass(frozen=True)
class IteratorBatches:
    """The batches of an iterator of XGBoost, from the first one at each call."""

    iterator: Any

    def __call__(self) -> Iterator[tuple[Any, ...]]:
        received: list[dict[str, Any]] = []
        self.iterator.reset()
        while self.iterator.next(lambda **options: received.append(options)):
            while received:
                yield self._batch(received.pop(0))

    def _batch(self, options: dict[str, Any]) -> tuple[Any, ...]:
        other = [
            name for name, one in options.items() if one is not None and name not in TAKEN and name not in IGNORED
        ]
        if other:
            raise ValueError(f"sources.data_iter: input_data must get {', '.join(TAKEN)}, got {other[0]}")
        kinds = options.get("feature_types")
        if kinds is not None and "c" in list(kinds):
            raise ValueError(
                f"sources.data_iter: feature_types must be those of numbers, got 'c' for column "
                f"{list(kinds).index('c')}: leave them out, and name it in categorical_features of the estimator"
            )
        return tuple(options.get(name) for name in TAKEN)


def data_iter(iterator: Any, *, max_rows: int | str = "auto") -> Source:
    """An iterator of XGBoost as a source of rows.

    Parameters
    ----------
    iterator : xgboost.DataIter
        ``next(input_data)`` calls ``input_data(data=..., label=..., weight=..., qid=...)`` with some rows, as an
        array, a sparse matrix or a table, and returns whether it did. The same rows come in the same order after
        each ``reset()``. An absent entry of a sparse matrix is 0, which XGBoost itself takes for a missing value.
        Tables have names and types of features. Those of arrays are not used, and ``feature_types`` with
        categories are an error.
    max_rows : int or "auto", default="auto"
        Maximum number of rows that a fit keeps in memory; see :class:`Source`.

    Returns
    -------
    Source

    Raises
    ------
    TypeError
        If `iterator` is no DataIter.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext import RFFBoostRegressor, sources
    >>> class Blocks(xgboost.DataIter):
    ...     def __init__(self):
    ...         self.k = 0
    ...         super().__init__()
    ...
    ...     def next(self, input_data):
    ...         if self.k == 3:
    ...             return False
    ...         X = np.random.default_rng(self.k).standard_normal((50, 2))
    ...         input_data(data=X, label=X[:, 0])
    ...         self.k += 1
    ...         return True
    ...
    ...     def reset(self):
    ...         self.k = 0
    >>> RFFBoostRegressor(learner="tree", n_estimators=5).fit(sources.data_iter(Blocks())).n_rows_seen_
    150
    """
    if not callable(getattr(iterator, "next", None)) or not callable(getattr(iterator, "reset", None)):
        raise TypeError(
            f"sources.data_iter: iterator must be a DataIter of XGBoost, got a {type(iterator).__name__}"
        )
    return batches(IteratorBatches(iterator), max_rows=max_rows)
