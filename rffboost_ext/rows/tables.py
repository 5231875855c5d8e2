"""Columns of tables and arrays, and targets in any container."""

from __future__ import annotations

import numbers
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from sklearn.utils.validation import check_array

from ..utils.param_validation import told
from ..utils.sparse import SparseRows, compressed, is_sparse
from ..utils.typing import Array
from .columns import (
    EXACT_INTEGERS,
    REAL_KINDS,
    TIMES,
    at_entry,
    column_array,
    exact_array,
    is_missing,
    is_plain_number,
    real_numbers,
)

FLOAT_TYPES = [np.float64, np.float32]
# Maximum number of levels of text that is categorical by itself.
MAX_TEXTS = 255
# A column of text is one of numbers if at most this share of its cells are none.
FEW_ERRORS = 0.1


def read_table(X: Any, argument: str = "X") -> Any:
    """A table as narwhals reads it; an array or a sequence as it is; a sparse matrix as an array or sparse rows.

    Messages name the `argument`.

    Raises
    ------
    TypeError
        If `X` is lazy, or neither an array, a sparse matrix, a sequence nor a table.
    ValueError
        If an array has masked entries, a sparse matrix is complex or not two-dimensional, or two columns of a
        table have the same name.
    """
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError(
            f"{argument} must not be masked, got {np.ma.count_masked(X)} masked values; missing features are NaN: "
            f"X.filled(np.nan)"
        )
    if is_sparse(X) and argument == "X":
        if X.ndim != 2 or X.dtype.kind == "c":
            raise ValueError(f"X must be real numbers of shape (n, d), got a sparse {X.dtype} of shape {X.shape}")
        return compressed(X)
    # The type is asked: a lazy table would compute its columns, with a warning.
    table = with_named_columns(X, argument) if hasattr(type(X), "columns") and not is_table(X) else X
    if not is_dense(table):
        kind = f"{type(X).__module__.partition('.')[0]}.{type(X).__name__}".removeprefix("builtins.")
        advice = f": {argument}.toarray() is that of a sparse matrix" if is_sparse(X) else ""
        if isinstance(X, np.ndarray):
            kind = f"a structured array with the fields {', '.join(X.dtype.names or ())}"
            advice = "; one of event and time is the y of RFFBoostSurvival, other estimators take two columns"
        if isinstance(X, str | os.PathLike):
            advice = "; read files by rffboost_ext.sources, as in fit(sources.csv(path, target=...))"
        elif kind.startswith("dask"):
            advice = "; the estimators of rffboost_ext.dask take it"
        kinds = "an array, a sparse matrix or a table" if argument == "X" else "a dense array or a table"
        raise TypeError(f"{argument} must be {kinds} in memory, got {kind}{advice}")
    return table


def with_named_columns(X: Any, argument: str) -> Any:
    """An object with columns as narwhals reads it, if it does; a ValueError if two of them have the same name."""
    try:
        table = nw.from_native(X, pass_through=True)
        if not isinstance(table, nw.DataFrame | nw.LazyFrame) and hasattr(X, "__arrow_c_stream__"):
            # A record batch, or a table of another package in Arrow's memory.
            table = nw.from_arrow(X, backend="pyarrow")
    except DuplicateError as error:
        name, count = Counter(getattr(X, "column_names", X.columns)).most_common(1)[0]
        raise ValueError(f"{argument} must have distinct names of columns, got {name!r} {count} times") from error
    return table


def is_dense(values: Any) -> bool:
    """Whether an object is a number, an array or sequence of plain entries, or a table in memory."""
    if isinstance(values, np.ndarray):
        return not values.dtype.names
    if isinstance(values, nw.LazyFrame | str | bytes | Mapping) or is_sparse(values):
        return False
    is_plain = isinstance(values, nw.DataFrame | numbers.Number) or values is None
    return is_plain or any(hasattr(values, name) for name in ("__array__", "__array_interface__", "__len__"))


def is_table(X: Any) -> bool:
    """Whether X is a table as :func:`read_table` returns it."""
    return isinstance(X, nw.DataFrame)


def is_numeric(X: Any) -> bool:
    """Whether X is an array or sparse rows of real numbers."""
    return isinstance(X, np.ndarray | SparseRows) and X.dtype.kind in REAL_KINDS


