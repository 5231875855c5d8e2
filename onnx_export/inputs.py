"""A user's X as the inputs of a graph, checked against the metadata of the file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from rffboost_ext.exporting import (
    Array,
    as_numbers,
    check_base_margin,
    column_names,
    column_values,
    dense_with_nan,
    is_missing,
    is_table,
    number_columns,
    read_table,
    require_base_margin,
    with_underscores,
)

from .metadata import Metadata
from .model import OFFSET

BLOCK = 2**22
"""Numbers of a block of rows."""


def row_blocks(X: Any, base_margin: Any, metadata: Metadata) -> Iterator[tuple[Any, Any]]:
    """X and an offset in blocks of rows whose array, output of the steps and letters are of bounded size."""
    texts = X if len(getattr(X, "shape", (0,))) == 1 and hasattr(X, "__len__") else ()
    longest = max((len(text) for text in texts if isinstance(text, str)), default=0)
    size = 1 + BLOCK // max(1, metadata.n_features, metadata.n_step_columns, longest)
    n = X.shape[0] if getattr(X, "shape", ()) else len(X) if hasattr(X, "__len__") else 0
    if n <= size:
        yield X, base_margin
        return
    X = X.tocsr() if issparse(X) else X
    if metadata.n_offsets and base_margin is not None:
        base_margin = check_base_margin(base_margin, n, metadata.n_offsets)
    for start in range(0, n, size):
        rows = slice(start, start + size)
        yield _safe_indexing(X, rows), None if base_margin is None else base_margin[rows]


def input_types(model: ModelProto) -> dict[str, int]:
    """ONNX's element type of each input of a model."""
    return {entry.name: entry.type.tensor_type.elem_type for entry in model.graph.input}


def graph_inputs(X: Any, inputs: dict[str, int], metadata: Metadata, base_margin: Any = None) -> dict[str, Array]:
    """X and an offset as the inputs of a graph, name to array, of ONNX's element types `inputs`.

    Other columns or types than those of the file raise a TypeError or ValueError, as do missing values in a column
    that had none in fit, masked arrays, and an offset that is missing, superfluous, or of another shape or type.
    """
    X = read_table(dense_with_nan(X) if metadata.absent_is_missing and issparse(X) else X)
    columns = [str(name) for name in column_names(X)] if is_table(X) else None
    features = {name: kind for name, kind in inputs.items() if name != OFFSET or not metadata.n_offsets}
    is_matrix = list(features) == ["X"]
    if columns and metadata.feature_names and (is_matrix or metadata.categories):
        require_names(columns, metadata)
    if np.ndim(X) == 1 and [*features.values()] == [TensorProto.STRING]:
        # A pipeline that begins with a vectorizer takes texts.
        X = np.array([*X], dtype=object)[:, None]
    if is_matrix:
        feed = {"X": matrix(X, features["X"], metadata.n_features)}
        has_gap: Any = np.isnan(feed["X"]).any(axis=0)
    else:
        feed, has_gap = separate_columns(X, columns, features, metadata)
    # Steps before the ensemble may impute missing values; their output is checked.
    if not metadata.steps:
        require_gaps_of_fit(has_gap, metadata)
    require_base_margin(metadata.estimator, base_margin, metadata.n_offsets > 0)
    if metadata.n_offsets:
        margin = check_base_margin(base_margin, len(next(iter(feed.values()))), metadata.n_offsets)
        feed[OFFSET] = margin.astype(helper.tensor_dtype_to_np_dtype(inputs[OFFSET]))
    return feed


def require_gaps_of_fit(has_gap: Any, metadata: Metadata, where: str = "") -> None:
    """Raise a ValueError if a column has missing values, (d,), that had none in fit, as the estimator does.

    `where` says which columns they are, if they are not the user's own.
    """
    if metadata.gaps is None or not (lost := {*np.flatnonzero(has_gap).tolist()} - {*metadata.gaps}):
        return
    column = min(lost)
    name = repr(metadata.feature_names[column]) if metadata.feature_names and not where else str(column)
    raise ValueError(f"X contains NaN{where} in column {name}, which had no missing values in fit")


