"""Categories of a table as codes: one matrix of floats, in which missing values are NaN."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np

from ..terms.category_sets import Recoding
from ..terms.ensemble import Ensemble
from ..utils.pickling import PickledByFields
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .columns import is_missing
from .tables import (
    categorical_columns,
    column_names,
    column_values,
    describe_column,
    has_few_texts,
    is_table,
    mixed_array,
    number_columns,
    read_table,
)

ALLOWED = '"from_dtype", "auto", None, or a sequence of truth values, indices or names of columns'


@dataclass(frozen=True, eq=False)
class CategoryEncoding(PickledByFields):
    """The categories of each column of a table in training.

    Parameters
    ----------
    categories : tuple of ndarray or None
        For each column its K categories, sorted: numbers, or text as Python objects; None for a numeric column.
    """

    categories: tuple[Array | None, ...]

    @property
    def coded(self) -> list[int]:
        """The indices of the categorical columns."""
        return [j for j, categories in enumerate(self.categories) if categories is not None]

    def transform(self, X: Any, in_fit: bool = False) -> tuple[Array, Array]:
        """Numbers and codes 0 .. K-1 of X, (n, d), float64, and whether each column has missing values, (d,).

        Missing values and unknown categories are NaN. Errors advise about parameters `in_fit` only.
        """
        X = read_table(X)
        X = X if is_table(X) else mixed_array(X)
        out, missing = np.empty((len(X), len(self.categories))), np.zeros(len(self.categories), dtype=bool)
        numeric = [j for j, categories in enumerate(self.categories) if categories is None]
        for j, column in zip(numeric, number_columns(X, numeric, in_fit), strict=True):
            out[:, j] = column
            missing[j] = np.isnan(out[:, j].min(initial=np.inf))
        for j in self.coded:
            out[:, j], missing[j] = self._encode_column(X, j)
        return out, missing

    def includes(self, other: CategoryEncoding) -> bool:
        """Whether this encoding has all categories of another one, column by column."""
        if len(self.categories) != len(other.categories):
            return False
        pairs = zip(category_lists(self), category_lists(other), strict=True)
        return all((a is None) == (b is None) and set(b or ()) <= set(a or ()) for a, b in pairs)

    def _encode_column(self, X: Any, column: int) -> tuple[Array, bool]:
        """The codes of a column, (n,), and whether it has missing values."""
        code_of, values, name = self._codes[column], column_values(X, column), describe_column(X, column)
        try:
            codes = np.fromiter(map(code_of.get, values.tolist(), repeat(np.nan)), np.float64, len(values))
        except TypeError as error:
            raise TypeError(f"column {name} of X must hold categories: {error}") from error
        without_code = values[np.isnan(codes)].tolist()
        unknown = [value for value in without_code if not is_missing(value)]
        if code_of and unknown and len(without_code) == len(values):
            report_unknown(name, unknown, next(iter(code_of)))
        return codes, len(unknown) < len(without_code)

    @cached_property
    def _codes(self) -> list[dict[Any, float]]:
        """The code of each category, by column."""
        return [
            {value: float(code) for code, value in enumerate(categories or ())}
            for categories in category_lists(self)
        ]


def category_lists(encoding: CategoryEncoding | None) -> list[list[Any] | None]:
    """The categories of each column, None for a numeric column; an empty list without an encoding."""
    columns = () if encoding is None else encoding.categories
    return [None if entry is None else entry.tolist() for entry in columns]


def fit_category_encoding(owner: str, categorical_features: Any, X: Any) -> CategoryEncoding | None:
    """The encoding of a table, or None if all columns are numeric.

    Parameters
    ----------
    owner : str
        Name of the caller, for messages.
    categorical_features : "from_dtype", "auto", None, or sequence of bool, int or str
        The categorical columns.
    X : table or array of shape (n, d)

    Raises
    ------
    ValueError, TypeError
        If `categorical_features` is none of these, names a column that does not exist, or the categories of a
        column cannot be sorted.
    """
    X = read_table(X)
    columns = resolve_categorical_features(owner, categorical_features, X)
    if not columns:
        return None
    categories = {j: distinct_values(X, j) for j in columns}
    return CategoryEncoding(tuple(categories.get(j) for j in range(np.shape(X)[1])))


def resolve_categorical_features(owner: str, categorical_features: Any, X: Any) -> list[int]:
    """The indices of the categorical columns of X, ascending."""
    if categorical_features is None:
        return []
    if len(np.shape(X)) != 2:
        raise TypeError(
            f"{owner}: X must have rows and columns, got a {type(X).__name__}; collect it if it is lazy"
        )
    if isinstance(categorical_features, str):
        if categorical_features not in ("from_dtype", "auto"):
            raise ValueError(f"{owner}: categorical_features must be {ALLOWED}, got {categorical_features!r}")
        typed, every = categorical_columns(X), range(np.shape(X)[1])
        may_hold_text = categorical_features == "auto" or is_table(X)
        return [j for j in every if j in typed or (may_hold_text and has_few_texts(X, j))]
    array, n_features = np.asarray(categorical_features), np.shape(X)[1]
    if array.ndim != 1 or (array.dtype.kind not in "biuUO" and array.size):
        raise TypeError(f"{owner}: categorical_features must be {ALLOWED}, got {categorical_features!r}")
    if array.dtype.kind == "b":
        if len(array) != n_features:
            raise ValueError(
                f"{owner}: categorical_features must have one entry for each of the {n_features} columns of X, "
                f"got {len(array)}"
            )
        return np.flatnonzero(array).tolist()
    entries: list[Any] = array.tolist()
    allowed: Sequence[Any] = range(n_features) if array.dtype.kind in "iu" else column_names(X)
    for entry in entries:
        if entry not in allowed:
            raise ValueError(
                f"{owner}: categorical_features must name columns of X, "
                f"{allowed if allowed else 'which has no names'}, got {entry!r}"
            )
    return sorted({list(allowed).index(entry) for entry in entries})


def distinct_values(X: Any, column: int) -> Array:
    """The distinct values of a column, sorted, without missing ones."""
    try:
        values = sorted(v for v in set(column_values(X, column).tolist()) if not is_missing(v))
    except TypeError as error:
        raise TypeError(
            f"column {describe_column(X, column)} of X must hold categories of one kind, all text or all numbers: "
            f"{error}"
        ) from error
    return category_array(values)


def category_array(categories: list[Any]) -> Array:
    """Distinct categories (K,): numbers of one type if that represents all of them, else Python objects."""
    if not categories:
        return np.empty(0)
    if all(isinstance(value, numbers.Number | bytes) for value in categories):
        array = np.array(categories)
        # A float rounds large integers, and fixed-width bytes lose zeros at their end.
        if array.tolist() == categories:
            return array
    return np.fromiter(categories, dtype=object, count=len(categories))


def sorted_codes(
    ensemble: Ensemble, categories: Sequence[Array | None]
) -> tuple[Ensemble, CategoryEncoding | None]:
    """The ensemble in sorted codes and their encoding; the ensemble itself and None without categories.

    Parameters
    ----------
    ensemble : Ensemble
        Trees that split on the host's codes.
    categories : sequence of ndarray or None
        The categories of each column in the order of the host's codes, None for numbers; empty if it has none.
    """
    if not categories:
        return ensemble, None
    codes = {j: np.argsort(np.argsort(entry)) for j, entry in enumerate(categories) if entry is not None}
    encoding = CategoryEncoding(tuple(None if entry is None else np.sort(entry) for entry in categories))
    return ensemble.recoded(Recoding(codes, {j: len(entry) for j, entry in codes.items()})), encoding


def joint_encoding(encodings: Sequence[CategoryEncoding]) -> CategoryEncoding:
    """The encoding of the union of categories of several encodings, which must have the same columns and kinds."""
    columns = zip(*map(category_lists, encodings), strict=True)
    return CategoryEncoding(
        tuple(None if e[0] is None else category_array(sorted(set(chain(*e)))) for e in columns)
    )


def category_kinds(encoding: CategoryEncoding | None) -> list[str]:
    """The kinds of categories of each column: text, numbers, both, or none; empty without an encoding."""
    words = {True: "text", False: "numbers"}
    columns = ({isinstance(value, str) for value in entry or ()} for entry in category_lists(encoding))
    return [" and ".join(words[kind] for kind in sorted(kinds)) or "none" for kinds in columns]


def recoding_of(old: CategoryEncoding, new: CategoryEncoding) -> Recoding:
    """The recoding from one encoding to another that includes it."""
    codes, sizes = {}, {}
    for column, (old_categories, new_categories) in enumerate(
        zip(category_lists(old), category_lists(new), strict=True)
    ):
        if old_categories is not None and new_categories is not None:
            place = {value: code for code, value in enumerate(new_categories)}
            codes[column] = np.array([place[value] for value in old_categories], np.int64)
            sizes[column] = len(new_categories)
    return Recoding(codes, sizes)


def report_unknown(column: str, values: Sequence[Any], category: Any) -> None:
    """Warn that none of the values of several rows is a known category, as with another spelling.

    A ValueError is raised if all values are text and a known category is a number, or vice versa.
    """
    if all(isinstance(value, str) != isinstance(category, str) for value in values):
        raise ValueError(
            f"column {column} of X must hold {'text' if isinstance(category, str) else 'numbers'}, such as the "
            f"category {category!r} of fit, got {values[0]!r}"
        )
    if len(values) > 1:
        warn_user(
            f"column {column} of X: none of the categories of these {len(values)} rows, such as {values[0]!r}, "
            f"was in fit; all count as missing"
        )
