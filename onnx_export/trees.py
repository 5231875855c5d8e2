"""Trees as one TreeEnsembleRegressor, exact in float64 too, or as look-ups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rffboost_ext import Term, Trees
from rffboost_ext.exporting import Array

from .category_sets import without_category_sets
from .conversion import convert_term, rounding_error, rows_of
from .graph import FLOAT32, FLOAT64, ML, Graph
from .protos import tensor
from .scaling import Scaling, behind_scaling, with_lower_thresholds
from .thresholds import with_thresholds_before
from .tree_lookups import add_tree_lookups

MANTISSA = 24
"""Integers up to 2 to this power are exact in float32."""
BITS = 60
"""Bits below the largest leaf value that float64 graphs keep: float64's 53 and some for the sum."""
MARGIN = np.float32(8)
"""Spacings of float32 between a value of training rows and the threshold below it."""


@convert_term.register
def _(term: Trees, graph: Graph, x: str) -> str:
    term, x = without_category_sets(term, graph, x)
    graph.n_trees += len(term.roots)
    nodes, tree = reachable_nodes(term)
    grown = np.bincount(tree, minlength=len(term.roots)) > 1
    # Some runtimes reject a tree of one leaf: its value is added to the leaves of another tree.
    constant = single_leaves(term, ~grown)
    if not grown.any():
        return rows_of(graph, x, constant)
    if graph.tree_operators is False:
        return add_tree_lookups(term, graph, *comparison_operands(term, graph, x))
    kept = grown[tree]
    nodes, tree = nodes[kept], np.unique(tree[kept], return_inverse=True)[1]
    leaf, columns = term.left[nodes] < 0, output_columns(term)[grown]
    outputs, first = np.unique(columns, return_index=True)
    added = np.zeros(columns.shape)
    added.flat[first], constant[outputs] = constant[outputs], 0.0
    values, units = (term.value[nodes[leaf]] + added[tree[leaf]])[:, :, None], np.ones(1)
    if graph.dtype == FLOAT64:
        values, units = split_into_exact_sums(values[:, :, 0], int(np.bincount(columns.ravel()).max()))
    targets = len(units) * columns[tree[leaf], :, None] + np.arange(len(units))
    features, threshold = comparison_operands(term, graph, x)
    attributes = routing_attributes(term, nodes, tree) | leaf_attributes(values, targets, tree, leaf)
    attributes["n_targets"] = term.n_outputs * len(units)
    splits = np.where(leaf, 0.0, threshold[nodes]).astype(threshold.dtype)
    if splits.dtype == FLOAT64:
        # Beside thresholds in float64 the operator takes leaf values in float64 only.
        weights = np.array(attributes.pop("target_weights"), dtype=np.float64)
        attributes["nodes_values_as_tensor"] = tensor(splits, "nodes_values_as_tensor")
        attributes["target_weights_as_tensor"] = tensor(weights, "target_weights_as_tensor")
    else:
        attributes["nodes_values"] = splits.tolist()
    name = f"{graph.prefix}trees"
    out = graph.node("TreeEnsembleRegressor", features, dtype=FLOAT32, domain=ML, name=name, **attributes)
    if graph.dtype == FLOAT64:
        out = combine_slices(graph, graph.cast(out, FLOAT64), units, term.n_outputs)
    # Outputs without a grown tree.
    return graph.node("Add", out, graph.constant(constant, "constant")) if constant.any() else out


def output_columns(term: Trees) -> Array:
    """The output of each column of the values of each tree: (T, 1) or (T, C)."""
    if term.output is not None:
        return term.output[:, None]
    return np.broadcast_to(np.arange(term.n_outputs), (len(term.roots), term.n_outputs))


def single_leaves(term: Trees, is_leaf: Array) -> Array:
    """The sum of the values of those trees that are one leaf, (C,)."""
    value = term.value[term.roots[is_leaf]]
    if term.output is None:
        return np.asarray(value.sum(axis=0))
    return np.bincount(term.output[is_leaf], value[:, 0], minlength=term.n_outputs)


def combine_slices(graph: Graph, slices: str, units: Array, n_outputs: int) -> str:
    """The sum of the K slices of each output, (n, C K), times their units (K,): (n, C)."""
    if n_outputs > 1:
        slices = graph.node("Reshape", slices, graph.constant([-1, len(units)], "slices"))
    out = graph.node("MatMul", slices, graph.constant(units[:, None], "scale"))
    return graph.node("Reshape", out, graph.constant([-1, n_outputs], "outputs")) if n_outputs > 1 else out


def comparison_operands(term: Trees, graph: Graph, x: str) -> tuple[str, Array]:
    """Features and thresholds in the precision in which the graph is to compare them."""
    if term.threshold.dtype == FLOAT32 or graph.types[x] == FLOAT32:
        # Trees in float32 round their features first. For float32 features a float64 threshold is equivalent to
        # the smallest float32 not below it.
        return graph.cast(x, FLOAT32), rounded_up(term.threshold)
    return x, term.threshold


