"""From a finished graph to a model, and between models and files."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import DTypeLike
from onnx import ModelProto, ValueInfoProto, helper

from rffboost_ext.exporting import check_path, require_regular, write_atomically

from .element_types import element_type
from .external_data import LARGEST_MODEL, load_external_data, require_plausible_shapes
from .graph import Graph

IR_VERSION = 8
PRODUCER = "rffboost-ext"
FIRST_BYTE = b"\x08"
"""Files begin with the IR version."""


def value_info(name: str, dtype: DTypeLike, shape: Sequence[Any] | None) -> ValueInfoProto:
    """The declaration of an input or output; text is any dtype of kind U or O."""
    return helper.make_tensor_value_info(name, element_type(np.dtype(dtype)), shape)


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
    """A model from a path, bytes or itself; weights in files beside the path become part of it.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    IsADirectoryError
        If it is a folder.
    ValueError
        If the path is empty or of a device, the content is not an ONNX model, or weights beside it cannot be read.
    TypeError
        If `model` is none of these.
    """
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


def check_target_path(path: str | os.PathLike[str]) -> Path:
    """`path`, checked to name a file in an existing folder.

    Raises
    ------
    TypeError, ValueError
        If it is not a path, or empty, or that of a device, pipe or socket.
    FileNotFoundError
        If its folder does not exist.
    IsADirectoryError
        If it is a folder itself.
    """
    target = Path(check_path(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "the path to write to is a folder", str(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, "there is no folder to write to", str(path))
    require_regular(target)
    return target


def save(model: ModelProto, path: str | os.PathLike[str]) -> None:
    """Write a model; the file is created or replaced atomically.

    Raises
    ------
    OSError
        If it cannot be written; the error names `path`.
    """
    target, content = check_target_path(path), model.SerializeToString()
    try:
        write_atomically(target, content)
    except OSError as error:
        # Name the path, not the temporary file, which the caller does not know.
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
