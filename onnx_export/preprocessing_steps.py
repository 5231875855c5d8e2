"""Steps that come before an ensemble, converted by skl2onnx."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import ModelProto, ValueInfoProto
from scipy.sparse import issparse
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, TargetEncoder

from rffboost_ext.exporting import Array, column_names, column_values, is_table, read_table

from .graph import BOOL, FLOAT32, INT64, ConversionError, Graph, require_opset
from .model import input_names, value_info
from .protos import numpy_type
from .source import ExportSource
from .text_steps import missing_texts, with_texts_for_gaps
from .word_steps import CONVERTERS, shapes

TEXT = "text"
"""The input of a pipeline that takes texts."""
ROWS = 100
"""Rows of X on which the steps are tried."""


def with_missing(graph: Graph, x: str, absent: Array) -> str:
    """`x` with NaN for numbers equal to those of `absent`, (p,)."""
    require_opset(graph, 11, "steps that output a sparse matrix")
    with graph.scope("front"):
        # In float32: where scalers moved zeros, these numbers have rounding errors.
        numbers = graph.constant(absent, "absent", FLOAT32)
        is_absent = graph.node("Equal", graph.cast(x, FLOAT32), numbers)
        return graph.node("Where", is_absent, graph.constant(np.nan, "gap"), x)


def open_steps(
    source: ExportSource, graph: Graph, X: Any, dtype: str
) -> tuple[list[ValueInfoProto], str, dict[str, str] | None]:
    """Begin a graph with the steps before the ensemble.

    The declared inputs, the name of the output of the steps, and the text to write for a missing one in each input
    that is text. Each column of X is a separate input, (N, 1), named after it, where a step takes columns by name
    or takes text; where the first step takes texts themselves, ``text``, (N, 1), is the input; else ``X``, (N, d).
    """
    if dtype == "mixed":
        raise ValueError(
            "to_onnx: dtype must be 'float32' or 'float64' where steps other than StandardScaler come before the "
            "ensemble, got 'mixed'"
        )
    assert source.steps is not None
    types = {TEXT: np.dtype(object)} if source.takes_texts else initial_types(X, dtype)
    if takes_matrix(source.steps) and all(kind.kind != "O" for kind in types.values()):
        types = {}
    model = convert_steps(source, types, dtype, graph.opsets)
    names = input_names(list(types), {extra.name for extra in source.extras})
    inputs = [value_info(name, kind, ["N", 1]) for name, kind in zip(names, types.values(), strict=True)]
    inputs = inputs or [value_info("X", dtype, ["N", source.n_features])]
    columns = [graph.input(entry.name, numpy_type(entry.type)) for entry in inputs]
    x = graph.embed(model, *columns, output=model.graph.output[0].name)
    if source.absent is not None:
        x = with_missing(graph, graph.cast(x, graph.dtype), source.absent)
    texts = [name for name, kind in zip(names, types.values(), strict=True) if kind.kind == "O"]
    return inputs, x, missing_texts(source.steps, dict(zip(types, names, strict=True)), texts)


def convert_steps(
    source: ExportSource, types: dict[str, np.dtype[Any]], dtype: str, opsets: dict[str, int]
) -> ModelProto:
    """The steps by skl2onnx, with one input for each of some columns, or a matrix if there are none."""
    import skl2onnx
    from skl2onnx.common.exceptions import MissingConverter, MissingShapeCalculator

    inputs = [(name, tensor_type(kind, 1)) for name, kind in types.items()]
    inputs = inputs or [("X", tensor_type(np.dtype(dtype), source.n_features))]
    ours = {"custom_conversion_functions": CONVERTERS, "custom_shape_calculators": shapes(dtype)}
    steps = with_texts_for_gaps(source.steps)
    try:
        return skl2onnx.convert_sklearn(steps, initial_types=inputs, target_opset=opsets, **ours)
    except ConversionError:
        raise
    # skl2onnx's errors have no common base class.
    except Exception as error:
        has_converters = not isinstance(error, MissingConverter | MissingShapeCalculator)
        needs_X = not types and source.feature_names and has_converters
        advice = "; pass X, a few rows, where steps take columns by name" if needs_X else ""
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            f"to_onnx: skl2onnx cannot convert a step before the ensemble: {reason}{advice}"
        ) from error


def takes_matrix(step: Any) -> bool:
    """Whether a step takes all columns of a table together, not one by one as encoders and ColumnTransformer."""
    if isinstance(step, Pipeline):
        return takes_matrix(step[0])
    if isinstance(step, FeatureUnion):
        return all(takes_matrix(part) for _, part in step.transformer_list)
    return not isinstance(step, ColumnTransformer | OneHotEncoder | OrdinalEncoder | TargetEncoder)


def first_rows(source: ExportSource, X: Any) -> Any:
    """Some rows of X; a table of any package is read by narwhals, with the columns in the order of the fit."""
    if issparse(X):
        return X.tocsr()[:ROWS]
    X = read_table(X) if hasattr(type(X), "columns") else X
    if not is_table(X):
        return X[:ROWS]
    columns, names = [str(name) for name in column_names(X)], list(source.feature_names)
    missing = [name for name in names if name not in columns]
    if missing:
        raise ValueError(f"to_onnx: X must have the columns {names} of the fit, got {columns} without {missing}")
    if not names and len(columns) != source.n_features:
        raise ValueError(f"to_onnx: X must have {source.n_features} columns, as at the fit, got {columns}")
    return X.head(ROWS)[:, [columns.index(name) for name in names or columns]]


def initial_types(X: Any, dtype: str) -> dict[str, np.dtype[Any]]:
    """The type of input for each column of a table: real numbers in `dtype`, int64, bool, or object for text.

    Those of an array of text are x0, x1, ...; there are none for one of numbers.
    """
    kinds = {"f": np.dtype(dtype), "i": INT64, "u": INT64, "b": BOOL}
    columns = {str(name): column_values(X, j).dtype.kind for j, name in enumerate(column_names(X))}
    if isinstance(X, np.ndarray | list) and np.asarray(X).dtype.kind in "OU":
        columns = {f"x{j}": np.array(column.tolist()).dtype.kind for j, column in enumerate(np.asarray(X).T)}
    return {name: kinds.get(kind, np.dtype(object)) for name, kind in columns.items()}


def tensor_type(kind: np.dtype[Any], width: int) -> Any:
    """skl2onnx's type of an input, (n, width)."""
    from skl2onnx.common.data_types import guess_data_type

    ((_, example),) = guess_data_type(np.empty((1, width), dtype=kind))
    return type(example)([None, width])
