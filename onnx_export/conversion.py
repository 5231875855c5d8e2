"""Terms as nodes: ``convert_term`` has one implementation per type of term, including custom ones."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from rffboost_ext import Cosines, Ensemble, Term
from rffboost_ext.terms import ClipAndLog
from rffboost_ext.utils.typing import Array

from .graph import BOOL, FLOAT32, ConversionError, Graph

FOLDABLE = 1.0
"""A center that shifts every phase by at most this is folded into the phases."""

HOW_TO_CONVERT = """Register one:

    from onnx_export import Graph, convert_term

    @convert_term.register
    def _(term: {name}, graph: Graph, x: str) -> str:
        ...  # add nodes with graph.node(...) and constants with graph.constant(...)
        return name_of_the_output  # (n, C)"""


@singledispatch
def convert_term(term: Term, graph: Graph, x: str) -> str:
    """Append nodes that compute a term, and return the name of their output.

    The extension point for custom terms: use ``@convert_term.register`` on a function whose first argument is
    annotated with the type of term.

    Parameters
    ----------
    term : Term
        What to compute; it acts on the user's features.
    graph : Graph
        Graph to append to. Within its current scope names are free; real numbers are of type ``graph.dtype``.
    x : str
        Name of the features, (n, d), of type ``graph.dtype``.

    Returns
    -------
    str
        Name of the term's outputs, (n, C), of type ``graph.dtype``.

    Raises
    ------
    TypeError
        If nothing is registered for the type of `term`.
    """
    name = type(term).__name__
    raise ConversionError(f"terms of type {name} have no ONNX form. {HOW_TO_CONVERT.format(name=name)}")


@convert_term.register
def _(term: Cosines, graph: Graph, x: str) -> str:
    center, bias = center_and_bias(term, graph.dtype)
    if center is not None:
        x = graph.node("Sub", x, graph.constant(center, "center"))
    if term.clipping is not None:
        # Bounds relative to the center are as precise as the centered features.
        x = clip_nodes(term.clipping if center is None else term.clipping.translate(-center), graph, x)
    if term.projection is not None:
        x = graph.node("MatMul", x, graph.constant(term.projection.matrix.T, "projection"))
    z = graph.node("MatMul", x, graph.constant(term.omega.T, "omega"))
    # ONNX Runtime before 1.29 has no float64 Cos, but has Sin.
    wave, quarter = ("Cos", 0.0) if graph.dtype == FLOAT32 else ("Sin", np.pi / 2)
    z = graph.node("Add", z, graph.constant(bias + quarter, "bias"))
    return graph.node("MatMul", graph.node(wave, z), graph.constant(term.weight, "weight"))


def clip_nodes(clipping: ClipAndLog, graph: Graph, x: str) -> str:
    """x imputed, clipped to a range per feature and log-transformed.

    The operator Clip has one range for all features.
    """
    if clipping.means is not None:
        x = where_missing(graph, x, graph.constant(clipping.means, "fill"))
    if clipping.is_bounded:
        x = graph.node("Max", x, graph.constant(clipping.low, "low"))
        x = graph.node("Min", x, graph.constant(clipping.high, "high"))
    return x if clipping.log_scale is None else log_nodes(clipping, clipping.log_scale, graph, x)


def where_missing(graph: Graph, x: str, value: str) -> str:
    """x with `value` in the place of missing values."""
    gap = graph.node("IsNaN", x, dtype=BOOL)
    return graph.node("Where", gap, value, x, dtype=graph.types[x])


def log_nodes(clipping: ClipAndLog, bend: Array, graph: Graph, x: str) -> str:
    """Clipped x with logarithms of the columns that are log-transformed."""
    is_bent, (columns, ends, _) = bend != 0.0, clipping.log_columns
    anchor = np.zeros(len(bend))
    anchor[columns] = ends
    past = graph.node("Sub", x, graph.constant(anchor, "anchor"))
    past = graph.node("Div", past, graph.constant(np.where(is_bent, bend, np.inf), "unit"))
    curve = graph.node("Log", graph.node("Add", past, graph.constant([1.0], "one")))
    curve = graph.node("Mul", curve, graph.constant(bend, "bend"))
    straight = graph.node("Mul", x, graph.constant(np.where(is_bent, 0.0, 1.0), "straight"))
    return graph.node("Add", graph.node("Add", curve, graph.constant(anchor, "anchor")), straight)


def center_and_bias(term: Cosines, dtype: np.dtype[Any]) -> tuple[Array | None, Array]:
    """The center to subtract from the features, if any, and the bias to add to ``omega . x`` then.

    A center too large to be folded is rounded to `dtype` and subtracted; the bias corrects the rounding. A large
    phase of ``omega . mean`` would have few digits in float32.
    """
    center, bias = term.center, -term.phase
    if center is not None and largest_shift(term, center) <= FOLDABLE:
        bias = bias - term.project(center)
        center = None
    if center is not None:
        rounded = center.astype(dtype)
        center, bias = rounded, bias - term.project(center - rounded)
    if dtype == FLOAT32:
        bias = np.remainder(bias + np.pi, 2.0 * np.pi) - np.pi
    return center, bias


def largest_shift(term: Cosines, center: Array) -> float:
    """A bound on the shift of any phase by a center (d,)."""
    if term.projection is None:
        return float(np.abs(term.omega * center).sum(axis=1).max(initial=0.0))
    reach = np.abs(term.projection.matrix) @ np.abs(center)
    return float((np.abs(term.omega) @ reach).max(initial=0.0))


def convert_in_scope(term: Term, graph: Graph, x: str, name: str) -> str:
    """Convert `term` in the scope `name`, and record it for the comparison with its nodes."""
    with graph.scope(name):
        out = graph.output_of(convert_term, term, x)
    graph.terms.append((term, x, out))
    return out


def convert_ensemble(ensemble: Ensemble, graph: Graph, x: str) -> str:
    """Raw scores, (n, C): one group of nodes for each family of terms, regardless of the number of rounds."""
    compact = ensemble.compact()
    outputs = [convert_in_scope(term, graph, x, f"t{i}") for i, term in enumerate(compact.terms)]
    if not outputs:
        return graph.rows_of(x, compact.baseline)
    total = outputs[0]
    for output in outputs[1:]:
        total = graph.node("Add", total, output)
    return graph.node("Add", total, graph.constant(compact.baseline, "baseline"))