def rounded_up(threshold: Array) -> Array:
    """The smallest float32 numbers not below `threshold`."""
    near = threshold.astype(np.float32)
    return np.where(near < threshold, np.nextafter(near, np.float32(np.inf)), near).astype(np.float32)


def reachable_nodes(term: Trees) -> tuple[Array, Array]:
    """Nodes reachable from a root, tree by tree and each root first, and the tree of each."""
    nodes, tree = [term.roots], [np.arange(len(term.roots))]
    while len(nodes[-1]):
        inner = term.left[nodes[-1]] >= 0
        at, of = nodes[-1][inner], tree[-1][inner]
        nodes.append(np.concatenate([term.left[at], term.right[at]]).astype(np.int64))
        tree.append(np.concatenate([of, of]))
    all_nodes, all_trees = np.concatenate(nodes), np.concatenate(tree)
    order = np.argsort(all_trees, kind="stable")
    return all_nodes[order], all_trees[order]


def node_numbers(tree: Array) -> Array:
    """Number of each node within its tree, given the tree of each node, sorted."""
    starts = np.flatnonzero(np.diff(tree, prepend=-1))
    return np.asarray(np.arange(len(tree)) - starts[tree])


def routing_attributes(term: Trees, nodes: Array, tree: Array) -> dict[str, Any]:
    """Attributes that route rows: left, which is 'true', where ``x < threshold``."""
    number = node_numbers(tree)
    inner = term.left[nodes] >= 0
    local = np.zeros(len(term.left), dtype=np.int64)
    local[nodes] = number
    children = {
        "nodes_truenodeids": np.where(inner, local[term.left[nodes]], 0),
        "nodes_falsenodeids": np.where(inner, local[term.right[nodes]], 0),
    }
    arrays = children | {
        "nodes_treeids": tree,
        "nodes_nodeids": number,
        "nodes_featureids": np.where(inner, term.feature[nodes], 0),
        "nodes_missing_value_tracks_true": (inner & term.missing_left[nodes]).astype(np.int64),
    }
    modes = np.where(inner, "BRANCH_LT", "LEAF")
    return {"nodes_modes": modes.tolist()} | {name: array.tolist() for name, array in arrays.items()}


def leaf_attributes(values: Array, targets: Array, tree: Array, leaf: Array) -> dict[str, Any]:
    """Attributes with the leaf values: `values` and their `targets` have one row per leaf."""
    values, targets = (array.reshape(len(array), -1) for array in (values, targets))
    needed = values != 0.0
    # A leaf without any entry is an error in some runtimes.
    needed[~needed.any(axis=1), 0] = True
    row, column = np.nonzero(needed)
    return {
        "target_treeids": tree[leaf][row].tolist(),
        "target_nodeids": node_numbers(tree)[leaf][row].tolist(),
        "target_ids": targets[row, column].tolist(),
        "target_weights": values[row, column].tolist(),
    }


def split_into_exact_sums(values: Array, n_trees: int) -> tuple[Array, Array]:
    """Split float64 leaf values so that float32 sums of `n_trees` of them are exact.

    The operator sums in float32. Leaf values are therefore split into slices of few bits, each an integer times a
    power of two. Sums of the integers of one slice over all trees stay below 2^24 and are exact in any order. The
    sums of the slices are combined in float64, as in error-free matrix products (Ozaki et al., 2012). They are
    integers (leaves, V, K) with a unit each, (K,): ``integers @ units`` are the leaf values (leaves, V).
    """
    bits = max(1, MANTISSA - int(np.ceil(np.log2(max(2, n_trees)))))
    largest = np.abs(values).max(initial=0.0) or 1.0
    unit = 2.0 ** (np.floor(np.log2(largest)) + 1 - bits)
    least = largest * 2.0**-BITS
    slices: list[Array] = []
    units: list[float] = []
    rest = values
    while not units or (units[-1] > least and rest.any()):
        slices.append(np.rint(rest / unit))
        units.append(unit)
        rest = rest - unit * slices[-1]
        unit *= 2.0 ** -(bits + 1)
    return np.stack(slices, axis=2), np.array(units)


@rounding_error.register
def _(term: Trees, X: Array, eps: float) -> float:
    # Independent rounding errors of T partial sums, each bounded by the row's sum|leaf|.
    sizes = replace(term, value=np.abs(term.value))(X)
    return eps * float(np.sqrt(len(term.roots))) * float(sizes.max(initial=0.0))


@behind_scaling.register
def _(term: Trees, scaling: Scaling, width: int, dtype: str) -> Term:
    standard = [operation for operation, _ in scaling] in ([np.subtract], [np.divide], [np.subtract, np.divide])
    if standard and dtype == "float64":
        return behind_scaling.dispatch(Term)(term, scaling, width, dtype)
    return with_thresholds_before(term, scaling, np.dtype("float64" if dtype == "float64" else "float32"))


@with_lower_thresholds.register
def _(term: Trees) -> Term:
    # XGBoost's thresholds are values of training rows. Rows with these values, which are many in text, stay on
    # their side when a graph computes them with rounding errors.
    if term.threshold.dtype != FLOAT32:
        return term
    return replace(term, threshold=term.threshold - MARGIN * np.spacing(np.abs(term.threshold)))
