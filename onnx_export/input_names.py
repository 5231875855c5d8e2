"""Names of a graph's inputs if each column of a table is a separate input."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from onnx import GraphProto

OFFSET = "base_margin"
"""The input of the offset of the raw scores."""
RESERVED = ("label", "probabilities", "score", "variable", "interval", "X", OFFSET)
"""Names with a fixed meaning."""


def input_names(columns: Sequence[str], taken: Container[str] = ()) -> list[str]:
    """The names of the columns; reserved, taken, repeated and empty ones get underscores."""
    made: list[str] = []
    for column in columns:
        name = column or "_"
        while name in RESERVED or name in taken or name in made or (name in columns and name != column):
            name += "_"
        made.append(name)
    return made


def rename_inputs(graph: GraphProto, names: Mapping[str, str]) -> None:
    """Rename the inputs of a graph, given new names by present ones."""
    for entry in graph.input:
        entry.name = names.get(entry.name, entry.name)
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                rename_inputs(attribute.g, names)
