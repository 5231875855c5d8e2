"""Tables that are read again in each pass: which column is what, and rows of Arrow as batches."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import accumulate
from typing import Any, Protocol, TypeVar

import numpy as np

from ..rows.columns import column_array
from ..rows.selection import cast_columns
from ..rows.tables import target_array
from ..utils.param_validation import OPTIONAL, Instance, SequenceOf, require
from ..utils.typing import Array
from .core import Batch, Source
from .schema import require_count

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
        Maximum number of rows that a fit keeps in memory; see :class:`Source`.
    event, time : str, optional
        The target of survival analysis instead of `target`: whether there was an event, and its time or that of
        censoring."""
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
# Maximum number of names of columns in a message.
MAX_NAMES = 30
# Bytes of a batch of numbers in double precision.
BATCH_BYTES = 2**24
F = TypeVar("F", bound=Callable[..., Any])
NAME = Instance(str) | OPTIONAL
NAMES = SequenceOf(Instance(str), "names of columns")


class Piece(Protocol):
    """Rows in one place, such as a file, which can be read again."""

    @property
    def name(self) -> str:
        """The file or the object, for messages."""

    @property
    def first(self) -> int:
        """The number of the first row in its file."""

    @property
    def n_rows(self) -> int | None:
        """The number of rows; None if it is unknown, which only the last piece of a source may have."""

    def read(self, columns: list[str], size: int) -> Iterable[Any]:
        """Record batches of Arrow with these columns, about `size` rows each."""


@dataclass(frozen=True)
class ColumnRoles:
    """What the columns of a table are.

    Parameters
    ----------
    features : tuple of str
        In the order in which a model gets them.
    target : str, tuple of str or None
    weight, group, row_id : str or None
    is_survival : bool, default=False
        Whether the target is event and time.
    """

    features: tuple[str, ...]
    target: str | tuple[str, ...] | None = None
    weight: str | None = None
    group: str | None = None
    row_id: str | None = None
    is_survival: bool = False

    @property
    def used(self) -> list[str]:
        """The names of all columns that are read, once each."""
        return list(dict.fromkeys([*self.features, *self.others]))

    @property
    def others(self) -> list[str]:
        """The names of targets, weights, groups and row numbers, once each."""
        targets = (self.target,) if isinstance(self.target, str) else self.target or ()
        names = (*targets, self.weight, self.group, self.row_id)
        return list(dict.fromkeys(name for name in names if name is not None))

    def types(self, schema: Any) -> Any:
        """The schema of Arrow of the columns that are read, in types that all functions of Arrow take."""
        import pyarrow

        return pyarrow.schema([(name, without_views(schema.field(name).type)) for name in self.used])

    def batch(self, table: Any, first: int) -> Batch:
        """The rows of a table of Arrow, the first of which has this number; without X if it has no features."""
        row = np.arange(first, first + len(table), dtype=np.uint64)
        weight, group = (None if name is None else column_array(table[name]) for name in (self.weight, self.group))
        if self.row_id is not None:
            row = row_numbers(table[self.row_id], self.row_id)
        y = None
        if self.is_survival:
            pair = {name: column_array(table[name]) for name in self.target or ()}
            y = np.empty(len(table), dtype=[(name, values.dtype) for name, values in pair.items()])
            for name, values in pair.items():
                y[name] = values
        elif self.target is not None:
            y = target_array(table[self.target] if isinstance(self.target, str) else table.select(self.target))
        has_features = set(self.features) <= set(table.column_names)
        return Batch(table.select(self.features) if has_features else None, row, y, weight, group)


