"""Maps of features: imputation, encoding of categories and standardisation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from rffboost_ext import Cosines, Term
from rffboost_ext.exporting import Array
from rffboost_ext.terms import ImputeAndEncode, Linear, Mapped

from .category_sets import valid_codes
from .conversion import convert_in_scope, convert_term, rounding_error
from .cosines import center_and_bias
from .graph import FLOAT64, Graph


@convert_term.register
def _(term: Mapped, graph: Graph, x: str) -> str:
    inner, expansion, origin = relative_to_center(term, graph.dtype)
    center, scale = term.feature_map.center, term.feature_map.scale
    if expansion is not None:
        x = expansion_columns(expansion, graph, x, origin)
    elif center is not None and scale is not None:
        graph.usual[x] = center, scale
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
    inner, expansion = term.term, term.feature_map.expansion
    if expansion is None or term.feature_map.scale is not None or not isinstance(inner, Cosines | Linear):
        return inner, expansion, None
    if inner.center is None or (isinstance(inner, Cosines) and center_and_bias(inner, dtype)[0] is None):
        return inner, expansion, None
    p = len(expansion.numeric)
    origin = inner.center[:p].astype(dtype).astype(np.float64)
    shift = np.append(origin, np.zeros(expansion.n_expanded - p))
    clipping = None if inner.clipping is None else inner.clipping.translate(-shift)
    near = replace(expansion, means=expansion.means - origin)
    return replace(inner, center=inner.center - shift, clipping=clipping), near, origin


def expansion_columns(expansion: ImputeAndEncode, graph: Graph, x: str, origin: Array | None) -> str:
    """The columns of an expansion, (n, e), with numbers relative to `origin` (p,)."""
    parts = []
    if len(expansion.numeric):
        numbers = graph.node("Gather", x, graph.constant(expansion.numeric, "numbers"), axis=1)
        if origin is not None:
            numbers = graph.node("Sub", numbers, graph.constant(origin, "origin"))
        parts.append(impute(expansion, graph, numbers))
    if len(expansion.indicators):
        gaps = graph.node("Gather", x, graph.constant(expansion.indicators, "gaps"), axis=1)
        parts.append(graph.cast(graph.node("IsNaN", gaps), graph.dtype))
    for i, (column, table) in enumerate(zip(expansion.categorical, expansion.one_hot, strict=True)):
        code = graph.node("Gather", x, graph.constant(column, f"coded{i}"), axis=1)
        at = valid_codes(graph, code, len(table) - 1)
        parts.append(graph.node("Gather", graph.constant(table, f"table{i}"), at, axis=0))
    return parts[0] if len(parts) == 1 else graph.node("Concat", *parts, axis=1)


def impute(expansion: ImputeAndEncode, graph: Graph, numbers: str) -> str:
    """Numbers (n, p) with missing values imputed."""
    gap, fill = graph.node("IsNaN", numbers), graph.constant(expansion.means, "fill")
    out = graph.node("Where", gap, fill, numbers)
    for i, sweep in enumerate(expansion.regressions):
        change = graph.node("MatMul", graph.node("Sub", out, fill), graph.constant(sweep, f"sweep{i}"))
        out = graph.node("Where", gap, graph.node("Add", fill, change), out)
    return out


@rounding_error.register
def _(term: Mapped, X: Array, eps: float) -> float:
    features, inner, expansion = term.feature_map(X), term.term, term.feature_map.expansion
    bound = rounding_error(inner, features, eps)
    if expansion is None or not expansion.regressions or not isinstance(inner, Cosines | Linear):
        return bound
    # In Python imputed values are rounded at their own magnitude, before the center is subtracted.
    return bound + rounding_error(replace(inner, center=None), features, float(np.finfo(np.float64).eps))
