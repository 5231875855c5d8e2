"""Targets in any container as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.columns import column_array, exact_array, is_missing, real_numbers
from ..utils.typing import Array
from .input_types import require_arrays
from .tables import get_column, is_table, read_table

# Larger integers are rounded in double precision.
EXACT = 2**53


def target_array(y: Any, name: str = "y") -> Array:
    """Labels or targets of any container as an array, (n,) or (n, C), in which integers are exact."""
    require_arrays(**{name: y})
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
    found = labels.ravel()
    missing = np.array(list(map(is_missing, found)), dtype=bool) if found.dtype == object else found != found
    if missing.any():
        place = int(missing.argmax())
        raise ValueError(f"y must hold labels, got {found[place]!r} as entry {place}, a missing value")
    return exact_array(labels.tolist()) if labels.dtype == object and labels.ndim == 1 else labels


def number_array(y: Any, name: str = "y") -> Array:
    """Targets of any container as an array of real numbers; an error names the first that is none, or missing."""
    y = target_array(y, name)
    if y.ndim not in (1, 2):
        return y
    columns = [real_numbers(column, f"{name} must be real numbers") for column in y.reshape(len(y), -1).T]
    if len(columns) > 1:
        for column in columns:
            require_distinct(column, name)
    return np.stack(columns, axis=-1).reshape(y.shape) if columns else y


def require_distinct(column: Array, name: str) -> None:
    """Raise a ValueError if integers, such as codes of groups, become equal in double precision."""
    if column.dtype.kind not in "iu" or (column.max() <= EXACT and column.min() >= -EXACT):
        return
    codes = np.unique(column)
    rounded = codes.astype(np.float64)
    if (rounded[1:] == rounded[:-1]).any():
        place = int((rounded[1:] == rounded[:-1]).argmax())
        raise ValueError(
            f"{name} must hold integers that differ in double precision, got {codes[place]} and "
            f"{codes[place + 1]}: number codes from 0, as np.unique(codes, return_inverse=True) does"
        )
