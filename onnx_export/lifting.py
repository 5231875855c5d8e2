"""From a file back to an ensemble."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import ModelProto, NodeProto, helper, numpy_helper
from onnx.checker import ValidationError, check_model

from rffboost_ext import Cosines, Ensemble, Term, Trees
from rffboost_ext.core import Array
from rffboost_ext.terms import Standardized

from .metadata import metadata_of
from .model import load


@dataclass(frozen=True)
class Parts:
    """What a file holds of one term: its constants and nodes, under the names that ``lower`` gave them.

    Attributes
    ----------
    scope : str
        The prefix of these names.
    constants : dict of str to ndarray
        All constants of the file, by full name.
    nodes : dict of str to NodeProto
        All nodes of the file, by the full name of their output.
    kinds : dict of str to str
        Type of term by scope.
    """

    scope: str
    constants: dict[str, Array]
    nodes: dict[str, NodeProto]
    kinds: dict[str, str]

    def array(self, name: str, default: Any = None) -> Any:
        """The constant `name` of this term, real numbers in float64."""
        value = self.constants.get(f"{self.scope}.{name}", default)
        return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value

    def inner(self, name: str) -> Term:
        """The term that was lowered into the scope `name` of this one."""
        return lift(Parts(f"{self.scope}.{name}", self.constants, self.nodes, self.kinds))


LIFTS: dict[str, Callable[[Parts], Term]] = {}
"""How a term is read back, by the name of its type; open to types of a user's own."""


def from_onnx(model: str | os.PathLike[str] | bytes | ModelProto) -> Ensemble:
    """The ensemble that a file holds: a portable model without pickle.

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
        If the file is damaged, was written by another program, or holds steps before the ensemble.
    TypeError
        If it holds a term of a type that is not in ``LIFTS``.
    """
    proto = load(model)
    name = str(model) if isinstance(model, str | os.PathLike) else "the model"
    metadata = metadata_of(proto, name)
    if not metadata.standalone:
        raise ValueError(
            f"{name} holds {metadata.estimator}: steps before the ensemble cannot be read back; use OnnxPredictor"
        )
    try:
        check_model(proto)
    except ValidationError as error:
        raise ValueError(f"{name} is damaged: {str(error).splitlines()[0]}") from error
    constants = {entry.name: numpy_helper.to_array(entry) for entry in proto.graph.initializer}
    nodes = {node.output[0]: node for node in proto.graph.node}
    outer = [scope for scope in metadata.terms if "." not in scope]
    terms = tuple(lift(Parts(scope, constants, nodes, metadata.terms)) for scope in outer)
    baseline = constants["baseline" if outer else "constant"].astype(np.float64)
    return Ensemble(baseline, terms, np.ones((len(terms), 2)))


def lift(parts: Parts) -> Term:
    """The term behind some parts."""
    kind = parts.kinds[parts.scope]
    if kind not in LIFTS:
        raise TypeError(
            f"terms of type {kind} cannot be read back. Say how: onnx_export.LIFTS[{kind!r}] = a function from "
            f"Parts to a {kind}"
        )
    return LIFTS[kind](parts)


def lift_cosines(parts: Parts) -> Cosines:
    """Inverse of the lowering of :class:`Cosines`."""
    omega = parts.array("omega").T
    sine = f"{parts.scope}.sin" in parts.nodes
    phase = (np.pi / 2 if sine else 0.0) - parts.array("bias")
    return Cosines(np.ascontiguousarray(omega), phase, parts.array("weight"), parts.array("center"))


def lift_standardized(parts: Parts) -> Standardized:
    """Inverse of the lowering of :class:`Standardized`."""
    return Standardized(parts.inner("inner"), parts.array("center"), parts.array("scale"))


def lift_trees(parts: Parts) -> Trees:
    """Inverse of the lowering of :class:`Trees`."""
    node = parts.nodes.get(f"{parts.scope}.trees")
    return leaf(parts.array("constant")) if node is None else grown_trees(node, parts.array("scale"))


def leaf(value: Array) -> Trees:
    """A tree that is one leaf."""
    none, no_feature = np.array([-1], dtype=np.int32), np.zeros(1, dtype=np.int32)
    threshold = np.zeros(1, dtype=np.float32)
    return Trees(np.zeros(1, dtype=np.int64), none, none, no_feature, threshold, threshold > 0, value[None])


def grown_trees(node: NodeProto, scale: Array | None) -> Trees:
    """The trees of a TreeEnsembleRegressor as this package writes it."""
    found = {entry.name: helper.get_attribute_value(entry) for entry in node.attribute}
    tree = np.array(found["nodes_treeids"])
    roots = np.flatnonzero(np.diff(tree, prepend=-1))
    inner = np.array([mode != b"LEAF" for mode in found["nodes_modes"]])

    def child(name: str) -> Array:
        return np.where(inner, roots[tree] + np.array(found[name]), -1).astype(np.int32)

    value = np.zeros((len(tree), found["n_targets"]))
    at = roots[np.array(found["target_treeids"])] + np.array(found["target_nodeids"])
    value[at, np.array(found["target_ids"])] = found["target_weights"]
    return Trees(
        roots=roots.astype(np.int64),
        left=child("nodes_truenodeids"),
        right=child("nodes_falsenodeids"),
        feature=np.array(found["nodes_featureids"], dtype=np.int32),
        threshold=np.array(found["nodes_values"], dtype=np.float32),
        missing_left=np.array(found["nodes_missing_value_tracks_true"], dtype=bool),
        value=value if scale is None else value @ scale,
    )


LIFTS |= {"Cosines": lift_cosines, "Standardized": lift_standardized, "Trees": lift_trees}
