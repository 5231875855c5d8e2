"""A table as one matrix of floats: numbers and category codes; missing values are NaN."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from ..utils.typing import Array
from .unknown_categories import require_kind, require_precision, warn_of_unknown

# Names of the types of categorical columns: pandas, polars, Arrow.
CATEGORICAL = ("category", "categorical", "enum", "dictionary<")
# Names of the types of dates, times and durations.
TIMES = ("date", "time", "duration")
PRECISIONS = [np.float64, np.float32]
# From here on not every integer has a float of its own.
OF_INTEGERS = 2.0**53
ALLOWED = '"from_dtype", None, or a sequence of truth values, indices or names of columns'


@dataclass(frozen=True, eq=False)
class CategoryEncoding:
    """The categories of each column of a table, as seen in training.

    Parameters
    ----------
    categories : tuple of ndarray or None
        For each column its K categories, sorted: numbers, or text as Python objects; None for a numeric column.
    """

    categories: tuple[Array | None, ...]

    @property
    def coded(self) -> list[int]:
        """The columns that hold categories, by index."""
        return [j for j, known in enumerate(self.categories) if known is not None]

    def __call__(self, X: Any) -> tuple[Array, Array]:
        """X as numbers and codes 0 .. K-1, (n, d), float64, and which columns have missing values, (d,).

        Missing values are NaN in the result, and so are categories that were not seen in training.
        """
        if not is_table(X):
            X = checked_array(X)
        out = np.empty((len(X), len(self.categories)))
        plain = [j for j, known in enumerate(self.categories) if known is None]
        if plain:
            out[:, plain] = numbers_of(columns_of(X, plain))
        gaps = np.isnan(out.min(axis=0, initial=np.inf))
        for j in self.coded:
            out[:, j], gaps[j] = self._codes(X, j)
        return out, gaps

    def occurring(self, X: Array) -> tuple[CategoryEncoding, Array]:
        """The coding of those categories that occur in some coded rows X (n, d), and these rows by it."""
        X, known = X.copy(), list(self.categories)
        for j, categories in enumerate(self.categories):
            if categories is not None:
                there = ~np.isnan(X[:, j])
                codes, X[there, j] = np.unique(X[there, j], return_inverse=True)
                known[j] = as_array(categories[codes.astype(np.int64)].tolist())
        return CategoryEncoding(tuple(known)), X

    def has(self, other: CategoryEncoding) -> bool:
        """Whether all categories of another coding are among these, column by column."""
        if len(self.categories) != len(other.categories):
            return False
        pairs = zip(category_lists(self), category_lists(other), strict=True)
        return all((a is None) == (b is None) and set(b or ()) <= set(a or ()) for a, b in pairs)

    def recoded(self, X: Array, other: CategoryEncoding) -> Array:
        """Rows X (n, d) by this coding, which has all categories of the one that they are coded by."""
        X = X.copy()
        for j, (table, known) in enumerate(zip(self._tables, category_lists(other), strict=True)):
            if known:
                there, codes = ~np.isnan(X[:, j]), np.array([table[value] for value in known])
                X[there, j] = codes[X[there, j].astype(np.int64)]
        return X

    def _codes(self, X: Any, column: int) -> tuple[Array, bool]:
        """The codes of a column, (n,), and whether it has missing values."""
        known, values = self._tables[column], exact_values_of(X, column)
        try:
            codes = np.fromiter((known.get(value, np.nan) for value in values.tolist()), np.float64, len(values))
        except TypeError as error:
            raise TypeError(f"column {name_of(X, column)} of X must hold categories: {error}") from error
        lost = values[np.isnan(codes)].tolist()
        unknown = [value for value in lost if not is_missing(value)]
        if known and unknown:
            require_precision(name_of(X, column), unknown, list(known))
        if known and unknown and len(lost) == len(values):
            require_kind(name_of(X, column), unknown, next(iter(known)))
            warn_of_unknown(name_of(X, column), unknown)
        return codes, len(unknown) < len(lost)

    @cached_property
    def _tables(self) -> list[dict[Any, float]]:
        """The code of each category, by column."""
        return [{value: float(code) for code, value in enumerate(known or ())} for known in category_lists(self)]

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


def checked_array(X: Any) -> Array:
    """X, which is not a table, as an array; a list keeps the type of each entry, also numbers next to text."""
    X = np.array(X, dtype=object) if isinstance(X, list | tuple) else X
    return np.asarray(check_array(X, dtype=None, ensure_all_finite=False, input_name="X"))


def category_lists(coding: CategoryEncoding | None) -> list[list[Any] | None]:
    """The categories of each column, None for numbers; an empty list where all columns are numbers."""
    known = () if coding is None else coding.categories
    return [None if entry is None else entry.tolist() for entry in known]


def fit_category_encoding(owner: str, categorical_features: Any, X: Any) -> CategoryEncoding | None:
    """The coding of a table, or None where all columns are numbers.

    Parameters
    ----------
    owner : str
        Name of the caller, for messages.
    categorical_features : "from_dtype", None, or sequence of bool, int or str
        Which columns hold categories.
    X : table or array of shape (n, d)

    Raises
    ------
    ValueError, TypeError
        If `categorical_features` is none of these, names a column that does not exist, or the categories of a
        column cannot be sorted.
    """
    chosen = categorical_columns(owner, categorical_features, X)
    if not chosen:
        return None
    known = {j: categories_of(exact_values_of(X, j), name_of(X, j)) for j in chosen}
    return CategoryEncoding(tuple(known.get(j) for j in range(np.shape(X)[1])))


def categorical_columns(owner: str, given: Any, X: Any) -> list[int]:
    """The indices of the columns that hold categories."""
    if given is None:
        return []
    if len(np.shape(X)) != 2:
        raise TypeError(
            f"{owner}: X must have rows and columns, got a {type(X).__name__}; collect it if it is lazy"
        )
    n_features, names = np.shape(X)[1], names_of(X)
    if isinstance(given, str):
        if given != "from_dtype":
            raise ValueError(f"{owner}: categorical_features must be {ALLOWED}, got {given!r}")
        return [j for j in range(n_features) if is_table(X) and is_categorical(X, j)]
    array = np.asarray(given)
    if array.ndim != 1 or (array.dtype.kind not in "biuUO" and array.size):
        raise TypeError(f"{owner}: categorical_features must be {ALLOWED}, got {given!r}")
    if array.dtype.kind == "b":
        if len(array) != n_features:
            raise ValueError(
                f"{owner}: categorical_features must have one entry for each of the {n_features} columns of X, "
                f"got {len(array)}"
            )
        return np.flatnonzero(array).tolist()
    entries: list[Any] = array.tolist()
    allowed: Sequence[Any] = range(n_features) if array.dtype.kind in "iu" else names
    for entry in entries:
        if entry not in allowed:
            raise ValueError(
                f"{owner}: categorical_features must name columns of X, "
                f"{allowed if allowed else 'which has no names'}, got {entry!r}"
            )
    return sorted({list(allowed).index(entry) for entry in entries})


def is_table(X: Any) -> bool:
    """Whether X has named columns."""
    # Asked of the type: a lazy table would look its columns up, and warn of that.
    return hasattr(type(X), "columns")


def with_underscores(name: Any) -> str:
    """The name of a column as LightGBM keeps it, with underscores for blanks."""
    return str(name).replace(" ", "_")


def names_of(X: Any) -> list[Any]:
    """The names of the columns of a table; none of an array."""
    if not is_table(X):
        return []
    return list(getattr(X, "column_names", X.columns))


def name_of(X: Any, column: int) -> str:
    """A column as messages name it."""
    return f"{names_of(X)[column]!r}" if is_table(X) else f"{column}"


def columns_of(X: Any, columns: list[int]) -> Any:
    """Some columns of a table or an array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if hasattr(X, "select") and is_table(X):
        return X.select([names_of(X)[column] for column in columns])
    return np.asarray(X)[:, columns]


