"""Category encoding as nodes."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np
from onnx import ValueInfoProto

from rffboost_ext.exporting import Array, CategoryEncoding

from .graph import FLOAT32, FLOAT64, ML, Graph, require_opset
from .inputs import unused_text
from .model import input_names, value_info
from .protos import numpy_type
from .source import ExportSource

AS_TEXT = "a table of text instead, such as by astype(str)"


def open_categories(
    source: ExportSource, encoding: CategoryEncoding, graph: Graph, dtype: str
) -> tuple[list[ValueInfoProto], str, dict[str, str] | None]:
    """Begin a graph with nodes that encode the columns of a table as one matrix of numbers and codes.

    The declared inputs, of type `dtype` if they are numbers, the name of the matrix, and the text to write for a
    missing one in each input that is text: '' if that is no category. If any column is text, each column is a
    separate input, (N, 1), named after it; else ``X``, (N, d), is the input. Unknown categories become NaN.
    """
    categories = encoding.categories
    columns = list(source.feature_names) or [f"x{j}" for j in range(len(categories))]
    names = input_names(columns, [extra.name for extra in source.extras])
    by_name = zip(names, categories, strict=True)
    texts = {name: unused_text(entry.tolist(), "") for name, entry in by_name if holds_text(entry)}
    if texts:
        inputs = [value_info(name, object if name in texts else dtype, ["N", 1]) for name in names]
        values = [graph.input(entry.name, numpy_type(entry.type)) for entry in inputs]
    else:
        inputs, x = [value_info("X", dtype, ["N", len(categories)])], graph.input("X", dtype)
        places = [graph.constant([j], "column") for j in range(len(categories))]
        values = [graph.node("Gather", x, place, axis=1) for place in places]
    codes = [encode_column(entry, name, graph) for entry, name in zip(categories, values, strict=True)]
    return inputs, codes[0] if len(codes) == 1 else graph.node("Concat", *codes, axis=1), texts or None


def holds_text(categories: Array | None) -> TypeGuard[Array]:
    """Whether a column holds text."""
    return categories is not None and categories.dtype == object


def encode_column(categories: Array | None, column: str, graph: Graph) -> str:
    """A column, (n, 1), as numbers or codes of categories."""
    if categories is None:
        return graph.cast(column, graph.dtype)
    if holds_text(categories):
        return graph.cast(encode_text(categories, column, graph), graph.dtype)
    return encode_number(categories, column, graph)


def encode_text(categories: Array, column: str, graph: Graph) -> str:
    """The code of each text, NaN for an unknown one."""
    other = next((category for category in categories if not isinstance(category, str)), None)
    if other is not None:
        raise ValueError(
            f"to_onnx: categories must be text or numbers, got {other!r} in input {column!r}: fit to {AS_TEXT}"
        )
    codes: dict[str, Any] = {"keys_strings": categories.tolist(), "default_float": float("nan")}
    codes["values_floats"] = np.arange(len(categories), dtype=float).tolist()
    return graph.node("LabelEncoder", column, dtype=FLOAT32, domain=ML, **codes)


def is_exact(dtype: np.dtype[Any], categories: Array) -> bool:
    """Whether a type holds all categories exactly."""
    keys = categories.astype(dtype)
    return len(np.unique(keys)) == len(keys) and np.array_equal(keys, categories)


def encode_number(categories: Array, column: str, graph: Graph) -> str:
    """The code of each number, NaN for an unknown one."""
    # The first one whose Equal takes floating-point numbers.
    require_opset(graph, 11, "categories that are numbers")
    keys = categories.astype(graph.types[column])
    if not is_exact(keys.dtype, categories):
        advice = "export with dtype='float64'" if is_exact(FLOAT64, categories) else f"fit to {AS_TEXT}"
        raise ValueError(
            f"to_onnx: inputs of type {keys.dtype} cannot hold the categories {categories.tolist()} as they are; "
            f"{advice}"
        )
    gap = graph.missing(graph.dtype)
    if not len(keys):
        return graph.node("Add", graph.cast(column, graph.dtype), gap)
    same = graph.cast(graph.node("Equal", column, graph.constant(keys[None], "keys", keys.dtype)), graph.dtype)
    code = graph.node("MatMul", same, graph.constant(np.arange(len(keys), dtype=float)[:, None], "codes"))
    any_of = graph.node("MatMul", same, graph.constant(np.ones((len(keys), 1)), "ones"))
    is_category = graph.node("Greater", any_of, graph.constant(0.0, "nothing"))
    return graph.node("Where", is_category, code, gap)
