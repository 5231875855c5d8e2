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
    """X and an offset as the inputs of a graph: name to array.

    Parameters
    ----------
    X : array-like, sparse matrix, DataFrame or sequence of str
    inputs : dict of str to int
        ONNX's element type of each input.
    metadata : Metadata
        The metadata of the file.
    base_margin : array-like of shape (n,) or (n, C), optional
        The offset of each row, for a file with such an input.

    Raises
    ------
    TypeError, ValueError
        If X has other columns or types than the file, missing values in a column that had none in fit, or is a
        masked array; if the offset is missing, superfluous, or of another shape or type.
    """
    X = read_table(dense_with_nan(X) if metadata.absent_is_missing and issparse(X) else X)
    columns = [str(name) for name in column_names(X)] if is_table(X) else None
    offset = {OFFSET: inputs[OFFSET]} if metadata.n_offsets else {}
    inputs = {name: kind for name, kind in inputs.items() if name not in offset}
    is_matrix = list(inputs) == ["X"]
    if columns and metadata.feature_names and (is_matrix or metadata.categories):
        require_names(columns, metadata)
    if np.ndim(X) == 1 and [*inputs.values()] == [TensorProto.STRING]:
        # A pipeline that begins with a vectorizer takes texts.
        X = np.array([*X], dtype=object)[:, None]
    if is_matrix:
        found = {"X": matrix(X, inputs["X"], metadata.n_features)}
        has_gap: Any = np.isnan(found["X"]).any(axis=0)
    else:
        found, has_gap = separate_columns(X, columns, inputs, metadata)
    # Steps before the ensemble may impute missing values; their output is checked.
    if not metadata.steps:
        require_known_gaps(has_gap, metadata)
    require_base_margin(metadata.estimator, base_margin, metadata.n_offsets > 0)
    for name, kind in offset.items():
        margin = check_base_margin(base_margin, len(next(iter(found.values()))), metadata.n_offsets)
        found[name] = margin.astype(helper.tensor_dtype_to_np_dtype(kind))
    return found


def require_known_gaps(has_gap: Any, metadata: Metadata, where: str = "") -> None:
    """Raise a ValueError if a column has missing values that had none in fit, as the estimator does.

    Parameters
    ----------
    has_gap : array-like of shape (d,)
        Whether each column has missing values.
    metadata : Metadata
    where : str, default=""
        Where the columns are, if they are not the user's own.
    """
    lost = set(np.flatnonzero(has_gap).tolist()) - {*(metadata.gaps or ())}
    if metadata.gaps is None or not lost:
        return
    column = min(lost)
    name = repr(metadata.feature_names[column]) if metadata.feature_names and not where else str(column)
    raise ValueError(f"X contains NaN{where} in column {name}, which had no missing values in fit")


def matrix(X: Any, kind: int, n_features: int) -> Array:
    """X as a row-major matrix of an element type, its shape checked."""
    given = as_numbers(X, in_fit=False)
    if len(np.shape(given)) != 2 or np.shape(given)[1] != n_features:
        raise ValueError(f"X must have shape (n, {n_features}), as at the fit, got {np.shape(given)}")
    return converted(given, kind, "X")


def converted(given: Any, kind: int, name: str) -> Array:
    """Numbers as an element type of ONNX, in rows.

    Raises
    ------
    ValueError
        If they are infinite, or integers or booleans are expected and they are others or missing.
    """
    dtype = helper.tensor_dtype_to_np_dtype(kind)
    # Numbers beyond the range of float32 become infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        array = np.ascontiguousarray(given, dtype=dtype)
        is_finite = dtype.kind != "f" or np.isfinite(array.sum())
    if not is_finite and np.isinf(np.asarray(given)[np.isinf(array)].astype(np.float64)).any():
        raise ValueError(f"{name} contains infinity: values must be finite numbers, or NaN where they are missing")
    if dtype.kind in "iub" and (changed := given[array != given]).size:
        raise ValueError(f"{name} must be of type {dtype}, as at the export, got {changed[0]!s}")
    return array


def require_names(columns: list[str], metadata: Metadata) -> None:
    """Raise a ValueError unless a table has the columns of the fit, in their order."""
    if [with_underscores(name) for name in columns] != [with_underscores(name) for name in metadata.feature_names]:
        raise ValueError(f"X must have the columns {list(metadata.feature_names)} in this order, got {columns}")


def text_values(values: Array, categories: Sequence[Any] | None) -> Array:
    """A column of text, (n,), with a text that is no category for missing values and what is no text."""
    other = unused_text(categories, "\0other")
    return np.array([value if isinstance(value, str) else other for value in values.tolist()], dtype=object)


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
) -> tuple[dict[str, Array], list[bool]]:
    """Each column of a table or an array as a separate input, (n, 1), and whether it has missing values.

    They are found by position if the ensemble itself encodes categories, else by name. Inputs may have other names
    than the columns.
    """
    known, gaps = metadata.feature_names, metadata.missing_text or {}
    found: dict[str, Array] = {}
    has_gap: list[bool] = []
    names = list(known) if len(known) == len(inputs) else list(inputs)
    in_order = metadata.categories or not (columns or known)
    places = positions(X, names) if in_order else positions_by_name(X, columns, names)
    for column, (name, kind) in enumerate(inputs.items()):
        if kind != TensorProto.STRING:
            values = converted(
                number_columns(X, [places[column]], in_fit=False)[0], kind, f"column {names[column]!r} of X"
            )
            has_gap.append(bool(np.isnan(values).any()))
        else:
            values = np.asarray(column_values(X, places[column]))
            require_text(values, names[column])
            missing = np.array([is_missing(value) for value in values.tolist()], dtype=bool)
            has_gap.append(bool(missing.any()))
            values = values.astype(object)
            if metadata.categories:
                values = text_values(values, metadata.categories[column])
            elif name in gaps:
                values[missing] = gaps[name]
        found[name] = values[:, None]
    return found, has_gap


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
