"""Detection of steps that skl2onnx converts into float32 operators although float64 was requested."""

from __future__ import annotations

from onnx import ModelProto, NodeProto, TensorProto, shape_inference

CODES = ("OneHotEncoder", "LabelEncoder")
"""Operators whose results are small integers, exact in float32."""
MOVES = ("ArrayFeatureExtractor", "Cast", "Concat", "Flatten", "Gather", "Identity", "Reshape", "Transpose")
"""Operators that pass values on unchanged."""
ALWAYS_SINGLE = ("FeatureVectorizer", "Imputer", "Normalizer", "Scaler")
"""Operators whose parameters or results are float32 whatever their input is."""


def single_precision(model: ModelProto) -> NodeProto | None:
    """The first node of a model that rounds real numbers to float32, if there is one.

    Codes of categories are exact in float32; they are followed through operators that pass values on.

    Parameters
    ----------
    model : ModelProto
        A valid model whose real inputs are float64.
    """
    graph = shape_inference.infer_shapes(model).graph
    single = {
        value.name
        for value in (*graph.value_info, *graph.output)
        if value.type.tensor_type.elem_type == TensorProto.FLOAT
    }
    constants = {entry.name for entry in graph.initializer}
    codes: set[str] = set()
    for node in graph.node:
        if is_code(node) or (node.op_type in MOVES and codes.issuperset(set(node.input) - constants)):
            codes.update(node.output)
        elif node.op_type in ALWAYS_SINGLE or single.intersection(node.output):
            return node
    return None


def is_code(node: NodeProto) -> bool:
    """Whether a node outputs categories as small integers."""
    return node.op_type in CODES and not any(entry.name == "values_floats" for entry in node.attribute)