def is_sparse_table(native: Any) -> bool:
    """Whether all columns of a table of any package are sparse ones of pandas, in which an absent entry is 0."""
    kinds = getattr(native, "dtypes", ())
    return len(kinds) > 0 and all(getattr(kind, "fill_value", None) == 0 for kind in kinds)


def native_table(X: Any) -> Any:
    """A table of :func:`read_table` in the type of its package; an array as it is."""
    return X.to_native() if is_table(X) else X


def column_names(X: Any) -> list[Any]:
    """The names of the columns of a table; empty for an array."""
    return list(X.columns) if is_table(X) else []


def describe_column(X: Any, column: int) -> str:
    """The name of a column of a table in quotes, or the index of a column of an array, for messages."""
    return f"{column_names(X)[column]!r}" if is_table(X) else f"{column}"


def with_underscores(name: Any) -> str:
    """The name of a column as LightGBM stores it, with underscores instead of blanks."""
    return str(name).replace(" ", "_")


def categorical_columns(X: Any) -> list[int]:
    """The indices of the columns of a table whose type is categorical; empty for an array."""
    kinds = X.schema.values() if is_table(X) else ()
    return [j for j, kind in enumerate(kinds) if kind in (nw.Categorical, nw.Enum)]


def has_few_texts(X: Any, column: int) -> bool:
    """Whether a column holds text that is no numbers, of at most `MAX_TEXTS` levels with two rows on average.

    Text of numbers but for a few cells is taken for numbers with errors.
    """
    array = column_values(X, column)
    values = [value for value in array.tolist() if not is_missing(value)] if array.dtype.kind in "OU" else []
    counts = Counter(value for value in values if isinstance(value, str))
    if len(counts) > min(MAX_TEXTS, len(values) / 2) or counts.total() < len(values):
        return False
    return sum(count for value, count in counts.items() if not is_number(value)) > FEW_ERRORS * len(values)


