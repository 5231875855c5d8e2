"""Trees with linear leaves: the coefficients of each row, times its features."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rffboost_ext.exporting import Array
from rffboost_ext.terms import LinearTrees

from .conversion import convert_in_scope, convert_term, rounding_error, rows_of, where_missing
from .graph import Graph


@convert_term.register
def _(term: LinearTrees, graph: Graph, x: str) -> str:
    n_factors = term.n_features + 1
    n_outputs = term.coefficients.n_outputs // n_factors
    slopes = convert_in_scope(term.coefficients, graph, x, "coefficients")
    factors = where_missing(graph, x, graph.constant(0.0, "zero"))
    factors = graph.node("Concat", factors, rows_of(graph, x, np.ones(1)), axis=1)
    slopes = graph.node("Reshape", slopes, graph.constant([-1, n_outputs, n_factors], "by_output"))
    factors = graph.node("Reshape", factors, graph.constant([-1, n_factors, 1], "by_row"))
    # A product of matrices for each row: sums over an axis are written in another way before operator set 13.
    sums = graph.node("MatMul", slopes, factors)
    return graph.node("Reshape", sums, graph.constant([-1, n_outputs], "outputs"))


@rounding_error.register
def _(term: LinearTrees, X: Array, eps: float) -> float:
    # Independent rounding errors of the sums over trees and features, each bounded by the sum of the sizes.
    trees = term.coefficients
    sizes = replace(term, coefficients=replace(trees, value=np.abs(trees.value)))(np.abs(X))
    return eps * float(np.sqrt(len(trees.roots) + X.shape[1])) * float(sizes.max(initial=0.0))
