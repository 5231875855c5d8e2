"""Columns of tables (pandas, polars, Arrow and others with named columns) and of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from ..utils.typing import Array

FLOAT_TYPES = [np.float64, np.float32]
# Prefixes of the names of categorical types: pandas, polars, Arrow.
CATEGORICAL_TYPES = ("category", "categorical", "enum", "dictionary<")
# Prefixes of the names of types of dates, times and durations.
DATE_TYPES = ("date", "time", "duration")
# Integers below have an exact float64.
EXACT_INTEGERS = 2.0**53


def is_table(X: Any) -> bool:
    """Whether X has named columns."""
    # The type is asked: a lazy table would compute its columns, with a warning.
    return hasattr(type(X), "columns")


def column_names(X: Any) -> list[Any]:
    """The names of the columns of a table; empty for an array."""
    if not is_table(X):
        return []
    return list(getattr(X, "column_names", X.columns))


def describe_column(X: Any, column: int) -> str:
    """The name of a column of a table in quotes, or the index of a column of an array, for messages."""
    return f"{column_names(X)[column]!r}" if is_table(X) else f"{column}"


def column_types(X: Any) -> list[str]:
    """The names of the types of a table's columns; of an array the name of its single type."""
    if not is_table(X):
        return [str(getattr(X, "dtype", ""))]
    if hasattr(X, "dtypes"):
        return [str(kind) for kind in X.dtypes]
    columns = (X[name] for name in column_names(X))
    return [str(getattr(column, "dtype", getattr(column, "type", ""))) for column in columns]


def with_underscores(name: Any) -> str:
    """The name of a column as LightGBM stores it, with underscores instead of blanks."""
    return str(name).replace(" ", "_")


def categorical_columns(X: Any) -> list[int]:
    """The indices of the columns of a table whose type is categorical; empty for an array."""
    if not is_table(X):
        return []
    return [j for j, kind in enumerate(column_types(X)) if kind.lower().startswith(CATEGORICAL_TYPES)]


def select_columns(X: Any, columns: list[int]) -> Any:
    """Columns of a table, as a table, or of an array."""
    if hasattr(X, "iloc"):
        return X.iloc[:, columns]
    if hasattr(X, "select") and is_table(X):
        return X.select([column_names(X)[column] for column in columns])
    return np.asarray(X)[:, columns]


def get_column(X: Any, column: int) -> Any:
    """One column of a table, in the table's own type, or of an array."""
    if not is_table(X):
        return np.asarray(X)[:, column]
    return X.iloc[:, column] if hasattr(X, "iloc") else X[column_names(X)[column]]


def column_values(X: Any, column: int) -> Array:
    """One column of a table or an array, (n,), as numbers or Python objects."""
    values = np.asarray(get_column(X, column))
    # As objects, times are equal whatever their unit, and missing ones are None.
    return values.astype(f"{values.dtype.kind}8[us]").astype(object) if values.dtype.kind in "mM" else values


def exact_column_values(X: Any, column: int) -> Array:
    """As :func:`column_values`, but large integers beside missing values are not rounded to floats."""
    values = column_values(X, column)
    if not is_table(X) or values.dtype.kind != "f" or not (np.abs(values) >= EXACT_INTEGERS).any():
        return values
    series = get_column(X, column)
    entries = (series.to_list if hasattr(series, "to_list") else series.to_pylist)()
    return np.fromiter(entries, dtype=object, count=len(entries))


def is_missing(value: Any) -> bool:
    """Whether a value is a missing one: None, NaN, NaT or pandas' NA."""
    return value is None or not isinstance(value == value, bool | np.bool_) or value != value


def replace_missing(X: Any) -> Any:
    """X; if it converts to an array of objects, that array with NaN for missing values such as pandas' NA."""
    values = np.asarray(X) if is_table(X) else X
    if not isinstance(values, np.ndarray) or values.dtype.kind != "O":
        return X
    entries = [np.nan if is_missing(value) else value for value in values.ravel()]
    return np.array(entries, dtype=object).reshape(values.shape)


def mixed_array(X: Any) -> Array:
    """X, not a table, as an array (n, d) of any type; in a list each entry keeps its own type."""
    X = np.array(X, dtype=object) if isinstance(X, list | tuple) else X
    return np.asarray(check_array(X, dtype=None, ensure_all_finite=False, input_name="X"))


def numeric_array(X: Any) -> Array:
    """Columns of numbers as an array of floats (n, d); a ValueError names a column that holds something else."""
    require_no_dates(X)
    try:
        return np.asarray(check_array(X, dtype=FLOAT_TYPES, ensure_all_finite="allow-nan", input_name="X"))
    except (ValueError, TypeError):
        raise_for_column(X)
        raise


def require_no_dates(X: Any) -> None:
    """Raise a ValueError that names a column of dates, times or durations: a missing one would become a number."""
    for column, kind in enumerate(column_types(X)):
        if kind.lower().startswith(DATE_TYPES):
            raise ValueError(
                f"column {describe_column(X, column)} of X must hold numbers, got {kind}: derive numbers from it, "
                f"such as the days since a date, the month, or the hour"
            )


def require_unmasked(**arrays: Any) -> None:
    """Raise a ValueError that names an array with masked entries: the values below the mask would be used."""
    for name, values in arrays.items():
        if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
            raise ValueError(
                f"{name} must not be masked, got {np.ma.count_masked(values)} masked values; missing values of "
                f"features are NaN: X.filled(np.nan)"
            )


def raise_for_column(X: Any, in_fit: bool = True) -> None:
    """Raise an error that names the column of a table, or of an array of objects, that holds no numbers."""
    if not is_table(X) and (not isinstance(X, np.ndarray) or X.dtype != object or X.ndim != 2):
        return
    for column in range(np.shape(X)[1]):
        try:
            values = np.asarray(replace_missing(column_values(X, column)))[:, None]
            check_array(values, dtype=FLOAT_TYPES, ensure_all_finite=False, ensure_min_samples=0)
        except (ValueError, TypeError) as reason:
            # A column of a categorical type was excluded by categorical_features.
            typed = not is_table(X) or column in categorical_columns(X)
            advice = "" if typed else "give it the data type category, or "
            kind = TypeError if isinstance(reason, TypeError) else ValueError
            or_else = f", or be categorical: {advice}name it in categorical_features" if in_fit else ", as in fit"
            raise kind(
                f"column {describe_column(X, column)} of X must hold numbers{or_else} ({reason})"
            ) from reason
