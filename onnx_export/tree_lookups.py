"""Trees by tensor operators: all trees go down a level at once, by look-ups of the nodes where their rows are."""

from __future__ import annotations

import numpy as np

from rffboost_ext import Trees
from rffboost_ext.exporting import Array

from .graph import BOOL, INT64, Graph, require_opset

TREES_AT_ONCE = 32
"""Trees that are computed at once: arrays of the graph have as many entries per row."""


def add_tree_lookups(term: Trees, graph: Graph, features: str, threshold: Array) -> str:
    """The sum of trees without category sets, (n, C), with features and thresholds of one type."""
    # The first one with GatherElements.
    require_opset(graph, 11, "tree_operators=False")
    leaf, own = term.left < 0, np.arange(len(term.left))
    # A leaf is its own child, so that shallow trees wait for deeper ones.
    left, right = (np.where(leaf, own, child) for child in (term.left, term.right))
    tables = {
        "feature": graph.constant(np.where(leaf, 0, term.feature), "feature"),
        "threshold": graph.constant(np.where(leaf, 0.0, threshold), "threshold", threshold.dtype),
        "left": graph.constant(left, "left"),
        "right": graph.constant(right, "right"),
        "value": graph.constant(term.value, "value"),
    }
    if term.missing_left.any():
        tables["missing_left"] = graph.cast(graph.constant(term.missing_left, "missing_left"), BOOL)
    columns = graph.node("Transpose", features, perm=[1, 0])
    first = graph.node("Gather", columns, graph.constant([0], "first"), axis=0)
    zero = graph.cast(graph.node("Less", first, first), INT64)
    total = ""
    for i, start in enumerate(range(0, len(term.roots), TREES_AT_ONCE)):
        some = slice(start, start + TREES_AT_ONCE)
        roots = term.roots[some]
        node = graph.node("Add", zero, graph.constant(roots[:, None], f"roots{i}"))
        for _ in range(depth_below(term, roots)):
            node = children(graph, columns, tables, node)
        leaves = graph.node("Gather", tables["value"], node, axis=0)
        if term.output is None:
            out = sum_over_trees(graph, leaves, len(roots), term.n_outputs)
        else:
            leaves = graph.node("Reshape", leaves, graph.constant([len(roots), -1], "by_tree"))
            one_hot = graph.constant(np.eye(term.n_outputs)[:, term.output[some]], f"output{i}")
            out = graph.node("Transpose", graph.node("MatMul", one_hot, leaves), perm=[1, 0])
        total = graph.node("Add", total, out) if total else out
    return total


def depth_below(term: Trees, nodes: Array) -> int:
    """Levels of splits below some nodes."""
    inner = nodes[term.left[nodes] >= 0]
    if not len(inner):
        return 0
    return 1 + depth_below(term, np.concatenate([term.left[inner], term.right[inner]]))


def children(graph: Graph, columns: str, tables: dict[str, str], node: str) -> str:
    """The nodes, (T, n), to which rows go from `node` (T, n), by features (d, n)."""
    at = {name: graph.node("Gather", table, node, axis=0) for name, table in tables.items() if name != "value"}
    value = graph.node("GatherElements", columns, at["feature"], axis=0)
    goes_left = graph.node("Less", value, at["threshold"])
    if "missing_left" in at:
        missing = graph.node("IsNaN", value)
        goes_left = graph.node("Or", goes_left, graph.node("And", missing, at["missing_left"]))
    return graph.node("Where", goes_left, at["left"], at["right"])


def sum_over_trees(graph: Graph, values: str, n_trees: int, n_outputs: int) -> str:
    """Sums over trees of values (T, n, C): (n, C).

    A product of matrices: sums over an axis are written in another way before operator set 13.
    """
    by_tree = graph.node("Reshape", values, graph.constant([n_trees, -1], "by_tree"))
    sums = graph.node("MatMul", graph.constant(np.ones((1, n_trees)), "ones"), by_tree)
    return graph.node("Reshape", sums, graph.constant([-1, n_outputs], "outputs"))
