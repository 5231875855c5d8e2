"""Names of a graph's inputs, where each column of a table is one of its own."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from onnx import GraphProto

RESERVED = ("label", "probabilities", "score", "variable", "interval", "X")
"""Names that have a meaning of their own."""


def input_names(columns: Sequence[str], taken: Container[str] = ()) -> list[str]:
    """The names of the columns; those of outputs, those taken, and one that is empty get an underscore."""
    made: list[str] = []
    for column in columns:
        name = column or "_"
        while name in RESERVED or name in taken or name in made or (name in columns and name != column):
            name += "_"
        made.append(name)
    return made


def rename_inputs(graph: GraphProto, names: Mapping[str, str]) -> None:
    """Give the inputs of a graph other names, by their present ones."""
    for entry in graph.input:
        entry.name = names.get(entry.name, entry.name)
    for node in graph.node:
        node.input[:] = [names.get(name, name) for name in node.input]
        for attribute in node.attribute:
            if attribute.HasField("g"):
                rename_inputs(attribute.g, names)
