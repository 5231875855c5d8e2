"""Sources of rows: what files, streams, arrays on disk and the blocks of a cluster have in common.

A source is a sequence of parts, a part a sequence of batches. Every row has a number, so that what a pass over all
rows computes is the same for any cut into parts and batches, and for any order in which results are merged.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from ..rows.selection import join_rows, row_bytes, take_rows
from ..rows.tables import target_array
from ..utils.param_validation import Integer, OneOf, is_auto, require
from ..utils.typing import Array

T = TypeVar("T")

# With max_rows="auto" the features of the rows that a fit keeps have this size.
MAX_BYTES = 2**28


@dataclass(frozen=True)
class Batch:
    """Some rows in memory.

    Parameters
    ----------
    X : ndarray or sparse matrix of shape (m, d), or table
        Features, as ``fit`` takes them. None where a pass over targets alone has not read them.
    row : ndarray of uint64, shape (m,)
        The number of each row: its place among all rows of the source, or a column of distinct numbers.
    y : ndarray of shape (m,) or (m, K), optional
        Targets; None if the source has none.
    weight : ndarray of shape (m,), optional
        Sample weights; None for ones.
    group : ndarray of shape (m,), optional
        Labels of groups, such as queries. Samples keep groups whole.
    place : str, default="row {}"
        How messages name a row, such as "row {} of rows.csv".
    first : int, default=0
        The number of the row that they count from.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.sources import Batch
    >>> batch = Batch(np.eye(3), row=np.arange(3, dtype=np.uint64), y=np.array([5.0, 6.0, 7.0]))
    >>> len(batch), batch.take(np.array([2])).y
    (3, array([7.]))
    """

    X: Any
    row: Array
    y: Array | None = None
    weight: Array | None = None
    group: Array | None = None
    place: str = "row {}"
    first: int = 0

    @classmethod
    def of(cls, X: Any, start: int, y: Any = None, weight: Any = None, group: Any = None) -> Batch:
        """Rows in containers of any kind, numbered from `start`; without X they are counted by `y`."""
        columns: dict[str, Any] = {
            # Targets of survival are structured arrays.
            name: one if one is None or isinstance(one, np.ndarray) else target_array(one, name)
            for name, one in (("y", y), ("weight", weight), ("group", group))
        }
        n_rows = np.shape(columns["y"] if X is None else X)[0]
        return cls(X, np.arange(start, start + n_rows, dtype=np.uint64), **columns)

    def __len__(self) -> int:
        return len(self.row)

    def name_of(self, row: int) -> str:
        """The row of a number, for messages."""
        return self.place.format(row - self.first)

    def take(self, index: Array) -> Batch:
        """The rows of an index (k,), copied."""
        y, weight, group = (None if one is None else one[index] for one in (self.y, self.weight, self.group))
        X = None if self.X is None else take_rows(self.X, index)
        return Batch(X, self.row[index], y, weight, group, self.place, self.first)


def gather(batches: Sequence[Batch], indices: Sequence[Array]) -> Batch:
    """Rows of several batches, one below the other."""

    def joint(name: str) -> Any:
        columns = [getattr(batch, name) for batch in batches]
        return None if any(column is None for column in columns) else join_rows(columns, indices)

    return Batch(*map(joint, ("X", "row", "y", "weight", "group")))


class Part(Protocol):
    """Some rows of a source, which can be read again. Parts are pickled when other processes read them."""

    def batches(self, features: bool = True) -> Iterator[Batch]:
        """The rows in batches of bounded size, in the same order each time.

        Parameters
        ----------
        features : bool, default=True
            Whether X is used. If not it may be None, so that a pass over targets does not read features.
        """


class Source(ABC):
    """Rows that are read part by part.

    Parameters
    ----------
    max_rows : int or "auto", default="auto"
        Maximum number of rows that a fit keeps in memory. A source of no more rows gives the model of a fit in
        memory. "auto" is as many rows as have features of 256 MiB. These are the bytes of an array, 8 for each
        number of a table, and 12 for each entry of a sparse matrix of which less than 10 % are stored.

    Raises
    ------
    ValueError, TypeError
        If `max_rows` is neither.

    Attributes
    ----------
    n_rows : int or None
        The number of rows, if it is known without reading them; it saves a pass.
    """

    n_rows: int | None = None

    def __init__(self, max_rows: int | str = "auto") -> None:
        require(type(self).__name__, "max_rows", max_rows, Integer(1) | OneOf(("auto",)))
        self.max_rows = max_rows

    def __repr__(self) -> str:
        rows = "an unknown number of" if self.n_rows is None else f"{self.n_rows:,}"
        return f"<{type(self).__name__} of {rows} rows>"

    @abstractmethod
    def parts(self) -> Sequence[Part]:
        """The parts. Each row is in one of them."""

    def reduce(self, read: Callable[[Part], T], merge: Callable[[T, T], T], features: bool = True) -> T:
        """What `read` returns for each part, merged two by two.

        Parameters
        ----------
        read : callable, Part -> T
            Called once for each part, perhaps in another process.
        merge : callable, (T, T) -> T
            Associative and commutative.
        features : bool, default=True
            Whether `read` uses X. If not, an engine need not load the features of a part.

        Returns
        -------
        T

        Raises
        ------
        ValueError
            If there are no parts.
        """
        parts = self.parts()
        if not parts:
            raise ValueError("the source must have rows, got no parts")
        return functools.reduce(merge, map(read, parts))

    def name_of(self, row: int) -> str:
        """The row of a number, for messages."""
        return f"row {row} of the source"

    def row_limit(self) -> int:
        """The maximum number of rows that a fit keeps, a number also if `max_rows` is "auto"."""
        return max(1, MAX_BYTES // self.row_bytes()) if is_auto(self.max_rows) else int(self.max_rows)

    def row_bytes(self) -> int:
        """The bytes of the features of a row in a fit, by its first rows."""
        first = (batch.X for part in self.parts() for batch in part.batches() if len(batch))
        return next(map(row_bytes, first), 1)
