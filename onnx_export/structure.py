"""Detection of files that another program has changed: names no longer say what a constant is for."""

from __future__ import annotations

import hashlib
from collections import Counter

from onnx import ModelProto


def structure_digest(model: ModelProto) -> str:
    """A digest of the operators of a graph and the names of their operands, not of names of nodes or of values.

    Files with their weights in another place, or with other weights under the same names, have the same digest.
    """
    nodes = [(node.domain, node.op_type, *node.input, "", *node.output) for node in model.graph.node]
    constants = [(entry.name, entry.data_type, *entry.dims) for entry in model.graph.initializer]
    return hashlib.sha256(repr((nodes, sorted(constants))).encode()).hexdigest()[:8]


def require_unchanged(model: ModelProto, digest: str) -> None:
    """Raise a ValueError if a graph is not as exported; `digest` is empty in files of earlier versions.

    Programs that simplify graphs merge equal constants. Earlier versions shared one only: what missing values are
    filled with.
    """
    uses = Counter(operand for node in model.graph.node for operand in node.input)
    names = [entry.name for entry in model.graph.initializer]
    shared = any(uses[name] > 1 and not name.endswith(".fill") for name in names)
    if structure_digest(model) != digest if digest else shared:
        raise ValueError(
            "it was changed after its export, as by a program that simplifies or quantizes graphs; use "
            "OnnxPredictor, or export again"
        )