def matrix(X: Any, kind: int, n_features: int) -> Array:
    """X as a row-major matrix of an element type, its shape checked."""
    numbers = as_numbers(X, in_fit=False)
    if len(np.shape(numbers)) != 2 or np.shape(numbers)[1] != n_features:
        raise ValueError(f"X must have shape (n, {n_features}), as at the fit, got {np.shape(numbers)}")
    return as_element_type(numbers, kind, "X")


def as_element_type(numbers: Any, kind: int, name: str) -> Array:
    """Numbers as an element type of ONNX, in rows.

    A ValueError for infinite ones, and for others or missing ones where integers or booleans are expected.
    """
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    # Numbers beyond the range of float32 become infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        array = np.ascontiguousarray(numbers, dtype=dtype)
        is_finite = dtype.kind != "f" or np.isfinite(array.sum())
    if not is_finite and np.isinf(np.asarray(numbers)[np.isinf(array)].astype(np.float64)).any():
        raise ValueError(f"{name} contains infinity: values must be finite numbers, or NaN where they are missing")
    if dtype.kind in "iub" and (changed := numbers[array != numbers]).size:
        raise ValueError(f"{name} must be of type {dtype}, as at the export, got {changed[0]!s}")
    return array


def require_names(columns: list[str], metadata: Metadata) -> None:
    """Raise a ValueError unless a table has the columns of the fit, in their order."""
    if [with_underscores(name) for name in columns] != [with_underscores(name) for name in metadata.feature_names]:
        raise ValueError(f"X must have the columns {list(metadata.feature_names)} in this order, got {columns}")


def unused_text(categories: Sequence[Any] | None, text: str) -> str:
    """The text, lengthened until no category equals it."""
    while text in (categories or ()):
        text += "_"
    return text


def separate_columns(
    X: Any, columns: list[str] | None, inputs: dict[str, int], metadata: Metadata
) -> tuple[dict[str, Array], list[bool]]:
    """Each column of a table or an array as a separate input, (n, 1), and whether it has missing values.

    They are found by position if the ensemble itself encodes categories, else by name. Inputs may have other names
    than the columns.
    """
    feed: dict[str, Array] = {}
    has_gap: list[bool] = []
    gap_texts = metadata.missing_text or {}
    names = list(metadata.feature_names if len(metadata.feature_names) == len(inputs) else inputs)
    in_order = bool(metadata.categories) or not (columns or metadata.feature_names)
    places = positions(X, columns, names, in_order)
    for j, (entry, kind) in enumerate(inputs.items()):
        if kind != TensorProto.STRING:
            numbers = number_columns(X, [places[j]], in_fit=False)[0]
            values = as_element_type(numbers, kind, f"column {names[j]!r} of X")
            is_gap = np.isnan(values)
        else:
            values = np.asarray(column_values(X, places[j])).astype(object)
            is_gap = np.array([is_missing(value) for value in values.tolist()], dtype=bool)
            require_text(values[~is_gap], names[j])
            if metadata.categories:
                # What is no text, such as a missing value, is no category.
                is_text = [isinstance(value, str) for value in values.tolist()]
                values[~np.array(is_text, dtype=bool)] = unused_text(metadata.categories[j], "\0other")
            elif entry in gap_texts:
                values[is_gap] = gap_texts[entry]
        has_gap.append(bool(is_gap.any()))
        feed[entry] = values[:, None]
    return feed, has_gap


def require_text(values: Array, name: str) -> None:
    """Raise a TypeError if there are values of a column, (n,), but no text."""
    if len(values) and not any(isinstance(value, str) for value in values):
        raise TypeError(f"column {name!r} of X must be text, as at the fit, got {values[0]!r}")


def positions(X: Any, columns: list[str] | None, names: list[str], in_order: bool) -> Sequence[int]:
    """The positions of `names` in X: all of its columns in their order, or those of a table of that name."""
    if in_order:
        if len(np.shape(X)) != 2 or np.shape(X)[1] != len(names):
            raise ValueError(f"X must have the {len(names)} columns {names}, got shape {np.shape(X)}")
        return range(len(names))
    if columns is None:
        raise TypeError(f"X must be a table with the columns {names}, got {type(X).__name__}")
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"X must have the columns {names}, got {columns} without {missing}")
    return [columns.index(name) for name in names]