def is_categorical(X: Any, column: int) -> bool:
    """Whether the type of a column of a table says that it holds categories."""
    values = series_of(X, column)
    return str(getattr(values, "dtype", getattr(values, "type", ""))).lower().startswith(CATEGORICAL)


def series_of(X: Any, column: int) -> Any:
    """One column of a table, as the table has it."""
    return X.iloc[:, column] if hasattr(X, "iloc") else X[names_of(X)[column]]


def values_of(X: Any, column: int) -> Array:
    """One column of a table or an array, as an array of Python objects or numbers."""
    values = np.asarray(series_of(X, column) if is_table(X) else np.asarray(X)[:, column])
    # As objects, times are equal whatever their unit, and missing ones are None.
    return values.astype(f"{values.dtype.kind}8[us]").astype(object) if values.dtype.kind in "mM" else values


def exact_values_of(X: Any, column: int) -> Array:
    """One column as :func:`values_of` it, where large integers beside gaps are not rounded to floats."""
    values = values_of(X, column)
    if not is_table(X) or values.dtype.kind != "f" or not (np.abs(values) >= OF_INTEGERS).any():
        return values
    series = series_of(X, column)
    entries = next(getattr(series, name) for name in ("to_list", "to_pylist") if hasattr(series, name))()
    return np.fromiter(entries, dtype=object, count=len(entries))


