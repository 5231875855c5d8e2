"""Functions that return batches of rows as sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .core import Batch, Part, Source

ADVICE = (
    "each pass over the rows calls it anew: give a function, as in sources.batches(lambda: read(path)), or write "
    "the rows to a file first"
)


def batches(function: Callable[[], Iterable[Any]], *, max_rows: int | str = "auto") -> Source:
    """Rows of a function that returns an iterator of batches, anew at each call.

    Parameters
    ----------
    function : callable
        ``function()`` returns an iterable of ``(X, y)``, ``(X, y, weight)`` or ``(X, y, weight, group)``: some
        rows of features, as an array, a sparse matrix or a table, their targets, weights and labels of groups.
        Either of the last two may be None. For predictions it may be of X alone. All calls return the same rows in
        the same order, cut into batches in any way.
    max_rows : int or "auto", default="auto"
        Maximum number of rows that a fit keeps in memory; see :class:`Source`.

    Returns
    -------
    Source

    Raises
    ------
    TypeError
        If `function` is no function, such as a generator, which can be read once only.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, sources
    >>> def blocks():
    ...     for seed in range(10):
    ...         X = np.random.default_rng(seed).uniform(-3, 3, (100, 2))
    ...         yield X, np.sin(X[:, 0])
    >>> RFFBoostRegressor(random_state=0).fit(sources.batches(blocks)).n_rows_seen_
    1000
    """
    if not callable(function):
        raise TypeError(f"sources.batches: function must be a function, got a {type(function).__name__}; {ADVICE}")
    return FunctionSource(function, max_rows)


class FunctionSource(Source):
    """Rows of a function, which are one part; see :func:`batches`."""

    def __init__(self, function: Callable[[], Iterable[Any]], max_rows: int | str) -> None:
        super().__init__(max_rows)
        self.function = function

    def parts(self) -> Sequence[Part]:
        return [self]

    def batches(self, features: bool = True) -> Iterator[Batch]:
        """The rows, numbered in their order."""
        start = 0
        for item in self.function():
            X, *columns = item if isinstance(item, tuple) else (item,)
            if len(columns) > 3:
                raise ValueError(
                    f"sources.batches: function must yield (X, y, weight, group) or less, got {len(columns) + 1} "
                    f"entries"
                )
            batch = Batch.of(X, start, *columns)
            yield batch
            start += len(batch)
