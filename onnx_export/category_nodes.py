"""Category encoding as nodes, with the same interface as ``PreprocessingSteps``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ValueInfoProto

from rffboost_ext.exporting import Array, CategoryEncoding

from .graph import BOOL, FLOAT32, FLOAT64, ML, Graph
from .input_names import input_names
from .inputs import unused_text
from .model import value_info

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
    names : tuple of str
        The columns, if they have names.
    dtype : str
        "float32", "float64" or "mixed".
    taken : tuple of str
        Names of outputs, which no input can have.
    """

    encoding: CategoryEncoding
    names: tuple[str, ...]
    dtype: str
    taken: tuple[str, ...] = ()

    @property
    def has_text(self) -> bool:
        """Whether a column holds text."""
        return any(holds_text(entry) for entry in self.encoding.categories)

    @property
    def inputs(self) -> list[ValueInfoProto]:
        """The declared inputs."""
        outer = FLOAT64 if self.dtype == "float64" else FLOAT32
        if not self.has_text:
            return [value_info("X", outer, ["N", len(self.encoding.categories)])]
        entries = zip(self._names(), self.encoding.categories, strict=True)
        return [
            value_info(name, np.dtype(object) if holds_text(entry) else outer, ["N", 1]) for name, entry in entries
        ]

    @property
    def missing_text(self) -> dict[str, str] | None:
        """The text to write for a missing one, by input: '' if that is no category. None if no input is text."""
        entries = zip(self._names(), self.encoding.categories, strict=True)
        known = {name: list(entry) for name, entry in entries if entry is not None and holds_text(entry)}
        return {name: unused_text(texts, "") for name, texts in known.items()} or None

    def opset(self, asked: int) -> int:
        """The version of the operator set: the requested one."""
        return asked

    def open(self, graph: Graph) -> str:
        """Begin `graph` with the inputs and return the name of the matrix."""
        outer = FLOAT64 if self.dtype == "float64" else FLOAT32
        categories = self.encoding.categories
        if self.has_text:
            given = [
                graph.input(name, np.dtype(object) if holds_text(entry) else outer)
                for name, entry in zip(self._names(), categories, strict=True)
            ]
        else:
            x = graph.input("X", outer)
            given = [
                graph.node("Gather", x, graph.constant([j], "column"), axis=1) for j in range(len(categories))
            ]
        columns = [encode_column(entry, name, graph) for entry, name in zip(categories, given, strict=True)]
        return columns[0] if len(columns) == 1 else graph.node("Concat", *columns, axis=1)

    def _names(self) -> list[str]:
        """Names of the inputs: those of the columns, else x0, x1 and so on."""
        columns = list(self.names) or [f"x{j}" for j in range(len(self.encoding.categories))]
        return input_names(columns, self.taken)


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
