"""Checks of terms from a file or a learner: kernels do not check bounds."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .clipping import ClipAndLog
from .cosines import Cosines
from .expanded import Expanded, ImputeAndEncode
from .linear_trees import LinearTrees
from .standardized import Standardized
from .symmetric_trees import SymmetricTrees
from .trees import Trees

# Types of the arrays of trees, by NumPy's kind letters: integer thresholds would truncate X.
MAX_DEPTH = 16
"""The most levels of a symmetric tree."""
KIND_NAMES = {"iu": "integers", "f": "floats", "b": "booleans"}
TREE_KINDS = dict.fromkeys(("roots", "left", "right", "feature"), "iu")
TREE_KINDS |= {"threshold": "f", "value": "f", "missing_left": "b"}


@singledispatch
def check_term(term: Term, n_features: int, n_outputs: int) -> None:
    """Raise a ValueError unless the arrays of a term are consistent; custom types may register a check here.

    Parameters
    ----------
    term : Term
        A term from a file or a learner.
    n_features, n_outputs : int
        Columns of X and of the term's outputs.

    Raises
    ------
    ValueError
        If a shape is wrong, or a tree has an index out of range, a cycle, a node with several parents, or a NaN
        threshold.
    """


@check_term.register
def _(term: Cosines, n_features: int, n_outputs: int) -> None:
    m = len(term.omega)
    if term.projection is None:
        require_shape("omega", term.omega, (m, n_features))
    else:
        n_coordinates = np.shape(term.projection.matrix)[0] if np.ndim(term.projection.matrix) else 0
        require_shape("matrix", term.projection.matrix, (n_coordinates, n_features))
        require_shape("omega", term.omega, (m, n_coordinates))
    require_shape("phase", term.phase, (m,))
    require_shape("weight", term.weight, (m, n_outputs))
    if term.center is not None:
        require_shape("center", term.center, (n_features,))
    if term.clipping is not None:
        require_shape("low", term.clipping.low, (n_features,))
        require_shape("high", term.clipping.high, (n_features,))
        if term.clipping.means is not None:
            require_shape("means", term.clipping.means, (n_features,))
        check_log_scale(term.clipping)


def check_log_scale(clipping: ClipAndLog) -> None:
    """Raise a ValueError unless each log scale is finite and has a finite anchor."""
    if clipping.log_scale is None:
        return
    require_shape("log_scale", clipping.log_scale, clipping.low.shape)
    if not np.isfinite(clipping.log_scale).all() or not np.isfinite(clipping.log_columns[1]).all():
        raise ValueError("log_scale must be finite, and 0 for features without a finite anchor")


@check_term.register
def _(term: Standardized, n_features: int, n_outputs: int) -> None:
    require_shape("center", term.center, (n_features,))
    require_shape("scale", term.scale, (n_features,))
    check_term(term.term, n_features, n_outputs)


@check_term.register
def _(term: Expanded, n_features: int, n_outputs: int) -> None:
    check_expansion(term.expansion)
    if term.expansion.n_features != n_features:
        raise ValueError(f"expansion must be of {n_features} columns, got {term.expansion.n_features}")
    check_term(term.term, term.expansion.n_expanded, n_outputs)


def check_expansion(expansion: ImputeAndEncode) -> None:
    """Raise a ValueError unless the arrays of an expansion are consistent."""
    for name in ("numeric", "indicators", "categorical"):
        columns = getattr(expansion, name)
        require_shape(name, columns, (np.size(columns),))
        require_range(name, columns, 0, expansion.n_features)
    require_shape("means", expansion.means, np.shape(expansion.numeric))
    if len(expansion.one_hot) != len(expansion.categorical):
        raise ValueError(
            f"one_hot must have {len(expansion.categorical)} arrays, one per categorical column, "
            f"got {len(expansion.one_hot)}"
        )
    for table in expansion.one_hot:
        require_shape("one_hot", table, (max(1, len(table)), *np.shape(table)[1:2]))
    for regression in expansion.regressions:
        require_shape("regressions", regression, 2 * np.shape(expansion.numeric))


@check_term.register
def _(term: Trees, n_features: int, n_outputs: int) -> None:
    for name, kind in TREE_KINDS.items():
        require_kind(name, getattr(term, name), kind)
    n = len(term.left)
    for name in ("left", "right", "feature", "threshold", "missing_left"):
        require_shape(name, getattr(term, name), (n,))
    require_shape("roots", term.roots, (np.size(term.roots),))
    require_range("roots", term.roots, 0, n)
    check_tree_outputs(term, n_outputs)
    inner = np.flatnonzero(term.left >= 0)
    require_range("feature ids", term.feature[inner], 0, n_features)
    if np.isnan(term.threshold[inner]).any():
        raise ValueError("thresholds must be numbers, got nan")
    check_category_sets(term.subset, term.members, (n,))
    if term.subset is not None and (term.subset[term.left < 0] >= 0).any():
        raise ValueError("subset must be -1 at leaves, which have no set of categories")
    if (term.right[term.left < 0] >= 0).any():
        raise ValueError("a node of trees must have two children or none, got a right child only")
    # Children come after their parent, so every path ends.
    for child in (term.left[inner], term.right[inner]):
        require_range("node ids of children", child, inner + 1, n)
    parents = np.bincount(np.concatenate([term.roots, term.left[inner], term.right[inner]]), minlength=n)
    if (parents > 1).any():
        raise ValueError(f"each node of trees must have one parent, got several for node {parents.argmax()}")


def check_category_sets(subset: Any, members: Any, shape: tuple[int, ...]) -> None:
    """Raise a ValueError unless splits of some shape have sets of categories, or none has."""
    if (subset is None) != (members is None):
        raise ValueError("trees must have both subset and members, or neither")
    if subset is None:
        return
    require_shape("subset", subset, shape)
    require_kind("subset", subset, "iu")
    if np.ndim(members) != 2 or members.dtype != np.uint8:
        raise ValueError(f"members must be of type uint8 with two dimensions, got {members!r}")
    require_range("subset", subset, -1, len(members))


@check_term.register
def _(term: SymmetricTrees, n_features: int, n_outputs: int) -> None:
    for name, kind in {"feature": "iu", "threshold": "f", "missing_right": "b", "value": "f"}.items():
        require_kind(name, getattr(term, name), kind)
    shape = np.shape(term.feature)
    if len(shape) != 2 or shape[1] > MAX_DEPTH:
        raise ValueError(f"feature must have shape (T, D) with D up to {MAX_DEPTH}, got {shape}")
    leaves = (shape[0], 2 ** shape[1], n_outputs)
    for name in ("threshold", "missing_right"):
        require_shape(name, getattr(term, name), shape)
    require_shape("value", term.value, leaves)
    require_range("feature ids", term.feature, 0, n_features)
    if np.isnan(term.threshold).any():
        raise ValueError("thresholds must be numbers, got nan")
    check_category_sets(term.subset, term.members, shape)
    linear = {name: getattr(term, name) for name in ("slope", "low", "high", "center")}
    if all(array is None for array in linear.values()):
        return
    for name, array in linear.items():
        require_shape(name, array, (*leaves, shape[1]) if name == "slope" else shape)
        require_kind(name, array, "f")


@check_term.register
def _(term: LinearTrees, n_features: int, n_outputs: int) -> None:
    if term.n_outputs != n_outputs:
        raise ValueError(f"trees with linear leaves must have {n_outputs} outputs, got {term.n_outputs!r}")
    check_term(term.coefficients, n_features, n_outputs * (n_features + 1))


def check_tree_outputs(term: Trees, n_outputs: int) -> None:
    """Raise a ValueError unless each tree has one of the outputs, or each node a value for all of them."""
    if term.n_outputs != n_outputs:
        raise ValueError(f"trees must have {n_outputs} outputs, got {term.n_outputs}")
    require_shape("leaf values", term.value, (len(term.left), n_outputs if term.output is None else 1))
    if term.output is not None:
        require_kind("output", term.output, "iu")
        require_shape("output", term.output, term.roots.shape)
        require_range("output", term.output, 0, n_outputs)


def require_kind(name: str, array: Any, kind: str) -> None:
    """Raise a ValueError unless `array` is an array of a kind of :data:`KIND_NAMES`."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kind:
        got = f"one of {array.dtype}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise ValueError(f"{name} must be an array of {KIND_NAMES[kind]}, got {got}")


def require_shape(name: str, array: Any, shape: tuple[int, ...]) -> None:
    """Raise a ValueError unless `array` has this shape."""
    if np.shape(array) != shape:
        raise ValueError(f"{name} must have shape {shape}, got {np.shape(array)}")


def require_range(name: str, values: Array, low: int | Array, high: int) -> None:
    """Raise a ValueError unless ``low <= values < high`` everywhere."""
    wrong = (values < low) | (values >= high)
    if wrong.any():
        raise ValueError(f"{name} are out of range: {values[wrong][0]}")