def without_views(kind: Any) -> Any:
    """A type of Arrow with plain text instead of views of text, such as polars has."""
    import pyarrow

    if pyarrow.types.is_dictionary(kind):
        return pyarrow.dictionary(kind.index_type, without_views(kind.value_type), kind.ordered)
    plain = {pyarrow.string_view(): pyarrow.large_string(), pyarrow.binary_view(): pyarrow.large_binary()}
    return plain.get(kind, kind)


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
    event: str | None = None,
    time: str | None = None,
) -> ColumnRoles:
    """The columns that a user chose from a schema of Arrow, whose place messages name.

    Raises
    ------
    TypeError, ValueError
        If a parameter is no name, or a column does not exist, occurs twice, or is both target and feature.
    """
    names = {"weight": weight, "group": group, "row_id": row_id, "event": event, "time": time}
    for name, value in names.items():
        require(owner, name, value, NAME)
    is_survival = event is not None and time is not None and target is None
    if not is_survival and (event is not None or time is not None):
        raise ValueError(
            f"{owner}: event and time must both be given, without target, got {event!r}, {time!r} and {target!r}"
        )
    require(owner, "target", target, NAME | NAMES)
    require(owner, "columns", columns, NAMES | OPTIONAL)
    targets: Any = target if target is None or isinstance(target, str) else tuple(target)
    targets = (event, time) if is_survival else targets
    selection = ColumnRoles(tuple(columns or ()), targets, weight, group, row_id, is_survival)
    if columns is None:
        ignored = {*selection.others, *index_columns(schema)}
        selection = replace(selection, features=tuple(name for name in schema.names if name not in ignored))
    for parameter, entry in (names | {"target": target}).items():
        require_names(owner, parameter, [entry] if isinstance(entry, str) else entry or (), schema.names, where)
    require_names(owner, "columns", selection.features, schema.names, where)
    leaked = set(selection.features) & set([targets] if isinstance(targets, str) else targets or ())
    if leaked or not selection.features:
        raise ValueError(f"{owner}: columns must be features, at least one and not the target, got {columns}")
    return selection


def require_names(owner: str, parameter: str, requested: Collection[str], names: list[str], where: str) -> None:
    """Raise a ValueError unless each name is that of one column; the message has all others, and similar names."""
    absent = [name for name in requested if name not in names]
    if absent:
        near = {name: get_close_matches(name, names, 1) for name in absent}
        told = ", ".join(f"{name!r}" + "".join(f" (near: {one!r})" for one in near[name]) for name in absent)
        further = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
        listed = ", ".join(names[:MAX_NAMES]) + further
        raise ValueError(f"{owner}: {parameter} must name columns of {where}, {listed}, got {told}")
    for name in requested:
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
    columns : ColumnRoles
    schema : pyarrow.Schema
        The columns that are read, with the types of the source.
    first : int
        The number of the first row.
    """

    piece: Piece
    columns: ColumnRoles
    schema: Any
    first: int

    @property
    def place(self) -> tuple[str, int]:
        """How messages name a row, and the number that they count from."""
        if self.columns.row_id is not None:
            return f"the row of {self.columns.row_id} {{}}", 0
        return f"row {{}} of {self.piece.name}", self.first - self.piece.first

    def batches(self, features: bool = True) -> Iterator[Batch]:
        """The rows in batches of at most 16 MiB of numbers."""
        from pyarrow import Table, schema

        # The number of rows needs a column.
        names = self.schema.names if features else self.columns.others or self.schema.names[:1]
        types = schema([self.schema.field(name) for name in names])
        size, count = max(1, BATCH_BYTES // (8 * len(names))), 0
        for record in self.piece.read(names, size):
            table = cast_columns(self.piece.name, Table.from_batches([record]), types)
            for start in range(0, len(table), size):
                rows = table.slice(start, size)
                place, first = self.place
                yield replace(self.columns.batch(rows, self.first + count), place=place, first=first)
                count += len(rows)
        require_count(self.piece.name, self.piece.n_rows, count)


class Tables(Source):
    """Pieces of tables with the same columns.

    A new format is a ``Piece`` and a function that finds out the names and types of its columns.

    Parameters
    ----------
    pieces : sequence of Piece
    columns : ColumnRoles
    schema : pyarrow.Schema
        The names and types of all columns that are read.
    max_rows : int or "auto", default="auto"
    """

    def __init__(
        self, pieces: Sequence[Piece], columns: ColumnRoles, schema: Any, max_rows: int | str = "auto"
    ) -> None:
        super().__init__(max_rows)
        self.pieces, self.columns, self.schema = pieces, columns, schema
        counts = [piece.n_rows for piece in pieces if piece.n_rows is not None]
        self.n_rows = sum(counts) if len(counts) == len(pieces) else None

    def name_of(self, row: int) -> str:
        """The row of a number in its file."""
        part = [one for one in self.parts() if one.first <= row][-1]
        place, first = part.place
        return place.format(row - first)

    def parts(self) -> Sequence[TablePart]:
        """The pieces, with the numbers of their first rows."""
        counts = [piece.n_rows or 0 for piece in self.pieces]
        firsts = accumulate(counts, initial=0)
        return [
            TablePart(piece, self.columns, self.schema, first)
            for piece, first in zip(self.pieces, firsts, strict=False)
        ]