def is_number(text: str) -> bool:
    """Whether text is that of a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def get_column(X: Any, column: int) -> Any:
    """One column of a table, in the type of its package, or of an array."""
    if not is_table(X):
        return (X if is_numeric(X) else np.asarray(X))[:, column]
    native = X.to_native()
    return native.iloc[:, column] if hasattr(native, "iloc") else X[:, column].to_native()


def column_values(X: Any, column: int) -> Array:
    """One column of a table or an array, (n,), as exact numbers or Python objects."""
    values = column_array(get_column(X, column))
    # As objects, times are equal whatever their unit, and missing ones are None.
    return values.astype(f"{values.dtype.kind}8[us]").astype(object) if values.dtype.kind in "mM" else values


def number_columns(X: Any, columns: Iterable[int], in_fit: bool) -> list[Array]:
    """Columns of a table or an array, (n,) each, of a type of real numbers; missing values are NaN.

    Raises
    ------
    ValueError, TypeError
        If a value is no real number; the message names all such columns, and in a fit says what they may hold.
    """
    arrays: list[Array] = []
    errors: dict[int, ValueError | TypeError] = {}
    for column in columns:
        array = column_array(get_column(X, column))
        try:
            if array.dtype.kind not in REAL_KINDS:
                must = f"column {describe_column(X, column)} of X must hold numbers"
                must += allowed_in_fit(X, column, array) if in_fit else ", as in fit"
                array = real_numbers(array, must, text=True, missing=True)
            arrays.append(array)
        except (ValueError, TypeError) as error:
            errors[column] = error
    if errors:
        (_, first), *others = errors.items()
        names = ", ".join(describe_column(X, column) for column, _ in others)
        joint = type(first)(f"{first}; so must {names}" if others else str(first))
        raise at_entry(joint, getattr(first, "entry", None)) from first
    return arrays


def allowed_in_fit(X: Any, column: int, array: Array) -> str:
    """What a column (n,) of no numbers could be instead."""
    if array.dtype.kind in "mM" or any(isinstance(value, TIMES) for value in array.tolist()):
        return ", such as the days since a date, the month or the hour"
    # A column of a categorical type was excluded by categorical_features.
    if is_table(X) and column not in categorical_columns(X):
        return ", or be categorical: give it the data type category, or name it in categorical_features"
    return ', or be categorical: name it in categorical_features, or set categorical_features="auto"'


def mixed_array(X: Any) -> Array:
    """X, not a table, as an array (n, d) of any type; in a list each entry keeps its own type."""
    X = np.array(X, dtype=object) if isinstance(X, list | tuple) else X
    return np.asarray(check_array(X, dtype=None, ensure_all_finite=False, input_name="X"))


def as_numbers(X: Any, in_fit: bool = True) -> Any:
    """A table or an array as scikit-learn's checks read it right, which do not know all types of missing values.

    Returns
    -------
    array-like or SparseRows of shape (n, d)
        X itself, if it is of numbers, or a table of NumPy's types of numbers; else an array of floats, single ones
        if all columns are exact in them. A table of sparse columns is as its sparse matrix.

    Raises
    ------
    ValueError, TypeError
        If a value is no real number; the message names the column.
    """
    if is_numeric(X):
        return X
    if is_table(X):
        native = X.to_native()
        if is_sparse_table(native):
            return compressed(native.sparse.to_coo())
        kinds = getattr(native, "dtypes", [None])
        if all(isinstance(kind, np.dtype) and kind.kind in REAL_KINDS for kind in kinds):
            return native
        # narwhals converts nulls to NaN, faster than column by column.
        if X.columns and all(map(is_plain_number, X.schema.values())):
            return X.to_numpy()
    else:
        array = np.asarray(X)
        if array.ndim != 2 or not array.size or array.dtype.kind in REAL_KINDS:
            return array if isinstance(X, list | tuple) else X
        X = array if array.dtype.kind == "c" else mixed_array(X)
    columns = number_columns(X, range(X.shape[1]), in_fit)
    single = np.result_type(*columns) == np.float32
    return np.column_stack(columns).astype(np.float32 if single else np.float64, copy=False)


def target_array(y: Any, name: str = "y") -> Array:
    """Labels or targets of any container as an array, (n,) or (n, C), in which integers are exact."""
    if type(y) is np.ndarray and not y.dtype.names:
        return y
    y = read_table(y, name)
    if is_table(y):
        return np.column_stack([column_array(get_column(y, column)) for column in range(y.shape[1])])
    try:
        return column_array(y)
    except ValueError as error:
        raise ValueError(f"{name} must have shape (n,) or (n, C), got rows of several shapes: {error}") from error


def label_array(y: Any) -> Array:
    """Labels of any container as an array; a ValueError if one is missing: None, NaN, NaT or pandas' NA."""
    labels = target_array(y)
    if labels.dtype.kind == "c":
        raise ValueError("y must hold labels, got complex numbers: Complex data not supported")
    if labels.ndim == 0 or labels.dtype.kind not in "OfmM":
        return labels
    entries = labels.ravel()
    missing = (
        np.array(list(map(is_missing, entries)), dtype=bool) if entries.dtype == object else entries != entries
    )
    if missing.any():
        place = int(missing.argmax())
        error = ValueError(f"y must hold labels, got {told(entries[place])} as entry {place}, a missing value")
        raise at_entry(error, place)
    return exact_array(labels.tolist()) if labels.dtype == object and labels.ndim == 1 else labels


def number_array(y: Any, name: str = "y") -> Array:
    """Targets of any container as an array of real numbers; an error names the first that is none, or missing."""
    y = target_array(y, name)
    if y.ndim not in (1, 2):
        return y
    if not len(y):
        raise ValueError(f"{name} must have at least one row, got shape {y.shape}")
    columns = [real_numbers(column, f"{name} must be real numbers") for column in y.reshape(len(y), -1).T]
    if len(columns) > 1:
        for column in columns:
            require_distinct(column, name)
    return np.stack(columns, axis=-1).reshape(y.shape) if columns else y


def require_distinct(column: Array, name: str) -> None:
    """Raise a ValueError if integers, such as codes of groups, become equal in double precision."""
    if column.dtype.kind not in "iu" or (column.max() <= EXACT_INTEGERS and column.min() >= -EXACT_INTEGERS):
        return
    codes = np.unique(column)
    rounded = codes.astype(np.float64)
    if (rounded[1:] == rounded[:-1]).any():
        place = int((rounded[1:] == rounded[:-1]).argmax())
        raise ValueError(
            f"{name} must hold integers that differ in double precision, got {codes[place]} and "
            f"{codes[place + 1]}: number codes from 0, as np.unique(codes, return_inverse=True) does"
        )
