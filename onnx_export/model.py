"""From a finished graph to a model, and between models and files."""

from __future__ import annotations

import os
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import DTypeLike
from onnx import GraphProto, ModelProto, TensorProto, ValueInfoProto, helper
from onnx.checker import ValidationError
from onnx.external_data_helper import load_external_data_for_model, uses_external_data

from rffboost_ext.exporting import check_path, require_regular

from .graph import Graph
from .protos import element_type, subgraphs

IR_VERSION = 8
PRODUCER = "rffboost-ext"
DTYPES = ("float32", "float64", "mixed")
FIRST_BYTE = b"\x08"
"""Files begin with the IR version."""
LARGEST_MODEL = 2**31 - 1
"""Bytes of the largest model that Protocol Buffers can hold."""
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
    if not isinstance(model, ModelProto | str | os.PathLike | bytes):
        raise TypeError(f"model must be a path, bytes or a ModelProto, got {model!r}")
    name = name_of(model)
    proto = model if isinstance(model, ModelProto) else parse(content_of(model), name)
    load_external_data(proto, name, None if isinstance(model, ModelProto | bytes) else Path(model).parent)
    if not proto.graph.output:
        raise ValueError(f"{name} cannot be read as an ONNX model: it holds no graph")
    require_plausible_shapes(proto, name)
    return proto


def name_of(model: str | os.PathLike[str] | bytes | ModelProto) -> str:
    """The name of a model in messages."""
    return str(model) if isinstance(model, str | os.PathLike) else "the model"


def content_of(model: str | os.PathLike[str] | bytes) -> bytes:
    """The bytes of a file; of one that is no model only the first is read."""
    if isinstance(model, bytes):
        return model
    path = Path(check_path(model))
    require_regular(path)
    with path.open("rb") as file:
        first, fits = file.read(1), path.stat().st_size <= LARGEST_MODEL
        return first + file.read() if first == FIRST_BYTE and fits else b""


def parse(content: bytes, name: str) -> ModelProto:
    """The model in some bytes, or a ValueError."""
    try:
        if not content.startswith(FIRST_BYTE):
            raise DecodeError("there is no IR version")
        return onnx.load_model_from_string(content)
    except DecodeError as error:
        raise ValueError(
            f"{name} cannot be read as an ONNX model: the content is damaged or of another kind"
        ) from error


def tensors_of(graph: GraphProto) -> Iterator[TensorProto]:
    """All tensors of a graph: initializers, attributes, and those of subgraphs."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
        for inner in subgraphs(node):
            yield from tensors_of(inner)


def load_external_data(model: ModelProto, name: str, folder: Path | None) -> None:
    """Read the weights that a model keeps in files of a folder, None if it is unknown, into the model itself."""
    external = [tensor for tensor in tensors_of(model.graph) if uses_external_data(tensor)]
    if external and folder is None:
        places = {entry.value for tensor in external for entry in tensor.external_data if entry.key == "location"}
        raise ValueError(
            f"{name} has weights in the file {', '.join(sorted(places))} beside it, whose folder is unknown: pass "
            f"the path of the model, or load it by onnx.load"
        )
    try:
        if external:
            load_external_data_for_model(model, str(folder))
        for tensor in external:
            # As in a file that has the weights in it.
            tensor.ClearField("data_location")
    except (KeyError, OSError, ValidationError, ValueError) as error:
        raise ValueError(f"{name} has weights beside it that cannot be read: {error}") from error


def require_plausible_shapes(model: ModelProto, name: str) -> None:
    """Raise a ValueError if a tensor has a dimension beyond the size of the model: it cannot hold the values."""
    size = model.ByteSize()
    for tensor in tensors_of(model.graph):
        if any(not 0 <= dim <= size for dim in tensor.dims):
            raise ValueError(
                f"{name} cannot be read as an ONNX model: {tensor.name!r} has the shape {list(tensor.dims)} in a "
                f"file of {size} bytes"
            )
