"""Graphs of this package inside those of skl2onnx, in place of one of its operators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .graph import FLOAT32, FLOAT64, Graph


def graph_at(scope: Any, operator: Any, container: Any) -> tuple[Graph, str]:
    """A graph with names of its own in the type of an operator of skl2onnx, and the input of the operator.

    The type is that of the input or, where the input is text, of the output.
    """
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, StringTensorType, guess_numpy_type

    entry = operator.inputs[0]
    is_text = isinstance(entry.type, StringTensorType)
    kind = (operator.outputs[0] if is_text else entry).type
    dtype = FLOAT64 if isinstance(kind, DoubleTensorType) else FLOAT32
    graph = Graph(dtype, container.target_opset, prefix=f"{scope.get_unique_variable_name('rffboost')}.")
    if is_text:
        return graph, graph.input(entry.full_name, object)
    is_real = isinstance(entry.type, DoubleTensorType | FloatTensorType)
    x = graph.input(entry.full_name, dtype if is_real else guess_numpy_type(entry.type))
    return graph, graph.cast(x, dtype)


def hand_over(graph: Graph, values: Iterable[str], operator: Any, container: Any) -> None:
    """Hand a graph over to skl2onnx, with `values` as the outputs of the operator."""
    for value, output in zip(values, operator.outputs, strict=False):
        graph.finish(value, output.full_name, graph.types[value])
    for node in graph.nodes:
        node.name = node.output[0]
    container.nodes.extend(graph.nodes)
    container.initializers.extend(graph.constants.values())
    container.node_domain_version_pair_sets.update((domain, graph.opsets[domain]) for domain in graph.domains)
