"""Weights that a model keeps in files beside it, and the sizes that its tensors declare."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from onnx import GraphProto, ModelProto, TensorProto
from onnx.checker import ValidationError
from onnx.external_data_helper import load_external_data_for_model, uses_external_data

LARGEST_MODEL = 2**31 - 1
"""Bytes of the largest model that Protocol Buffers can hold."""


def tensors_of(graph: GraphProto) -> Iterator[TensorProto]:
    """All tensors of a graph: initializers, attributes, and those of subgraphs."""
    yield from graph.initializer
    for node in graph.node:
        for attribute in node.attribute:
            yield from (attribute.t, *attribute.tensors)
            for inner in (attribute.g, *attribute.graphs):
                yield from tensors_of(inner)


def load_external_data(model: ModelProto, name: str, folder: Path | None) -> None:
    """Read the weights that a model keeps in files of a folder into the model itself.

    Parameters
    ----------
    model : ModelProto
        It is changed if it keeps weights elsewhere.
    name : str
        Name of the model, for messages.
    folder : Path or None
        Folder of the model; None if it is unknown.

    Raises
    ------
    ValueError
        If the folder is unknown, or a file is missing or outside the folder.
    """
    external = [tensor for tensor in tensors_of(model.graph) if uses_external_data(tensor)]
    if not external:
        return
    if folder is None:
        places = {entry.value for tensor in external for entry in tensor.external_data if entry.key == "location"}
        raise ValueError(
            f"{name} has weights in the file {', '.join(sorted(places))} beside it, whose folder is unknown: pass "
            f"the path of the model, or load it by onnx.load"
        )
    try:
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
