"""A user's X as the inputs of a graph, checked against the metadata of the file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from rffboost_ext.exporting import (
    Array,
    as_numbers,
    check_base_margin,
    column_names,
    column_values,
    is_missing,
    is_table,
    read_table,
    replace_missing,
    require_base_margin,
    with_underscores,
)

from .metadata import Metadata
from .model import OFFSET

TIMES = np.datetime64, np.timedelta64
"""Types of objects that NumPy converts to numbers."""

MISSING, UNSEEN = "\0missing", "\0other"
"""Text for a missing value, and for an unknown one: see :func:`unused_text`."""


def graph_inputs(X: Any, inputs: dict[str, int], metadata: Metadata) -> dict[str, Array]:
    """X as the inputs of a graph: name to array.

    Parameters
    ----------
    X : array-like or DataFrame
    inputs : dict of str to int
        ONNX's element type of each input.
    metadata : Metadata
        The metadata of the file.

    Raises
    ------
    TypeError, ValueError
        If X has other columns or types than the file, or is a masked array.
    """
    X = read_table(X)
    columns = [str(name) for name in column_names(X)] if is_table(X) else None
    is_matrix = list(inputs) == ["X"]
    if columns and metadata.feature_names and (is_matrix or metadata.categories):
        require_names(columns, metadata)
    if is_matrix:
        return {"X": matrix(X, inputs["X"], metadata.n_features)}
    return separate_columns(X, columns, inputs, metadata)


def offset_input(base_margin: Any, n_samples: int, inputs: dict[str, int], metadata: Metadata) -> dict[str, Array]:
    """An offset as an input of a graph, by name; none for a file without such an input.

    Raises
    ------
    TypeError, ValueError
        If it is missing, superfluous, or of another shape or type.
    """
    require_base_margin(metadata.estimator, base_margin, metadata.n_offsets > 0)
    if base_margin is None:
        return {}
    offset = check_base_margin(base_margin, n_samples, metadata.n_offsets)
    return {OFFSET: offset.astype(helper.tensor_dtype_to_np_dtype(inputs[OFFSET]))}


def require_no_new_missing(feed: dict[str, Array], metadata: Metadata) -> None:
    """Raise a ValueError if a column has missing values that had none in fit, as the estimator does.

    Steps before the ensemble may impute them; their output is for :func:`require_no_new_missing_after_steps`.
    """
    if metadata.gaps is None or metadata.steps:
        return
    columns = list(feed["X"].T) if list(feed) == ["X"] else [values[:, 0] for values in feed.values()]
    for column in set(range(len(columns))) - set(metadata.gaps):
        values = columns[column]
        gap = unused_text(metadata.categories[column], MISSING) if values.dtype == object else None
        if (values != values if gap is None else values == gap).any():
            name = repr(metadata.feature_names[column]) if metadata.feature_names else str(column)
            raise ValueError(f"X contains NaN in column {name}, which had no missing values in fit")


def require_no_new_missing_after_steps(found: Array, metadata: Metadata) -> None:
    """Raise a ValueError if a column of the steps' output, (n, d), has missing values that had none in fit."""
    lost = np.flatnonzero((found != found).any(axis=0)).tolist()
    column = next((column for column in lost if column not in (metadata.gaps or ())), None)
    if column is not None:
        raise ValueError(
            f"X contains NaN after the steps before the ensemble, in column {column}, which had no missing values "
            f"in fit"
        )


def matrix(X: Any, kind: int, n_features: int) -> Array:
    """X as a row-major matrix of an element type, its shape checked."""
    given = as_numbers(X, in_fit=False)
    try:
        array = numeric(given, helper.tensor_dtype_to_np_dtype(kind))
    except (TypeError, ValueError) as error:
        raise TypeError(f"X must be numeric, got {type(X).__name__}: {error}") from error
    if array.ndim != 2:
        raise ValueError(f"X must be two-dimensional, (n, {n_features}), got shape {array.shape}")
    if array.shape[1] != n_features:
        raise ValueError(f"X must have {n_features} columns, as at the fit, got {array.shape[1]}")
    require_finite(given, array, "X")
    return array


def numeric(values: Any, dtype: np.dtype[Any]) -> Array:
    """Values as an array of a numeric type; a TypeError for complex numbers, dates and durations."""
    given = np.asarray(values)
    strange = next((one for one in given.flat if isinstance(one, TIMES)), None) if given.dtype == object else None
    if strange is not None:
        raise TypeError(f"{strange!r} is no number")
    if given.dtype.kind in "cmM":
        raise TypeError(f"{given.dtype} is no type of real numbers")
    # Numbers beyond the range of float32 become infinite.
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(given, dtype=dtype)


