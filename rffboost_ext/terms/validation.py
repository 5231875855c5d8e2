"""Whether terms from a file or a learner are safe to evaluate: invalid arrays must not reach a kernel."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .clipping import ClipAndLog
from .cosines import Cosines
from .expanded import Expanded, ImputeAndEncode
from .standardized import Standardized
from .trees import Trees

# Types of the arrays of trees, by NumPy's kind letters: integer thresholds would truncate X.
WORDS = {"iu": "whole numbers", "f": "real numbers", "b": "truth values"}
KINDS = dict.fromkeys(("roots", "left", "right", "feature"), "iu")
KINDS |= {"threshold": "f", "value": "f", "missing_left": "b"}


@singledispatch
def check_sound(term: Term, n_features: int, n_outputs: int) -> None:
    """Raise unless a term's arrays are consistent; a custom type may register its check here.

    Parameters
    ----------
    term : Term
        The term that was read or learned.
    n_features, n_outputs : int
        Columns of X and of the term's outputs.

    Raises
    ------
    ValueError
        If a shape is wrong, or a tree has an index out of range, a cycle, a node that is reached twice, or a
        threshold that is NaN.
    """


@check_sound.register
def _(term: Cosines, n_features: int, n_outputs: int) -> None:
    m = len(term.omega)
    require_shape("omega", term.omega, (m, n_features))
    require_shape("phase", term.phase, (m,))
    require_shape("weight", term.weight, (m, n_outputs))
    if term.center is not None:
        require_shape("center", term.center, (n_features,))
    if term.clipping is not None:
        require_shape("low", term.clipping.low, (n_features,))
        require_shape("high", term.clipping.high, (n_features,))
        check_bends(term.clipping)


def check_bends(clipping: ClipAndLog) -> None:
    """Raise a ValueError unless each bend is a number and begins at a finite end."""
    if clipping.bend is None:
        return
    require_shape("bend", clipping.bend, clipping.low.shape)
    if not np.isfinite(clipping.bend).all() or not np.isfinite(clipping.bent[1]).all():
        raise ValueError("bend must be finite, and 0 where the range has no end for it")


@check_sound.register
def _(term: Standardized, n_features: int, n_outputs: int) -> None:
    require_shape("center", term.center, (n_features,))
    require_shape("scale", term.scale, (n_features,))
    check_sound(term.term, n_features, n_outputs)


@check_sound.register
def _(term: Expanded, n_features: int, n_outputs: int) -> None:
    check_expansion(term.expansion)
    if term.expansion.n_features != n_features:
        raise ValueError(f"expansion must be of {n_features} columns, got {term.expansion.n_features}")
    check_sound(term.term, term.expansion.n_expanded, n_outputs)


def check_expansion(expansion: ImputeAndEncode) -> None:
    """Raise a ValueError unless the arrays of an expansion are consistent."""
    for name in ("numbers", "gaps", "coded"):
        columns = getattr(expansion, name)
        require_shape(name, columns, (np.size(columns),))
        require_range(name, columns, 0, expansion.n_features)
    require_shape("fill", expansion.fill, np.shape(expansion.numbers))
    if len(expansion.tables) != len(expansion.coded):
        raise ValueError(
            f"tables must be one for each of {len(expansion.coded)} columns, got {len(expansion.tables)}"
        )
    for table in expansion.tables:
        require_shape("tables", table, (max(1, len(table)), *np.shape(table)[1:2]))
    for sweep in expansion.sweeps:
        require_shape("sweeps", sweep, 2 * np.shape(expansion.numbers))


@check_sound.register
def _(term: Trees, n_features: int, n_outputs: int) -> None:
    for name, kind in KINDS.items():
        require_kind(name, getattr(term, name), kind)
    n = len(term.left)
    for name in ("left", "right", "feature", "threshold", "missing_left"):
        require_shape(name, getattr(term, name), (n,))
    require_shape("roots", term.roots, (np.size(term.roots),))
    require_shape("leaf values", term.value, (n, n_outputs))
    require_range("roots", term.roots, 0, n)
    inner = np.flatnonzero(term.left >= 0)
    require_range("feature ids", term.feature[inner], 0, n_features)
    if np.isnan(term.threshold[inner]).any():
        raise ValueError("thresholds must be numbers, got nan")
    if (term.subset is None) != (term.members is None):
        raise ValueError("trees must have both subset and members, or neither")
    if term.subset is not None and term.members is not None:
        require_shape("subset", term.subset, (n,))
        if term.members.ndim != 2:
            raise ValueError(f"members must have two dimensions, got shape {term.members.shape}")
        require_range("subset", term.subset, -1, len(term.members))
    # Children come after their parent: no path visits a node twice, so every path ends.
    for child in (term.left[inner], term.right[inner]):
        require_range("node ids of children", child, inner + 1, n)
    parents = np.bincount(np.concatenate([term.roots, term.left[inner], term.right[inner]]), minlength=n)
    if (parents > 1).any():
        raise ValueError(f"nodes of trees must be reached in one way, got several for node {parents.argmax()}")


def require_kind(name: str, array: Any, kind: str) -> None:
    """Raise a ValueError unless `array` is an array whose type is of a kind of :data:`WORDS`."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in kind:
        found = f"one of {array.dtype}" if isinstance(array, np.ndarray) else f"a {type(array).__name__}"
        raise ValueError(f"{name} must be an array of {WORDS[kind]}, got {found}")


def require_shape(name: str, array: Any, shape: tuple[int, ...]) -> None:
    """Raise a ValueError unless `array` has this shape."""
    if np.shape(array) != shape:
        raise ValueError(f"{name} must have shape {shape}, got {np.shape(array)}")


def require_range(name: str, values: Array, low: int | Array, high: int) -> None:
    """Raise a ValueError unless ``low <= values < high`` everywhere."""
    wrong = (values < low) | (values >= high)
    if wrong.any():
        raise ValueError(f"{name} are out of range: {values[wrong][0]}")
