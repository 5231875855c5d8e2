"""Category encoding as nodes, with the same interface as ``PreprocessingSteps``."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ValueInfoProto

from rffboost_ext.exporting import Array, CategoryEncoding

from .graph import BOOL, FLOAT32, ML, Graph
from .inputs import unused_text
from .model import input_names, value_info
from .protos import numpy_type

AS_TEXT = "a table of text instead, such as by astype(str)"

LOWEST_OPSET = 11
"""The first version of the operator set whose Equal takes floating-point numbers."""


@dataclass(frozen=True)
class CategoryInputs:
    """Inputs for the columns of a table, and nodes that encode them as one matrix of numbers and codes.

    If any column is text, each column is a separate input, (N, 1), named after it; else ``X``, (N, d), is the
    input. Unknown categories become NaN.

    Parameters
    ----------
    encoding : CategoryEncoding
        The categories.
    inputs : list of ValueInfoProto
        The declared inputs.
    missing_text : dict of str to str, or None
        The text to write for a missing one, by input: '' if that is no category. None if no input is text.
    """

    encoding: CategoryEncoding
    inputs: list[ValueInfoProto]
    missing_text: dict[str, str] | None

    def opset(self, asked: int) -> int:
        """The version of the operator set: the requested one."""
        return asked

    def open(self, graph: Graph) -> str:
        """Begin `graph` with the inputs and return the name of the matrix."""
        given, categories = (
            [graph.input(one.name, numpy_type(one.type)) for one in self.inputs],
            self.encoding.categories,
        )
        if self.missing_text is None:
            columns = [graph.constant([j], "column") for j in range(len(categories))]
            given = [graph.node("Gather", given[0], column, axis=1) for column in columns]
        codes = [encode_column(entry, name, graph) for entry, name in zip(categories, given, strict=True)]
        return codes[0] if len(codes) == 1 else graph.node("Concat", *codes, axis=1)


def category_inputs(
    encoding: CategoryEncoding, names: Sequence[str], dtype: str, taken: Container[str]
) -> CategoryInputs:
    """The inputs for categories.

    Parameters
    ----------
    encoding : CategoryEncoding
        The categories.
    names : sequence of str
        The columns, if they have names; else they are x0, x1 and so on.
    dtype : {"float32", "float64"}
        Type of the inputs that are numbers.
    taken : container of str
        Names of outputs, which no input can have.
    """
    categories = encoding.categories
    columns = input_names(list(names) or [f"x{j}" for j in range(len(categories))], taken)
    entries = [*zip(columns, categories, strict=True)]
    texts = {
        name: unused_text(list(entry), "") for name, entry in entries if entry is not None and holds_text(entry)
    }
    if not texts:
        return CategoryInputs(encoding, [value_info("X", dtype, ["N", len(categories)])], None)
    inputs = [value_info(name, object if name in texts else dtype, ["N", 1]) for name in columns]
    return CategoryInputs(encoding, inputs, texts)


def holds_text(categories: Array | None) -> bool:
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
    known: dict[str, Any] = {"keys_strings": categories.tolist(), "default_float": float("nan")}
    known["values_floats"] = np.arange(len(categories), dtype=float).tolist()
    return graph.node("LabelEncoder", column, dtype=FLOAT32, domain=ML, **known)


def is_exact(dtype: np.dtype[Any], categories: Array) -> bool:
    """Whether a type holds all categories exactly."""
    keys = categories.astype(dtype)
    return len(np.unique(keys)) == len(keys) and np.array_equal(keys, categories)


def encode_number(categories: Array, column: str, graph: Graph) -> str:
    """The code of each number, NaN for an unknown one."""
    require_opset(graph, LOWEST_OPSET, "categories that are numbers")
    keys = categories.astype(graph.types[column])
    if not is_exact(keys.dtype, categories):
        wider = (
            "export with dtype='float64'" if is_exact(np.dtype(np.float64), categories) else f"fit to {AS_TEXT}"
        )
        raise ValueError(
            f"to_onnx: inputs of type {keys.dtype} cannot hold the categories {categories.tolist()} as they are; "
            f"{wider}"
        )
    gap = graph.missing(graph.dtype)
    if not len(keys):
        return graph.node("Add", graph.cast(column, graph.dtype), gap)
    same = graph.cast(
        graph.node("Equal", column, graph.constant(keys[None], "keys", keys.dtype), dtype=BOOL), graph.dtype
    )
    code = graph.node("MatMul", same, graph.constant(np.arange(len(keys), dtype=float)[:, None], "codes"))
    any_of = graph.node("MatMul", same, graph.constant(np.ones((len(keys), 1)), "ones"))
    found = graph.node("Greater", any_of, graph.constant(0.0, "nothing"), dtype=BOOL)
    return graph.node("Where", found, code, gap, dtype=graph.dtype)


def require_opset(graph: Graph, lowest: int, what: str) -> None:
    """Raise a ValueError if the operator set is older than `lowest`."""
    if graph.opset < lowest:
        raise ValueError(f"to_onnx: opset must be at least {lowest} for {what}, got {graph.opset}")
