"""ONNX's records of types, arrays and nodes: types of values, tensors, and the nodes of nested graphs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from onnx import GraphProto, NodeProto, TensorProto, TypeProto, defs, helper, numpy_helper
from onnx.shape_inference import infer_node_outputs

from rffboost_ext.exporting import Array


@cache
def element_type(dtype: np.dtype[Any]) -> int:
    """ONNX's number of a type; text is any dtype of kind U or O."""
    return TensorProto.STRING if dtype.kind in "UO" else helper.np_dtype_to_tensor_dtype(dtype)


@cache
def declared_type(dtype: np.dtype[Any]) -> TypeProto:
    """The declaration of a tensor of a type and of any shape."""
    return helper.make_tensor_type_proto(element_type(dtype), None)


opset_import = cache(helper.make_opsetid)


def numpy_type(kind: TypeProto) -> np.dtype[Any]:
    """The NumPy type of a declared tensor; object for text."""
    return helper.tensor_dtype_to_np_dtype(kind.tensor_type.elem_type)


def output_types(
    node: NodeProto, types: Mapping[str, np.dtype[Any]], opsets: Mapping[str, int]
) -> dict[str, np.dtype[Any]]:
    """The types of a node's outputs, as far as ONNX knows them, from those of its inputs.

    An operator that does not take inputs of such types raises an ``onnx.checker.ValidationError``.
    """
    version = opsets[node.domain]
    if not defs.has(node.op_type, version, node.domain):
        return {}
    schema = defs.get_schema(node.op_type, version, node.domain)
    imports = [opset_import(*entry) for entry in opsets.items()]
    inputs = {name: declared_type(types[name]) for name in node.input if name}
    outputs = infer_node_outputs(schema, node, inputs, opset_imports=imports)
    return {name: numpy_type(kind) for name, kind in outputs.items() if kind.tensor_type.elem_type}


def tensor(array: Array, name: str) -> TensorProto:
    """An array, text included, as ONNX stores it."""
    if array.dtype.kind in "UO":
        text = [str(value).encode() for value in array.ravel()]
        return TensorProto(name=name, data_type=TensorProto.STRING, dims=array.shape, string_data=text)
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)


def all_nodes(nodes: Iterable[NodeProto]) -> Iterator[NodeProto]:
    """Nodes and those of the graphs that are their attributes, such as bodies of loops."""
    for node in nodes:
        yield node
        for graph in subgraphs(node):
            yield from all_nodes(graph.node)


def subgraphs(node: NodeProto) -> Iterator[GraphProto]:
    """The graphs that are attributes of a node."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs
