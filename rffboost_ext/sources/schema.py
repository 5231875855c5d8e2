"""What the batches of a source have in common, and errors that name the batch or the row."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Number
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy.sparse import issparse

from ..rows.columns import TIMES, column_array, is_missing
from ..rows.tables import get_column, is_table, mixed_array, read_table
from ..utils.typing import Array
from .core import Batch, Part

WORDS = {"b": "truth values", **dict.fromkeys("iuf", "numbers"), **dict.fromkeys("mM", "times"), "U": "text"}


@dataclass(frozen=True)
class Schema:
    """The columns of a batch, and what they hold.

    Parameters
    ----------
    place : str
        The batch, for messages.
    row : int
        The number of its first row.
    facts : mapping of str to str or None
        What is known, in words; None where all values are missing. Without those of X if it was not read.
    """

    place: str
    row: int
    facts: Mapping[str, str | None]

    @classmethod
    def of(cls, batch: Batch, number: int) -> Schema:
        """The schema of a batch of this number in its part; a ValueError if its columns differ in rows."""
        place = f"batch {number}, from row {batch.row[0]}"
        facts = {} if batch.X is None else facts_of_features(batch.X)
        for name in ("X", "y", "weight", "group"):
            column = getattr(batch, name)
            if column is not None and np.shape(column)[0] != len(batch):
                raise ValueError(
                    f"{place}: {name} must have as many rows as the batch, {len(batch)}, got {np.shape(column)[0]}"
                )
            if name != "X":
                facts[name] = "None" if column is None else f"of shape {('n', *column.shape[1:])}".replace("'", "")
            if name in ("y", "group") and column is not None:
                facts[f"the type of {name}"] = kind_of_values(column)
        return cls(place, int(batch.row[0]), facts)

    def merge(self, other: Schema) -> Schema:
        """What is known of the batches of two; a ValueError that names the later one if they differ."""
        first, later = sorted((self, other), key=lambda one: one.row)
        has_features = "X" in first.facts and "X" in later.facts
        for what in {**first.facts, **later.facts}:
            expected, kind = first.facts.get(what, "none"), later.facts.get(what, "none")
            is_compared = has_features or not what.endswith("X")
            if is_compared and expected is not None and kind is not None and expected != kind:
                raise ValueError(f"{later.place}: {what} must be {expected}, as in {first.place}, got {kind}")
        joint = {what: kind for one in (later, first) for what, kind in one.facts.items() if kind is not None}
        return Schema(first.place, first.row, {**first.facts, **later.facts, **joint})


def conforming(part: Part, features: bool = True, schema: Schema | None = None) -> Iterator[tuple[Batch, Schema]]:
    """The batches of a part that have rows, each with the schema of all until then.

    Parameters
    ----------
    part : Part
    features : bool, default=True
        Whether X is read.
    schema : Schema, optional
        That of other batches.

    Raises
    ------
    ValueError
        If a batch differs from an earlier one in the names, the order, the number or the types of columns.
    """
    for number, batch in enumerate(part.batches(features), 1):
        if len(batch):
            own = Schema.of(batch, number)
            schema = own if schema is None else schema.merge(own)
            yield batch, schema


def facts_of_features(X: Any) -> dict[str, str | None]:
    """The container of features, the names of their columns, and what they hold."""
    if len(np.shape(X)) != 2:
        raise ValueError(f"X must have shape (n, d), got {np.shape(X)}")
    X = X if issparse(X) else read_table(X)
    if not is_table(X):
        array = X if issparse(X) or isinstance(X, np.ndarray) else mixed_array(X)
        kinds: dict[str, str | None] = {"the type of X": "numbers"}
        if array.dtype.kind not in "biuf":
            kinds = {f"the type of column {j} of X": kind_of_values(column) for j, column in enumerate(array.T)}
        return {"X": "an array", "the number of columns of X": str(array.shape[1]), **kinds}
    names = {f"column {j} of X": repr(name) for j, name in enumerate(X.columns)}
    facts: dict[str, str | None] = {"X": f"a table of {X.implementation.name.lower()}", **names}
    for j, (name, kind) in enumerate(X.schema.items()):
        facts |= facts_of_column(f"column {name!r} of X", kind, get_column(X, j))
    return facts


def facts_of_column(what: str, kind: Any, native: Any) -> dict[str, str | None]:
    """What a column of a type of narwhals holds."""
    if kind in (nw.Categorical, nw.Enum):
        levels = nw.from_native(native, series_only=True).cat.get_categories()
        words = (
            facts_of_column(f"the categories of {what}", levels.dtype, levels.to_native()) if len(levels) else {}
        )
        return {f"the type of {what}": "categories", **words}
    if kind.is_numeric():
        return {f"the type of {what}": None if kind.is_float() and is_empty(native) else "numbers"}
    if kind == nw.String and str(getattr(native, "dtype", "")) != "object":
        return {f"the type of {what}": "text"}
    return {f"the type of {what}": kind_of_values(column_array(native))}


def is_empty(native: Any) -> bool:
    """Whether a column of pandas is of missing values: it is of floats then, whatever it is elsewhere."""
    return hasattr(native, "iloc") and bool(is_missing(native.iloc[0])) and bool(native.isna().all())


def kind_of_values(values: Array) -> str | None:
    """What an array holds, in words; None if all values are missing."""
    if values.dtype.names:
        return f"a structured array of {', '.join(values.dtype.names)}"
    if values.dtype.kind in WORDS:
        return WORDS[values.dtype.kind]
    kinds = {kind: value for value in values.ravel().tolist() if not is_missing(value) for kind in [type(value)]}
    return " and ".join(sorted({word(one) for one in kinds.values()})) or None


def word(value: Any) -> str:
    """What a Python object is."""
    if isinstance(value, bool | np.bool_):
        return "truth values"
    kinds = ((str, "text"), (Number, "numbers"), (TIMES, "times"))
    return next((name for kind, name in kinds if isinstance(value, kind)), type(value).__name__)


@contextmanager
def rows_named(row: Array, name: Callable[[int], str]) -> Iterator[None]:
    """A context whose errors name an entry by its row, given the number of each (m,) and the name of a number."""
    try:
        yield
    except (ValueError, TypeError) as error:
        entry = getattr(error, "entry", None)
        if entry is None:
            raise
        raise type(error)(str(error).replace(f"entry {entry}", name(int(row[entry])), 1)) from error


def require_count(place: str, expected: int | None, count: int) -> None:
    """Raise a ValueError unless a pass read as many rows as are expected."""
    if expected not in (None, count):
        raise ValueError(
            f"{place} must have the same rows each time that it is read, got {expected} and then {count}"
        )
