"""Reading of an ensemble from a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from onnx.checker import ValidationError, check_model

from rffboost_ext import Cosines, Ensemble, Term, Trees
from rffboost_ext.terms import ClipAndLog, Expanded, ImputeAndEncode, Standardized, SymmetricTrees
from rffboost_ext.terms.projection import Projection
from rffboost_ext.terms.tree_outputs import values_by_output
from rffboost_ext.terms.validation import check_term, require_range, require_shape
from rffboost_ext.utils.typing import Array

from .metadata import Metadata, column_count, read_metadata
from .model import load, name_of
from .structure import require_unchanged
from .trees import node_numbers

AnyTrees = TypeVar("AnyTrees", Trees, SymmetricTrees)


@dataclass(frozen=True)
class StoredTerm:
    """One term as stored in a file: constants and nodes, under the names that ``convert_term`` gave them.

    Attributes
    ----------
    scope : str
        The prefix of these names.
    constants : dict of str to ndarray
        All constants of the file, by full name.
    nodes : dict of str to NodeProto
        All nodes of the file, by the full name of their output.
    term_types : dict of str to str
        Type of term by scope.
    n_features : int
        Columns of X.
    """

    scope: str
    constants: dict[str, Array]
    nodes: dict[str, NodeProto]
    term_types: dict[str, str]
    n_features: int = 0

    def array(self, name: str, default: Any = None) -> Any:
        """The constant `name` of this term, real numbers in float64."""
        value = self.constants.get(f"{self.scope}.{name}", default)
        return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value

    def inner(self, name: str) -> Term:
        """The term that was converted in the scope `name` of this one."""
        return read_term(replace(self, scope=f"{self.scope}.{name}"))

    def arrays(self, name: str) -> list[Array]:
        """The constants `name0`, `name1` and so on of this term."""
        found: list[Array] = []
        while f"{self.scope}.{name}{len(found)}" in self.constants:
            found.append(self.array(f"{name}{len(found)}"))
        return found


DAMAGE = (
    *(KeyError, IndexError, AttributeError, TypeError, ValueError, OverflowError, RecursionError),
    ValidationError,
)
"""Errors raised by files with inconsistent content."""
READERS: dict[str, Callable[[StoredTerm], Term]] = {}
"""Functions that read terms, by the name of the term's type; custom types can be added."""


def from_onnx(model: str | os.PathLike[str] | bytes | ModelProto) -> Ensemble:
    """Read the ensemble of a file: a portable model without pickle.

    Parameters
    ----------
    model : path-like, bytes or ModelProto
        A model written by this package.

    Returns
    -------
    Ensemble
        Its raw scores are those of the exported one; for a float64 file equal to about 1e-12, for a float32
        file within the rounding of its weights.

    Raises
    ------
    ValueError
        If the file is damaged, was written or changed by another program, or has steps before the ensemble. An
        ensemble that is returned is valid: shapes match, tree indices are in range and trees have no cycles.
    TypeError
        If a term is of a type that is not in ``READERS``.
    """
    proto = load(model)
    name = name_of(model)
    metadata = read_metadata(proto, name)
    if not metadata.standalone:
        raise ValueError(
            f"{name} holds {metadata.estimator}: steps before the ensemble cannot be read back; use OnnxPredictor"
        )
    for kind in metadata.terms.values():
        require_reader(kind)
    try:
        check_model(proto)
        require_unchanged(proto, metadata.structure)
        return read_ensemble(proto, metadata)
    except DAMAGE as error:
        raise ValueError(f"{name} is damaged: {one_line(error)}") from error


def one_line(error: Exception) -> str:
    """An error in one line."""
    text = str(error).strip()
    first = text.splitlines()[0] if text else type(error).__name__
    return f"there is no {first}" if isinstance(error, KeyError) else first


def read_ensemble(proto: ModelProto, metadata: Metadata) -> Ensemble:
    """The ensemble of a file whose metadata is known, checked to be safe to evaluate."""
    width = sum(column_count(entry.type.tensor_type) for entry in proto.graph.input) - metadata.n_offsets
    if width != metadata.n_features:
        raise ValueError(f"the inputs have {width} columns, the metadata says {metadata.n_features}")
    constants = {entry.name: read_constant(entry) for entry in proto.graph.initializer}
    nodes = {node.output[0]: node for node in proto.graph.node}
    outer = [scope for scope in metadata.terms if "." not in scope]
    baseline = constants["baseline" if outer else "constant"].astype(np.float64)
    require_shape("baseline", baseline, (metadata.n_outputs,))
    terms = tuple(read_term(StoredTerm(scope, constants, nodes, metadata.terms, width)) for scope in outer)
    for term in terms:
        check_term(term, metadata.n_features, metadata.n_outputs)
    return Ensemble(baseline, terms, np.ones((len(terms), 2)))


def read_constant(entry: TensorProto) -> Array:
    """The array of a constant, or a ValueError if it is not of real numbers or text."""
    array = numpy_helper.to_array(entry)
    if array.dtype.kind not in "biufO":
        raise ValueError(f"the constant {entry.name!r} must hold real numbers or text, got {array.dtype}")
    return array


