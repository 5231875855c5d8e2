"""Models of other converters as parts of a graph: operator sets, and names that do not collide."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, ValueInfoProto, checker, helper
from onnx.checker import ValidationError
from onnx.shape_inference import infer_shapes

from .protos import all_nodes, numpy_type, subgraphs


def declare_opsets(model: ModelProto, opsets: Mapping[str, int]) -> None:
    """Declare a model to be of some versions of operator sets, by domain; other domains are left as they are.

    skl2onnx declares the oldest operator set whose operators equal the requested ones.
    """
    declared = {entry.domain: entry.version for entry in model.opset_import} | {**opsets}
    del model.opset_import[:]
    model.opset_import.extend(helper.make_opsetid(*entry) for entry in declared.items())


def valid_copy(model: ModelProto, opsets: Mapping[str, int]) -> ModelProto:
    """A copy of a model in some versions of operator sets; a ValueError if it is not valid in these."""
    copied = ModelProto()
    copied.CopyFrom(model)
    declare_opsets(copied, opsets)
    try:
        checker.check_model(copied)
    except ValidationError as error:
        raise ValueError(
            f"embed: the model is not valid in {dict(opsets)}; convert it with target_opset=graph.opsets: {error}"
        ) from error
    return copied


def free_inputs(model: ModelProto, names: Sequence[str]) -> list[ValueInfoProto]:
    """The inputs of a model that have no default; a ValueError unless there are as many as `names`."""
    weights = {tensor.name for tensor in model.graph.initializer}
    free = [entry for entry in model.graph.input if entry.name not in weights]
    if len(free) != len(names):
        raise ValueError(f"embed: the model has the inputs {[one.name for one in free]}, got {list(names)}")
    return free


def output_named(model: ModelProto, name: str) -> tuple[str, np.dtype[Any]]:
    """Name and type of the output of a model that is named, or of its only one."""
    outputs = {entry.name: entry.type for entry in model.graph.output}
    if name not in outputs and (name or len(outputs) > 1):
        raise ValueError(f"embed: output must be one of those of the model, {list(outputs)}, got {name!r}")
    name = name or next(iter(outputs))
    # skl2onnx declares some of trees in float32 as float64.
    blank = ModelProto()
    blank.CopyFrom(model)
    for entry in blank.graph.output:
        entry.ClearField("type")
    inferred = {entry.name: entry.type for entry in infer_shapes(blank).graph.output}[name]
    return name, numpy_type(inferred if inferred.tensor_type.elem_type else outputs[name])


def rename_values(graph: GraphProto, new_name: Callable[[str], str]) -> None:
    """Rename all values of a graph and of the graphs in it; an empty name, of an absent input, stays."""
    for entry in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        entry.name = new_name(entry.name)
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [name and new_name(name) for name in names]
        for inner in subgraphs(node):
            rename_values(inner, new_name)


def rename_functions(model: ModelProto, prefix: str) -> None:
    """Put a prefix before the names of a model's functions, where they are defined and called."""
    defined = {(function.domain, function.name) for function in model.functions}
    for nodes in (model.graph.node, *(function.node for function in model.functions)):
        for node in all_nodes(nodes):
            if (node.domain, node.op_type) in defined:
                node.op_type = prefix + node.op_type
    for function in model.functions:
        function.name = prefix + function.name
