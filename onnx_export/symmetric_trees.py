"""Symmetric trees as comparisons, a weighted sum of bits and a look-up of leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rffboost_ext.exporting import Array
from rffboost_ext.terms import SymmetricTrees

from .category_sets import without_category_sets
from .conversion import convert_term, rounding_error, sum_of, where_missing
from .graph import BOOL, FLOAT32, FLOAT64, INT64, ConversionError, Graph
from .tree_lookups import TREES_AT_ONCE, sum_over_trees
from .trees import rounded_up


@convert_term.register
def _(term: SymmetricTrees, graph: Graph, x: str) -> str:
    if graph.tree_operators:
        if term.slope is not None:
            raise ConversionError(
                "tree_operators must be None or False for symmetric trees with linear leaves, which the tree "
                "operator does not have, got True; leaf='constant' of SymmetricTree has none"
            )
        if term.other is not None:
            raise ConversionError(
                "tree_operators must be None or False for symmetric trees with crosses, which need double "
                "precision, got True; crosses=0 of SymmetricTree has none"
            )
        return convert_term(term.as_trees(), graph, x)
    graph.n_trees += term.n_trees
    # Arrays without entries confuse runtimes.
    term, x = without_crosses(term.deepened(max(1, term.depth)), graph, x)
    term, x = without_category_sets(term, graph, x)
    columns = graph.node("Transpose", x, perm=[1, 0])
    groups = [slice(start, start + TREES_AT_ONCE) for start in range(0, term.n_trees, TREES_AT_ONCE)]
    return sum_of(graph, (add_trees(term.trees(some), graph, columns, i) for i, some in enumerate(groups)))


def without_crosses(term: SymmetricTrees, graph: Graph, x: str) -> tuple[SymmetricTrees, str]:
    """Trees whose levels test one column each, and the features (n, d) behind a column for each cross.

    They are in double precision, as in Python: a rounded difference may be on the other side of a threshold.
    """
    if term.other is None:
        return term, x
    numbered, crosses = term.split_columns(0)
    is_product = crosses.table[:, 2]
    x, parts = graph.cast(x, FLOAT64), []
    for operation, is_one in (("Sub", is_product == 0), ("Mul", is_product == 1)):
        if is_one.any():
            sides = [graph.constant(side, operation.lower()) for side in crosses.table[is_one, :2].T]
            parts.append(graph.node(operation, *(graph.node("Gather", x, side, axis=1) for side in sides)))
    feature = np.where(term.other < 0, len(crosses) + term.feature, numbered.feature)
    return replace(numbered, feature=feature), graph.node("Concat", *parts, x, axis=1)


def add_trees(term: SymmetricTrees, graph: Graph, columns: str, i: int) -> str:
    """The sum of some trees, (n, C), from features (d, n); their constants have the number i.

    Rows are the last axis, so that comparisons and sums run along them.
    """
    (n_trees, depth), n_outputs = term.feature.shape, term.n_outputs
    term, rest = with_rounded_centers(term, graph.dtype)
    picked = graph.node("Gather", columns, graph.constant(term.feature.ravel(), f"feature{i}"), axis=0)
    by_tree = graph.constant([n_trees, depth, -1], "by_tree")
    bits = graph.node("Reshape", graph.cast(right_of(term, graph, picked, i), FLOAT32), by_tree)
    leaf = graph.node("MatMul", graph.constant(np.exp2(np.arange(depth))[None], "power", FLOAT32), bits)
    leaf = graph.node("Reshape", graph.cast(leaf, INT64), graph.constant([n_trees, -1], "one_leaf"))
    leaf = graph.node("Add", leaf, graph.constant(2**depth * np.arange(n_trees)[:, None], "first_leaf"))
    out = graph.node("Gather", graph.constant(term.value.reshape(-1, n_outputs), f"value{i}"), leaf, axis=0)
    if term.slope is not None:
        slope = graph.constant(term.slope.reshape(-1, n_outputs, depth), f"slope{i}")
        factors = graph.node("Reshape", centered(term, graph, picked, rest, i), by_tree)
        factors = graph.node("Transpose", factors, perm=[0, 2, 1])
        factors = graph.node("Reshape", factors, graph.constant([n_trees, -1, 1, depth], "by_row"))
        products = graph.node("Mul", graph.node("Gather", slope, leaf, axis=0), factors)
        linear = graph.node("MatMul", products, graph.constant(np.ones((depth, 1)), "ones"))
        by_output = graph.constant([n_trees, -1, n_outputs, 1], "by_output")
        out = graph.node("Add", graph.node("Reshape", out, by_output), linear)
    return sum_over_trees(graph, out, n_trees, n_outputs)


def right_of(term: SymmetricTrees, graph: Graph, picked: str, i: int) -> str:
    """Whether the value of each level goes right, (T D, n)."""
    threshold = term.threshold.reshape(-1, 1)
    if graph.types[picked] == FLOAT32:
        threshold = rounded_up(threshold)
    # GreaterOrEqual is more recent than the oldest operator set, and Greater is true of NaN in OpenVINO.
    below = np.nextafter(threshold, -np.inf, dtype=threshold.dtype)
    right = graph.node("Less", graph.constant(below, f"below{i}", graph.types[picked]), picked)
    if not term.missing_right.any():
        return right
    missing = graph.node("IsNaN", picked)
    goes_right = graph.cast(graph.constant(term.missing_right.reshape(-1, 1), f"missing_right{i}"), BOOL)
    return graph.node("Or", right, graph.node("And", missing, goes_right))


def with_rounded_centers(term: SymmetricTrees, dtype: np.dtype[Any]) -> tuple[SymmetricTrees, Array]:
    """Trees with centers in the type of a graph, and what missing values are less these, (T, D).

    Large features less their center are then as precise as the features.
    """
    if term.slope is None or term.center is None:
        return term, np.zeros(0)
    center = term.center.astype(dtype).astype(np.float64)
    rest = term.center - center
    shift = np.einsum("tkcl,tl->tkc", term.slope, rest)
    return replace(term, center=center, value=term.value - shift), rest


def centered(term: SymmetricTrees, graph: Graph, picked: str, rest: Array, i: int) -> str:
    """The values of all levels, (T D, n), in the range of training and less their center; `rest` where missing."""
    low, high, center = (part.reshape(-1, 1) for part in term.linear_parts[1:])
    x = graph.node("Sub", picked, graph.constant(center, f"center{i}", graph.types[picked]))
    x = graph.cast(x, graph.dtype)
    x = where_missing(graph, x, graph.constant(rest.reshape(-1, 1), f"rest{i}"))
    x = graph.node("Max", x, graph.constant(low - center, f"low{i}"))
    return graph.node("Min", x, graph.constant(high - center, f"high{i}"))


@rounding_error.register
def _(term: SymmetricTrees, X: Array, eps: float) -> float:
    # Independent rounding errors of T partial sums, each bounded by the sum of the sizes of its summands.
    sizes = replace(term, value=np.abs(term.value), slope=None)(X)
    if term.slope is not None:
        # Features less their rounded center.
        low, high, center = term.linear_parts[1:]
        reach = high - low + eps * np.abs(center)
        sizes += np.abs(term.slope * reach[:, None, None, :]).sum(axis=3).max(axis=1).sum(axis=0)
    return eps * float(np.sqrt(term.n_trees * max(1, term.depth))) * float(sizes.max(initial=0.0))
