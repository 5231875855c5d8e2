"""From a finished graph to a model, and between models and files."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import DTypeLike
from onnx import ModelProto, ValueInfoProto, helper
from onnx.checker import ValidationError

from rffboost_ext.exporting import check_path, require_regular

from .graph import Graph
from .protos import element_type

IR_VERSION = 8
PRODUCER = "rffboost-ext"
DTYPES = ("float32", "float64", "mixed")
OFFSET = "base_margin"
"""The input of the offset of the raw scores."""
SURVIVAL = "survival"
"""The output with probabilities that the event comes later than given times."""
RESERVED = ("label", "probabilities", "score", "variable", "interval", "X", OFFSET)
"""Names with a fixed meaning."""


def value_info(name: str, dtype: DTypeLike, shape: Sequence[Any] | None) -> ValueInfoProto:
    """The declaration of an input or output; text is any dtype of kind U or O."""
    return helper.make_tensor_value_info(name, element_type(np.dtype(dtype)), shape)


def outer_dtype(dtype: str) -> str:
    """The type of the inputs and outputs of a file whose numbers are "float32", "float64" or "mixed"."""
    return "float64" if dtype == "float64" else "float32"


def input_names(columns: Sequence[str], taken: Container[str]) -> list[str]:
    """The names of the columns; reserved, taken, repeated and empty ones get underscores."""
    names: list[str] = []
    for column in columns:
        name = column or "_"
        while name in RESERVED or name in taken or name in names or (name in columns and name != column):
            name += "_"
        names.append(name)
    return names


def assemble(graph: Graph, inputs: Sequence[ValueInfoProto], outputs: Sequence[ValueInfoProto]) -> ModelProto:
    """The model of a finished graph, in the lowest IR version that supports it, at least 8."""
    # Tools tell nodes apart by name. Numbers keep files small.
    for number, node in enumerate(graph.nodes):
        node.name = str(number)
    imports = [helper.make_opsetid(*entry) for entry in graph.opsets.items() if entry[0] in graph.domains]
    proto = helper.make_graph(graph.nodes, "rffboost", inputs, outputs, list(graph.constants.values()))
    # An opset newer than the default needs the IR version that introduced it.
    ir_version = max(IR_VERSION, helper.find_min_ir_version_for(imports[:1]))
    made = helper.make_model(proto, opset_imports=imports, ir_version=ir_version, producer_name=PRODUCER)
    made.functions.extend(graph.functions)
    return made


def load(model: str | os.PathLike[str] | bytes | ModelProto) -> ModelProto:
    """A model from a path, bytes or itself; weights in files next to the path become part of it."""
    if isinstance(model, ModelProto):
        return model
    if not isinstance(model, str | os.PathLike | bytes):
        raise TypeError(f"model must be a path, bytes or a ModelProto, got {model!r}")
    if not isinstance(model, bytes):
        require_regular(check_path(model))
    try:
        return onnx.load_model_from_string(model) if isinstance(model, bytes) else onnx.load(model, "protobuf")
    except (DecodeError, ValidationError, ValueError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(f"{name_of(model)} cannot be read as an ONNX model: {reason}") from error


def name_of(model: str | os.PathLike[str] | bytes | ModelProto) -> str:
    """The name of a model in messages."""
    return str(model) if isinstance(model, str | os.PathLike) else "the model"
