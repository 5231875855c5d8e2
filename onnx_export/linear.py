"""Linear functions: the used columns and a product of matrices."""

from __future__ import annotations

import numpy as np

from rffboost_ext.exporting import Array
from rffboost_ext.terms import Linear

from .conversion import convert_term, rounding_error, rows_of
from .cosines import center_and_clip, sizes_of
from .graph import Graph


@convert_term.register
def _(term: Linear, graph: Graph, x: str) -> str:
    if not len(term.columns):
        return rows_of(graph, x, term.intercept)
    x, intercept = graph.node("Gather", x, graph.constant(term.columns, "columns"), axis=1), term.intercept
    center = None
    if term.center is not None:
        exact = term.center[term.columns]
        center = exact.astype(graph.dtype)
        intercept = intercept + (center - exact) @ term.slope
    x = center_and_clip(center, term.used_clipping, graph, x)
    out = graph.node("MatMul", x, graph.constant(term.slope, "slope"))
    return graph.node("Add", out, graph.constant(intercept, "intercept"))


@rounding_error.register
def _(term: Linear, X: Array, eps: float) -> float:
    sums = sizes_of(term.factors(X), term.used_clipping) @ np.abs(term.slope) + np.abs(term.intercept)
    return 4.0 * eps * float(sums.max(initial=0.0))