def categories_of(values: Array, name: str) -> Array:
    """The distinct values of a column, sorted, without missing ones."""
    try:
        found = sorted({value for value in set(values.tolist()) if not is_missing(value)})
    except TypeError as error:
        raise TypeError(
            f"column {name} of X must hold categories of one kind, all text or all numbers: {error}"
        ) from error
    return as_array(found)


def as_array(found: list[Any]) -> Array:
    """Distinct categories (K,): numbers of one type where that holds them all, else Python objects."""
    if not found:
        return np.empty(0)
    if all(isinstance(value, numbers.Number | bytes) for value in found):
        made = np.array(found)
        # A float rounds large integers, and fixed-width bytes lose zeros at their end.
        if made.tolist() == found:
            return made
    return np.fromiter(found, dtype=object, count=len(found))


def is_missing(value: Any) -> bool:
    """Whether a value stands for a missing one: None, NaN, NaT or pandas' NA."""
    return value is None or not isinstance(value == value, bool | np.bool_) or value != value


def with_nan(X: Any) -> Any:
    """X; if it converts to an array of objects, that array with NaN for missing markers such as pandas' NA."""
    values = np.asarray(X) if is_table(X) else X
    if not isinstance(values, np.ndarray) or values.dtype.kind != "O":
        return X
    entries = [np.nan if is_missing(value) else value for value in values.ravel()]
    return np.array(entries, dtype=object).reshape(values.shape)


def numbers_of(X: Any) -> Array:
    """Columns of numbers as an array; a ValueError names one that holds something else."""
    require_no_times(X)
    try:
        return np.asarray(check_array(X, dtype=PRECISIONS, ensure_all_finite="allow-nan", input_name="X"))
    except (ValueError, TypeError):
        raise_for_column(X)
        raise


def require_no_times(X: Any) -> None:
    """Raise a ValueError that names a column of dates, times or durations: its NaT would become a number."""
    types = getattr(X, "dtypes", None) if is_table(X) else [getattr(X, "dtype", "")]
    for column, kind in enumerate([] if types is None else types):
        if str(kind).lower().startswith(TIMES):
            raise ValueError(
                f"column {name_of(X, column)} of X must hold numbers, got {kind}: take numbers from it, such as "
                f"the days since a date, the month, or the hour"
            )


def require_unmasked(**arrays: Any) -> None:
    """Raise a ValueError that names an array of which some entries are masked: what lies below would be used."""
    for name, values in arrays.items():
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            raise ValueError(
                f"{name} must not be masked, got {np.ma.count_masked(values)} masked values; features take NaN in "
                f"the place of what is missing: X.imputed(np.nan)"
            )


def raise_for_column(X: Any, in_fit: bool = True) -> None:
    """Raise an error that names the column of a table, or of an array of objects, that holds no numbers."""
    if not is_table(X) and (not isinstance(X, np.ndarray) or X.dtype != object or X.ndim != 2):
        return
    for column in range(np.shape(X)[1]):
        try:
            values = np.asarray(with_nan(values_of(X, column)))[:, None]
            check_array(values, dtype=PRECISIONS, ensure_all_finite=False, ensure_min_samples=0)
        except (ValueError, TypeError) as reason:
            # If it has that type already, it was left out by categorical_features.
            typed = not is_table(X) or is_categorical(X, column)
            advice = "" if typed else "give it the data type category, or "
            kind = TypeError if isinstance(reason, TypeError) else ValueError
            or_else = f", or be categorical: {advice}name it in categorical_features" if in_fit else ", as in fit"
            raise kind(f"column {name_of(X, column)} of X must hold numbers{or_else} ({reason})") from reason
