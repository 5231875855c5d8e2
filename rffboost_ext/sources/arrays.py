"""Arrays, in memory or on disk, as sources of rows."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from ..rows.selection import row_bytes
from ..utils.files import check_path
from ..utils.typing import Array
from .core import Batch, Part, Source
from .files import File

# Rows of a part, which one task reads, and bytes of the features of a batch.
PART_ROWS = 2**20
BATCH_BYTES = 2**24


def arrays(
    X: Any, y: Any = None, weight: Any = None, group: Any = None, *, max_rows: int | str = "auto"
) -> Source:
    """Rows of arrays: in memory, memory-mapped, or in files ``.npy``, of which pages are not kept in memory.

    Parameters
    ----------
    X : ndarray, np.memmap, sparse matrix or path of shape (n, d)
        Features. A path is that of a file ``.npy``, which is mapped when it is read.
    y : ndarray, np.memmap or path of shape (n,) or (n, K), optional
        Targets; predictions need none.
    weight : ndarray, np.memmap or path of shape (n,), optional
        Sample weights.
    group : ndarray, np.memmap or path of shape (n,), optional
        Labels of groups, such as queries.
    max_rows : int or "auto", default="auto"
        Maximum number of rows that a fit keeps in memory; see :class:`Source`.

    Returns
    -------
    Source

    Raises
    ------
    TypeError, ValueError
        If one is neither an array nor a path, or they have different numbers of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, sources
    >>> X = np.linspace(-3, 3, 1000)[:, None]
    >>> rows = sources.arrays(X, np.sin(X[:, 0]), max_rows=500)
    >>> model = RFFBoostRegressor(random_state=0).fit(rows)
    >>> model.n_rows_seen_
    1000
    """
    arguments = {"X": X, "y": y, "weight": weight, "group": group}
    columns = {name: checked_column(name, one) for name, one in arguments.items() if one is not None}
    shapes = {name: opened(column).shape for name, column in columns.items()}
    n_rows = shapes["X"][0]
    if len(shapes["X"]) != 2:
        raise ValueError(f"sources.arrays: X must have shape (n, d), got {shapes['X']}")
    for name, shape in shapes.items():
        if shape[0] != n_rows:
            raise ValueError(f"sources.arrays: {name} must have as many rows as X, {n_rows}, got {shape[0]}")
    return ArraySource(columns, n_rows, max_rows)


@dataclass(frozen=True)
class ArrayPart:
    """Some rows of arrays and of files ``.npy``.

    Parameters
    ----------
    columns : dict of str to ndarray, csr_array or File
        Arrays of the rows, and files of all rows, by the names of :class:`Batch`.
    first, n_rows : int
        The number of the first row, and of rows.
    size : int
        Rows of a batch.
    """

    columns: dict[str, Array | File]
    first: int
    n_rows: int
    size: int

    def batches(self, features: bool = True) -> Iterator[Batch]:
        """The rows in batches."""
        used = {name: column for name, column in self.columns.items() if features or name != "X"}
        for start in range(0, self.n_rows, self.size):
            stop = min(start + self.size, self.n_rows)
            rows: dict[str, Any] = {name: self._rows(column, start, stop) for name, column in used.items()}
            row = np.arange(self.first + start, self.first + stop, dtype=np.uint64)
            yield Batch(**({"X": None} | rows), row=row)

    def _rows(self, column: Array | File, start: int, stop: int) -> Array:
        """Rows of a column, counted from the first of the part."""
        if isinstance(column, File):
            with column.reading() as path:
                return np.array(np.load(path, mmap_mode="r")[self.first + start : self.first + stop])
        if not isinstance(column, np.memmap):
            return column[start:stop]
        require_mapped(column)
        rows = np.array(column[start:stop])
        # The pages of a private copy may have changed.
        pages = getattr(column, "_mmap", None)
        if column.mode != "c" and pages is not None and hasattr(mmap, "MADV_DONTNEED"):
            pages.madvise(mmap.MADV_DONTNEED)
        return rows


def require_mapped(mapped: np.memmap[Any, Any]) -> None:
    """Raise an OSError if a mapped file was cut: the system ends a process that reads behind its end."""
    pages = getattr(mapped, "_mmap", None)
    if pages is None or mapped.filename is None:
        return
    size = mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY + len(pages)
    if (now := os.path.getsize(mapped.filename)) < size:
        raise OSError(f"{mapped.filename}: must have {size} bytes, as when it was mapped, got {now}")


class ArraySource(Source):
    """Rows of arrays and of files ``.npy``; see :func:`arrays`."""

    def __init__(self, columns: dict[str, Array | File], n_rows: int, max_rows: int | str) -> None:
        super().__init__(max_rows)
        self.columns, self.n_rows = columns, n_rows

    def parts(self) -> Sequence[Part]:
        assert self.n_rows is not None
        size = max(1, BATCH_BYTES // row_bytes(opened(self.columns["X"])))
        return [
            self._part(first, min(PART_ROWS, self.n_rows - first), size)
            for first in range(0, self.n_rows, PART_ROWS)
        ]

    def _part(self, first: int, n_rows: int, size: int) -> ArrayPart:
        columns = {
            name: column if isinstance(column, File) else view_of_rows(column, first, first + n_rows)
            for name, column in self.columns.items()
        }
        return ArrayPart(columns, first, n_rows, size)


def view_of_rows(column: Any, first: int, last: int) -> Any:
    """Rows of an array or a csr_array, whose own slices and whose constructor would copy them."""
    if not issparse(column):
        return column[first:last]
    begin, end = column.indptr[[first, last]]
    rows = csr_array((last - first, column.shape[1]), dtype=column.dtype)
    rows.data, rows.indices = column.data[begin:end], column.indices[begin:end]
    rows.indptr = column.indptr[first : last + 1] - begin
    return rows


def opened(column: Array | File) -> Array:
    """A column as an array, which is mapped if it is a file."""
    return np.load(column.path, mmap_mode="r") if isinstance(column, File) else column


def checked_column(name: str, column: Any) -> Array | File:
    """An array as it is, sparse features by rows, and the name of a file; a TypeError for anything else."""
    if isinstance(column, str | os.PathLike):
        return File.of(os.path.abspath(check_path(column)))
    if name == "X" and issparse(column):
        return csr_array(column)
    if not isinstance(column, np.ndarray) or column.ndim < 1:
        kinds = "an array, a sparse matrix" if name == "X" else "an array"
        raise TypeError(
            f"sources.arrays: {name} must be {kinds} or the path of a file .npy, got a {type(column).__name__}; "
            f"fit takes tables in memory"
        )
    return column
