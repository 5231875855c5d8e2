"""Tables that are read again in each pass: which column is what, and rows of Arrow as batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Protocol, TypeVar

import numpy as np

from ..data.columns import column_array
from ..preprocessing.tables import target_array
from ..utils.param_validation import OPTIONAL, Instance, SequenceOf, require
from ..utils.registry import did_you_mean
from ..utils.typing import Array
from .core import Batch, Part, Source

PARAMETERS = """target : str or sequence of str, optional
        The column of targets or labels, or several.
    weight : str, optional
        The column of sample weights.
    group : str, optional
        The column of groups, such as queries, which samples keep whole.
    row_id : str, optional
        A column of distinct integers >= 0 that number the rows. By default these are numbered in their order.
        With it a fit is the same for any order of rows.
    columns : sequence of str, optional
        The features, in the order in which a model gets them. By default all other columns but the index of a
        DataFrame of pandas. Other columns are not read.
    max_rows : int or "auto", default="auto"
        Maximum number of rows that a fit keeps in memory; see :class:`Source`."""
RETURNS = """Returns
    -------
    Tables

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    OSError
        If a file does not exist, cannot be read, or changes later.
    ValueError, TypeError
        If a parameter is invalid, a column does not exist, or files have different columns."""
# Bytes of a batch of numbers in double precision.
BATCH_BYTES = 2**24
F = TypeVar("F", bound=Callable[..., Any])
NAME = Instance(str) | OPTIONAL
NAMES = SequenceOf(Instance(str), "names of columns")


class Piece(Protocol):
    """Rows in one place, such as a file, which can be read again."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None if it is unknown, which only the last piece of a source may have."""

    def read(self, columns: list[str], size: int) -> Iterable[Any]:
        """Record batches of Arrow with these columns, about `size` rows each."""


@dataclass(frozen=True)
class Columns:
    """What the columns of a table are.

    Parameters
    ----------
    features : tuple of str
        In the order in which a model gets them.
    target : str, tuple of str or None
    weight, group, row_id : str or None
    """

    features: tuple[str, ...]
    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    group: str | None = None
    row_id: str | None = None

    @property
    def used(self) -> list[str]:
        """The names of all columns that are read, once each."""
        return list(dict.fromkeys([*self.features, *self.others]))

    @property
    def others(self) -> list[str]:
        """The names of targets, weights, groups and row numbers, once each."""
        targets = (self.target,) if isinstance(self.target, str) else self.target or ()
        given = (*targets, self.weight, self.group, self.row_id)
        return list(dict.fromkeys(name for name in given if name is not None))

    def types(self, schema: Any) -> Any:
        """The schema of Arrow of the columns that are read."""
        import pyarrow

        return pyarrow.schema([(name, schema.field(name).type) for name in self.used])

    def batch(self, table: Any, first: int) -> Batch:
        """The rows of a table of Arrow, the first of which has this number; without X if it has no features."""
        row = np.arange(first, first + len(table), dtype=np.uint64)
        weight, group = (None if name is None else column_array(table[name]) for name in (self.weight, self.group))
        if self.row_id is not None:
            row = row_numbers(table[self.row_id], self.row_id)
        y = None
        if self.target is not None:
            y = target_array(table[self.target] if isinstance(self.target, str) else table.select(self.target))
        has_features = set(self.features) <= set(table.column_names)
        return Batch(table.select(self.features) if has_features else None, row, y, weight, group)


def document(function: F) -> F:
    """Insert what all sources of tables share where a docstring has ``{columns}`` and ``{returns}``."""
    doc = function.__doc__ or ""
    function.__doc__ = doc.replace("{columns}", PARAMETERS).replace("{returns}", RETURNS)
    return function


def row_numbers(column: Any, name: str) -> Array:
    """A column of Arrow as row numbers; a ValueError unless they are integers >= 0."""
    values = column_array(column)
    if values.dtype.kind not in "iu" or (values < 0).any():
        raise ValueError(
            f"row_id must be integers >= 0 without missing values, got column {name!r} of {column.type}"
        )
    return values.astype(np.uint64)