def require_finite(given: Any, array: Array, name: str) -> None:
    """Raise a ValueError if values are infinite, as the estimator does; `array` has them in the file's type."""
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype.kind != "f" or np.isfinite(array.sum()):
            return
    if np.isinf(np.asarray(given)[np.isinf(array)].astype(np.float64)).any():
        raise ValueError(f"{name} contains infinity: values must be finite numbers, or NaN where they are missing")


def require_names(columns: list[str], metadata: Metadata) -> None:
    """Raise a ValueError unless a table has the columns of the fit, in their order."""
    if [with_underscores(name) for name in columns] != [with_underscores(name) for name in metadata.feature_names]:
        raise ValueError(f"X must have the columns {list(metadata.feature_names)} in this order, got {columns}")


def text_values(values: Array, categories: Sequence[Any] | None) -> Array:
    """A column of text, (n,), with missing and unknown values replaced by two texts that are no categories."""
    known, gap, other = set(categories or ()), unused_text(categories, MISSING), unused_text(categories, UNSEEN)
    words = [
        value if isinstance(value, str) and value in known else gap if is_missing(value) else other
        for value in values.tolist()
    ]
    return np.array(words, dtype=object)


def unused_text(categories: Sequence[Any] | None, text: str) -> str:
    """The text, lengthened until no category equals it."""
    while text in (categories or ()):
        text += "_"
    return text


def require_text(values: Array, name: str) -> None:
    """Raise a TypeError for a column, (n,), that has values but no text."""
    known = [value for value in values.tolist() if not is_missing(value)]
    if known and not any(isinstance(v, str) for v in known):
        raise TypeError(f"column {name!r} of X must be text, as at the fit, got {known[0]!r}")


def separate_columns(
    X: Any, columns: list[str] | None, inputs: dict[str, int], metadata: Metadata
) -> dict[str, Array]:
    """Each column of a table or an array as a separate input, (n, 1).

    They are found by position if the ensemble itself encodes categories, else by name. Inputs may have other names
    than the columns.
    """
    known, gaps, made = metadata.feature_names, metadata.missing_text or {}, {}
    names = list(known) if len(known) == len(inputs) else list(inputs)
    places = positions(X, names) if metadata.categories else positions_by_name(X, columns, names)
    for column, (name, kind) in enumerate(inputs.items()):
        values = column_values(X, places[column])
        if metadata.categories and kind == TensorProto.STRING:
            require_text(values, names[column])
            values = text_values(values, metadata.categories[column])
        made[name] = column_input(values, names[column], kind, gaps.get(name))
    return made


def positions(X: Any, names: list[str]) -> Sequence[int]:
    """The positions of all columns of X; a ValueError unless there are as many as `names`."""
    if len(np.shape(X)) != 2 or np.shape(X)[1] != len(names):
        raise ValueError(f"X must have the {len(names)} columns {names}, got shape {np.shape(X)}")
    return range(len(names))


def positions_by_name(X: Any, columns: list[str] | None, names: list[str]) -> Sequence[int]:
    """The positions of `names` among the columns of a table."""
    if columns is None:
        raise TypeError(f"X must be a table with the columns {names}, got {type(X).__name__}")
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"X must have the columns {names}, got {columns} without {missing}")
    return [columns.index(name) for name in names]


def column_input(column: Any, name: str, kind: int, gap: str | None = None) -> Array:
    """One column as an input of an element type, (n, 1); missing texts are replaced by `gap` if it is known.

    Raises
    ------
    TypeError
        If the column is not of numbers, or of text, as expected.
    ValueError
        If integers or booleans are expected and the column has other or missing values.
    """
    given = np.asarray(column)
    if kind == TensorProto.STRING:
        require_text(given, name)
        texts = given.astype(object)
        if gap is not None:
            texts[[is_missing(value) for value in texts]] = gap
        return texts[:, None]
    dtype, given = helper.tensor_dtype_to_np_dtype(kind), replace_missing(given)
    try:
        with np.errstate(invalid="ignore"):
            cast = numeric(given, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"column {name!r} of X must be of type {dtype}, as at the export: {error}") from error
    changed = np.asarray(cast != given) if dtype.kind in "iub" else np.zeros(0, dtype=bool)
    if changed.any():
        raise ValueError(
            f"column {name!r} of X must be of type {dtype}, as at the export, got {given[changed][0]!s}"
        )
    require_finite(given, cast, f"column {name!r} of X")
    return cast[:, None]