def read_term(parts: StoredTerm) -> Term:
    """The term that is stored."""
    return READERS[parts.term_types[parts.scope]](parts)


def require_reader(kind: str) -> None:
    """Raise a TypeError unless terms of a type can be read back."""
    if kind not in READERS:
        raise TypeError(
            f"terms of type {kind!r} cannot be read back. Register a reader: onnx_export.READERS[{kind!r}] = a "
            f"function from StoredTerm to Term"
        )


def read_cosines(parts: StoredTerm) -> Cosines:
    """The inverse of the conversion of :class:`Cosines`."""
    omega = parts.array("omega").T
    sine = f"{parts.scope}.sin" in parts.nodes
    phase = (np.pi / 2 if sine else 0.0) - parts.array("bias")
    center, clipping, matrix = parts.array("center"), read_clipping(parts), parts.array("projection")
    if clipping is not None and center is not None:
        clipping = clipping.translate(center)
    projection = None if matrix is None else Projection(np.ascontiguousarray(matrix.T))
    return Cosines(np.ascontiguousarray(omega), phase, parts.array("weight"), center, clipping, projection)


def read_clipping(parts: StoredTerm) -> ClipAndLog | None:
    """The inverse of ``clip_nodes``."""
    low, high, bend, means = (parts.array(name) for name in ("low", "high", "bend", "fill"))
    if low is None:
        return None if means is None else ClipAndLog.only_imputing(means)
    return ClipAndLog(low, high, bend, means)


def read_standardized(parts: StoredTerm) -> Standardized:
    """The inverse of the conversion of :class:`Standardized`."""
    return Standardized(parts.inner("inner"), parts.array("center"), parts.array("scale"))


def read_trees(parts: StoredTerm, n_outputs: int | None = None) -> Trees:
    """The inverse of the conversion of :class:`Trees`, by default with the outputs of the ensemble."""
    node = parts.nodes.get(f"{parts.scope}.trees")
    constant = parts.array("constant")
    if parts.array("left") is not None:
        return read_tree_lookups(parts)
    if node is None:
        return single_leaves(constant)
    n_outputs = len(parts.constants["baseline"]) if n_outputs is None else n_outputs
    trees = read_tree_nodes(node, parts.array("scale"), n_outputs)
    trees = with_category_sets(trees, trees.left >= 0, parts.arrays("of"), parts.arrays("sets"))
    return trees if constant is None else Trees.stack([trees, single_leaves(constant)])


def read_tree_lookups(parts: StoredTerm) -> Trees:
    """The inverse of ``add_tree_lookups``."""
    left, right = parts.array("left"), parts.array("right")
    is_leaf = left == np.arange(len(left))
    outputs: dict[str, Any] = {}
    if found := parts.arrays("output"):
        outputs = {"output": np.hstack(found).argmax(axis=0), "n_outputs": len(found[0])}
    trees = Trees(
        roots=np.concatenate(parts.arrays("roots")).ravel(),
        left=np.where(is_leaf, -1, left).astype(np.int32),
        right=np.where(is_leaf, -1, right).astype(np.int32),
        feature=parts.array("feature").astype(np.int32),
        threshold=parts.constants[f"{parts.scope}.threshold"],
        missing_left=parts.array("missing_left", np.zeros(len(left))) == 1,
        value=parts.array("value"),
        **outputs,
    )
    return with_category_sets(trees, ~is_leaf, parts.arrays("of"), parts.arrays("sets"))


def with_category_sets(trees: AnyTrees, splits: Array, columns: list[Array], tables: list[Array]) -> AnyTrees:
    """Trees with category sets in place of splits on membership columns: the inverse of ``without_category_sets``.

    `splits` tells which entries of the fields of nodes or levels are splits.
    """
    if not tables:
        return trees
    sizes = [table.shape[1] for table in tables]
    asks = splits & (trees.feature < sum(sizes))
    owner = np.repeat(columns, sizes)[np.where(asks, trees.feature, 0)]
    members = np.zeros((sum(sizes), max(map(len, tables))), dtype=bool)
    for table, stop in zip(tables, np.cumsum(sizes), strict=True):
        # Rows after those of the categories hold no members: other codes, and in older files missing values.
        members[stop - table.shape[1] : stop, : len(table)] = table.T == 1.0
    return replace(
        trees,
        feature=np.where(asks, owner, np.maximum(trees.feature - sum(sizes), 0)).astype(np.int32),
        subset=np.where(asks, trees.feature, -1).astype(np.int32),
        members=np.packbits(members, axis=1, bitorder="little"),
    )


