"""Missing values and categories as nodes: their encoding for cosines, and the category sets of trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from rffboost_ext import Cosines, Term, Trees
from rffboost_ext.terms import ImputeAndEncode, Mapped, SymmetricTrees
from rffboost_ext.utils.typing import Array

from .conversion import center_and_bias, convert_in_scope, convert_term
from .graph import BOOL, FLOAT64, INT64, Graph

AnyTrees = TypeVar("AnyTrees", Trees, SymmetricTrees)


@convert_term.register
def _(term: Mapped, graph: Graph, x: str) -> str:
    inner, expansion, origin = relative_to_center(term, graph.dtype)
    if expansion is not None:
        x = expansion_columns(expansion, graph, x, origin)
    center, scale = term.feature_map.center, term.feature_map.scale
    if center is not None and scale is not None:
        # In float64 for any type of graph: trees need the exact numbers of Python, and float32 loses digits for
        # large means.
        x = graph.node("Sub", graph.cast(x, FLOAT64), graph.constant(center, "center", FLOAT64))
        x = graph.cast(graph.node("Div", x, graph.constant(scale, "scale", FLOAT64)), graph.dtype)
    return convert_in_scope(inner, graph, x, "inner")


def relative_to_center(term: Mapped, dtype: np.dtype[Any]) -> tuple[Term, ImputeAndEncode | None, Array | None]:
    """The inner term and the expansion with numbers relative to an origin (p,), if its center is not folded.

    Imputed values are then as precise as centered features in float32.
    """
    cosines, expansion = term.term, term.feature_map.expansion
    if expansion is None or term.feature_map.scale is not None or not isinstance(cosines, Cosines):
        return cosines, expansion, None
    if cosines.center is None or center_and_bias(cosines, dtype)[0] is None:
        return cosines, expansion, None
    p = len(expansion.numeric)
    origin = cosines.center[:p].astype(dtype).astype(np.float64)
    shift = np.append(origin, np.zeros(expansion.n_expanded - p))
    clipping = None if cosines.clipping is None else cosines.clipping.translate(-shift)
    near = replace(expansion, means=expansion.means - origin)
    return replace(cosines, center=cosines.center - shift, clipping=clipping), near, origin


def expansion_columns(expansion: ImputeAndEncode, graph: Graph, x: str, origin: Array | None = None) -> str:
    """The columns of an expansion, (n, e), with numbers relative to `origin` (p,)."""
    parts = []
    if len(expansion.numeric):
        numbers = graph.node("Gather", x, graph.constant(expansion.numeric, "numbers"), axis=1)
        if origin is not None:
            numbers = graph.node("Sub", numbers, graph.constant(origin, "origin"))
        parts.append(impute(expansion, graph, numbers))
    if len(expansion.indicators):
        gaps = graph.node("Gather", x, graph.constant(expansion.indicators, "gaps"), axis=1)
        parts.append(graph.cast(graph.node("IsNaN", gaps, dtype=BOOL), graph.dtype))
    for i, (column, table) in enumerate(zip(expansion.categorical, expansion.one_hot, strict=True)):
        size = len(table) - 1
        code = graph.node("Gather", x, graph.constant(column, f"coded{i}"), axis=1)
        at = graph.cast(where_else(graph, is_valid_code(graph, code, size), code, size), INT64)
        parts.append(graph.node("Gather", graph.constant(table, f"table{i}"), at, dtype=graph.dtype, axis=0))
    return parts[0] if len(parts) == 1 else graph.node("Concat", *parts, axis=1)


def impute(expansion: ImputeAndEncode, graph: Graph, numbers: str) -> str:
    """Numbers (n, p) with missing values imputed."""
    gap, fill = graph.node("IsNaN", numbers, dtype=BOOL), graph.constant(expansion.means, "fill")
    out = graph.node("Where", gap, fill, numbers, dtype=graph.dtype)
    for i, sweep in enumerate(expansion.regressions):
        told = graph.node("MatMul", graph.node("Sub", out, fill), graph.constant(sweep, f"sweep{i}"))
        out = graph.node("Where", gap, graph.node("Add", fill, told), out, dtype=graph.dtype)
    return out


def is_valid_code(graph: Graph, code: str, size: int) -> str:
    """Whether ``0 <= code < size``; false for NaN."""
    low, high = (graph.constant(float(end), "end", graph.types[code]) for end in (0, size))
    negative = graph.node("Less", code, low, dtype=BOOL)
    return graph.node("And", graph.node("Not", negative), graph.node("Less", code, high, dtype=BOOL))


def where_else(graph: Graph, condition: str, value: str, other: float) -> str:
    """`value` where `condition` holds, else the number `other`."""
    dtype = graph.types[value]
    return graph.node("Where", condition, value, graph.constant(float(other), "other", dtype), dtype=dtype)


def without_category_sets(term: AnyTrees, graph: Graph, x: str) -> tuple[AnyTrees, str]:
    """Trees without category sets, and their features with a further column for each set.

    The column is 1 for members of the set, 0 for others, and NaN for missing values. A threshold between 0 and 1
    then splits as the set does, in every runtime that supports trees.
    """
    subset, members = term.subset, term.members
    if subset is None or members is None or not (subset >= 0).any():
        return replace(term, subset=None, members=None), x
    asked = subset >= 0
    bits = np.unpackbits(members, axis=1, bitorder="little")
    place, parts, start = term.feature.copy(), [], 0
    for i, column in enumerate(np.unique(term.feature[asked])):
        splits = asked & (term.feature == column)
        sets, which = np.unique(bits[subset[splits]], axis=0, return_inverse=True)
        place[splits] = start + which.ravel()
        start += len(sets)
        parts.append(memberships(sets, column, i, graph, x))
    threshold = np.where(asked, 0.5, term.threshold).astype(term.threshold.dtype)
    feature = np.where(asked, place, start + term.feature).astype(term.feature.dtype)
    trees = replace(term, feature=feature, threshold=threshold, subset=None, members=None)
    return trees, graph.node("Concat", *parts, x, axis=1)


def memberships(sets: Array, column: int, i: int, graph: Graph, x: str) -> str:
    """Membership of a column's codes in each of the sets (S, K), as (n, S): 1, 0, or NaN where missing."""
    size = sets.shape[1]
    table = graph.constant(np.concatenate([sets.T, np.zeros((1, len(sets)))]), f"sets{i}")
    code = graph.node("Gather", x, graph.constant(column, f"of{i}"), axis=1)
    at = graph.cast(where_else(graph, is_valid_code(graph, code, size), code, size), INT64)
    member = graph.cast(graph.node("Gather", table, at, axis=0), graph.types[x])
    cells = graph.node("Gather", x, graph.constant([column], f"column{i}"), axis=1)
    gap = graph.node("IsNaN", cells, dtype=BOOL)
    return graph.node("Where", gap, graph.missing(graph.types[x]), member, dtype=graph.types[x])