def choose_columns(
    owner: str,
    schema: Any,
    where: str,
    target: str | Sequence[str] | None = None,
    weight: str | None = None,
    group: str | None = None,
    row_id: str | None = None,
    columns: Sequence[str] | None = None,
) -> Columns:
    """The columns that a user chose from a schema of Arrow, whose place messages name.

    Raises
    ------
    TypeError, ValueError
        If a parameter is no name, or a column does not exist, occurs twice, or is both target and feature.
    """
    for name, value in {"weight": weight, "group": group, "row_id": row_id}.items():
        require(owner, name, value, NAME)
    require(owner, "target", target, NAME | NAMES)
    require(owner, "columns", columns, NAMES | OPTIONAL)
    targets = target if target is None or isinstance(target, str) else tuple(target)
    chosen = Columns(tuple(columns or ()), targets, weight, group, row_id)
    if columns is None:
        ignored = {*chosen.others, *index_columns(schema)}
        chosen = Columns(tuple(n for n in schema.names if n not in ignored), targets, weight, group, row_id)
    for parameter in ("target", "weight", "group", "row_id"):
        given = getattr(chosen, parameter)
        require_names(owner, parameter, [given] if isinstance(given, str) else given or (), schema.names, where)
    require_names(owner, "columns", chosen.features, schema.names, where)
    leaked = set(chosen.features) & set([targets] if isinstance(targets, str) else targets or ())
    if leaked or not chosen.features:
        raise ValueError(f"{owner}: columns must be features, at least one and not the target, got {columns}")
    return chosen


def require_names(owner: str, parameter: str, given: Iterable[str], names: list[str], where: str) -> None:
    """Raise a ValueError unless each of the given names is that of exactly one column."""
    for name in given:
        if name not in names:
            raise ValueError(
                f"{owner}: {parameter} must name columns of {where}, {', '.join(names)}, got {name!r}."
                f"{did_you_mean(name, names)}"
            )
        if names.count(name) > 1:
            raise ValueError(f"{owner}: {where} must have distinct names of columns, got {name!r} twice")


def index_columns(schema: Any) -> list[str]:
    """The columns that are the index of a DataFrame of pandas."""
    entries = (schema.pandas_metadata or {}).get("index_columns", ())
    return [entry for entry in entries if isinstance(entry, str)]


@dataclass(frozen=True)
class TablePart:
    """The rows of one piece.

    Parameters
    ----------
    piece : Piece
    columns : Columns
    schema : pyarrow.Schema
        The columns that are read, with the types of the source.
    first : int
        The number of the first row.
    """

    piece: Piece
    columns: Columns
    schema: Any
    first: int

    def batches(self, features: bool = True) -> Iterator[Batch]:
        """The rows in batches of at most 16 MiB of numbers."""
        from pyarrow import Table, schema

        # The number of rows needs a column.
        names = self.schema.names if features else self.columns.others or self.schema.names[:1]
        types = schema([self.schema.field(name) for name in names])
        size, first = max(1, BATCH_BYTES // (8 * len(names))), self.first
        for record in self.piece.read(names, size):
            table = Table.from_batches([record]).select(names).cast(types)
            for start in range(0, len(table), size):
                rows = table.slice(start, size)
                yield self.columns.batch(rows, first)
                first += len(rows)


class Tables(Source):
    """Pieces of tables with the same columns.

    A new format is a ``Piece`` and a function that finds out the names and types of its columns.

    Parameters
    ----------
    pieces : sequence of Piece
    columns : Columns
    schema : pyarrow.Schema
        The names and types of all columns that are read.
    max_rows : int or "auto", default="auto"
    """

    def __init__(
        self, pieces: Sequence[Piece], columns: Columns, schema: Any, max_rows: int | str = "auto"
    ) -> None:
        super().__init__(max_rows)
        self.pieces, self.columns, self.schema = pieces, columns, schema
        counts = [piece.n_rows for piece in pieces if piece.n_rows is not None]
        self.n_rows = sum(counts) if len(counts) == len(pieces) else None

    def parts(self) -> Sequence[Part]:
        """The pieces, with the numbers of their first rows."""
        counts = [piece.n_rows or 0 for piece in self.pieces]
        firsts = accumulate(counts, initial=0)
        return [
            TablePart(piece, self.columns, self.schema, first)
            for piece, first in zip(self.pieces, firsts, strict=False)
        ]
