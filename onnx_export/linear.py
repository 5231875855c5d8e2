"""Linear functions: the used columns and a product of matrices."""

from __future__ import annotations

import numpy as np

from rffboost_ext import Term
from rffboost_ext.exporting import Array
from rffboost_ext.terms import Linear

from .conversion import convert_term, rounding_error, rows_of
from .cosines import clip_nodes
from .graph import Graph
from .scaling import Scaling, behind_scaling, center_and_scale


@convert_term.register
def _(term: Linear, graph: Graph, x: str) -> str:
    if not len(term.columns):
        return rows_of(graph, x, term.intercept)
    x, intercept = graph.node("Gather", x, graph.constant(term.columns, "columns"), axis=1), term.intercept
    clipping = term.used_clipping
    if term.center is not None:
        center = term.center[term.columns]
        rounded = center.astype(graph.dtype)
        x, intercept = (
            graph.node("Sub", x, graph.constant(rounded, "center")),
            intercept + (rounded - center) @ term.slope,
        )
        # Bounds relative to the center are as precise as the centered features.
        clipping = None if clipping is None else clipping.translate(-rounded)
    if clipping is not None:
        x = clip_nodes(clipping, graph, x)
    out = graph.node("MatMul", x, graph.constant(term.slope, "slope"))
    return graph.node("Add", out, graph.constant(intercept, "intercept"))


@rounding_error.register
def _(term: Linear, X: Array, eps: float) -> float:
    size = np.nanmax(np.abs(term.factors(X)), axis=0, initial=0.0)
    if term.used_clipping is not None and term.used_clipping.log_scale is not None:
        # Rounding errors of logarithms are relative to the scale of the log transform.
        size = np.maximum(size, np.abs(term.used_clipping.log_scale))
    sums = size @ np.abs(term.slope) + np.abs(term.intercept)
    return 4.0 * eps * float(sums.max(initial=0.0))


@behind_scaling.register
def _(term: Linear, scaling: Scaling, width: int, dtype: str) -> Term:
    return term.standardized(*center_and_scale(scaling, width))