def read_expanded(parts: StoredTerm) -> Expanded:
    """The inverse of the conversion of :class:`Expanded`."""
    none = np.empty(0, dtype=np.int64)
    numbers, gaps = parts.array("numbers", none), parts.array("gaps", none)
    coded, tables = np.array(parts.arrays("coded"), dtype=np.int64), tuple(parts.arrays("table"))
    fill, sweeps = parts.array("fill", np.empty(0)), tuple(parts.arrays("sweep"))
    expansion = ImputeAndEncode(parts.n_features, numbers, fill, gaps, coded, tables, regressions=sweeps)
    term = replace(parts, n_features=expansion.n_expanded).inner("inner")
    origin = parts.array("origin")
    if origin is None or not isinstance(term, Cosines):
        return Expanded(term, expansion)
    # Numbers are relative to the origin.
    center = np.zeros(expansion.n_expanded) if term.center is None else term.center
    shift = np.append(origin, np.zeros(expansion.n_expanded - len(origin)))
    clipping = None if term.clipping is None else term.clipping.translate(shift)
    cosines = replace(term, center=center + shift, clipping=clipping)
    return Expanded(cosines, replace(expansion, means=expansion.means + origin))


def single_leaves(value: Array) -> Trees:
    """A tree of one leaf for each output, with values (C,)."""
    number, none = np.arange(len(value)), np.full(len(value), -1, dtype=np.int32)
    feature, threshold = np.zeros((2, len(value)))
    nodes = none, none, feature.astype(np.int32), threshold.astype(np.float32), threshold > 0.0, value[:, None]
    return Trees(number, *nodes, output=number if len(value) > 1 else None, n_outputs=len(value))


def read_tree_nodes(node: NodeProto, scale: Array | None, n_outputs: int) -> Trees:
    """The trees of a TreeEnsembleRegressor as this package writes it."""
    found = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
    tree = np.array(found["nodes_treeids"])
    roots = np.flatnonzero(np.diff(tree, prepend=-1))
    require_numbered(tree, roots, np.array(found["nodes_nodeids"]))
    inner = np.array([MODES[mode] for mode in found["nodes_modes"]])
    values = leaf_values(found, roots, tree, scale, n_outputs)

    def child(name: str) -> Array:
        children = roots[tree] + np.array(found[name])
        require_range(name, children, 0, len(tree))
        return np.where(inner, children, -1).astype(np.int32)

    return Trees(
        roots=roots.astype(np.int64),
        left=child("nodes_truenodeids"),
        right=child("nodes_falsenodeids"),
        feature=np.array(found["nodes_featureids"], dtype=np.int32),
        threshold=real_attribute(found, "nodes_values"),
        missing_left=np.array(found["nodes_missing_value_tracks_true"], dtype=bool),
        **values,
    )


def require_numbered(tree: Array, roots: Array, number: Array) -> None:
    """Raise a ValueError unless trees, and the nodes of each, are numbered 0, 1, 2, ... in order."""
    if not np.array_equal(tree[roots], np.arange(len(roots))) or not np.array_equal(number, node_numbers(tree)):
        raise ValueError("the trees or their nodes are not numbered in order")


def leaf_values(
    found: dict[str, Any], roots: Array, tree: Array, scale: Array | None, n_outputs: int
) -> dict[str, Any]:
    """Values of the nodes, and the output of each tree if it has one, as fields of :class:`Trees`."""
    output, unit = target_outputs(scale, n_outputs)
    of, target = np.array(found["target_treeids"]), np.array(found["target_ids"])
    require_range("target_treeids", of, 0, len(roots))
    at = roots[of] + np.array(found["target_nodeids"])
    require_range("target_nodeids", at, 0, len(tree))
    require_range("target_ids", target, 0, len(output))
    if found["n_targets"] != len(output):
        raise ValueError(f"n_targets must be {len(output)}, got {found['n_targets']}")
    weight = unit[target] * real_attribute(found, "target_weights")
    return values_by_output(tree, at, output[target], weight, n_outputs)


def target_outputs(scale: Array | None, n_outputs: int) -> tuple[Array, Array]:
    """The output that each target is added to, and the factor of its values; `scale` is (K, 1) for K slices.

    In files of earlier versions it is a matrix from targets to outputs.
    """
    if scale is None:
        return np.arange(n_outputs), np.ones(n_outputs)
    if scale.shape == (len(scale), 1):
        return np.repeat(np.arange(n_outputs), len(scale)), np.tile(scale[:, 0], n_outputs)
    require_shape("scale", scale, (len(scale), n_outputs))
    return scale.argmax(axis=1), scale.max(axis=1)


def real_attribute(found: dict[str, Any], name: str) -> Array:
    """A real-valued attribute: a list of float32, or a float64 tensor where thresholds are float64."""
    stored = found.get(f"{name}_as_tensor")
    array = np.array(found[name], dtype=np.float32) if stored is None else numpy_helper.to_array(stored)
    if array.dtype not in (np.float32, np.float64):
        raise ValueError(f"{name} must be float32 or float64, got {array.dtype}")
    return array


MODES = {b"LEAF": False, b"BRANCH_LT": True}
"""Modes of nodes as this package writes them, and whether such a node has children."""
READERS |= {
    "Cosines": read_cosines,
    "Expanded": read_expanded,
    "Standardized": read_standardized,
    "Trees": read_trees,
}
