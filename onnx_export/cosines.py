"""Cosines: a product of matrices, a wave and a weighted sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from rffboost_ext import Cosines, Term
from rffboost_ext.exporting import Array
from rffboost_ext.terms import ClipAndLog, Linear

from .conversion import convert_term, rounding_error, where_missing
from .graph import FLOAT32, Graph
from .scaling import Scaling, behind_scaling, center_and_scale

FOLDABLE = 1.0
"""A center that shifts every phase by at most this is folded into the phases."""
BLOCK = 4096
"""Rows of which arguments are computed at once."""


@convert_term.register
def _(term: Cosines, graph: Graph, x: str) -> str:
    center, bias = center_and_bias(term, graph.dtype)
    graph.n_cosines += len(term.phase)
    x = center_and_clip(center, term.clipping, graph, x)
    if term.projection is not None:
        x = graph.node("MatMul", x, graph.constant(term.projection.matrix.T, "projection"))
    z = graph.node("MatMul", x, graph.constant(term.omega.T, "omega"))
    # ONNX Runtime before 1.29 has no float64 Cos, but has Sin.
    wave, quarter = ("Cos", 0.0) if graph.dtype == FLOAT32 else ("Sin", np.pi / 2)
    z = graph.node("Add", z, graph.constant(bias + quarter, "bias"))
    return graph.node("MatMul", graph.node(wave, z), graph.constant(term.weight, "weight"))


def center_and_clip(center: Array | None, clipping: ClipAndLog | None, graph: Graph, x: str) -> str:
    """x less a center, imputed, clipped to a range per feature and log-transformed.

    Bounds relative to the center are as precise as the centered features. The operator Clip has one range for all
    features.
    """
    if center is not None:
        x = graph.node("Sub", x, graph.constant(center, "center"))
        clipping = None if clipping is None else clipping.translate(-center)
    if clipping is None:
        return x
    if clipping.means is not None:
        x = where_missing(graph, x, graph.constant(clipping.means, "fill"))
    if clipping.is_bounded:
        x = graph.node("Max", x, graph.constant(clipping.low, "low"))
        x = graph.node("Min", x, graph.constant(clipping.high, "high"))
    return x if clipping.log_scale is None else log_nodes(clipping, clipping.log_scale, graph, x)


def log_nodes(clipping: ClipAndLog, scale: Array, graph: Graph, x: str) -> str:
    """Clipped x with logarithms of the columns that are log-transformed."""
    is_log, (columns, ends, _) = scale != 0.0, clipping.log_columns
    anchor = np.zeros(len(scale))
    anchor[columns] = ends
    past = graph.node("Sub", x, graph.constant(anchor, "anchor"))
    past = graph.node("Div", past, graph.constant(np.where(is_log, scale, np.inf), "unit"))
    curve = graph.node("Log", graph.node("Add", past, graph.constant([1.0], "one")))
    curve = graph.node("Mul", curve, graph.constant(scale, "bend"))
    straight = graph.node("Mul", x, graph.constant(np.where(is_log, 0.0, 1.0), "straight"))
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


@rounding_error.register
def _(term: Cosines, X: Array, eps: float) -> float:
    # Plus rounding errors of T partial sums, the larger ones about as large as the outputs.
    sums = np.sqrt(len(term.phase)) * float(np.nanmax(np.abs(term(X)), initial=0.0))
    norm = np.sqrt(np.square(term.weight).sum(axis=0)).max(initial=0.0)
    return eps * float(4.0 * (1.0 + largest_argument(term, X)) * norm + sums)


def largest_argument(term: Cosines, X: Array) -> float:
    """``max|z|`` of the arguments z of the cosines, and of the summands of z, which may cancel."""
    if not X.size or not term.omega.size:
        return 0.0
    clipped = term.clip_and_log(X)
    centered = clipped if term.center is None else clipped - term.center
    arguments = (np.abs(term.angles(X[start : start + BLOCK])) for start in range(0, len(X), BLOCK))
    whole = max(float(np.nanmax(z, initial=0.0)) for z in arguments)
    reach = sizes_of(centered, term.clipping) * np.abs(term.frequencies).max(axis=0)
    return max(whole, float(reach.max()), float(np.abs(term.phase).max()))


def sizes_of(X: Array, clipping: ClipAndLog | None) -> Array:
    """The size of each feature, (d,), to which rounding errors of clipped X (n, d) are relative."""
    sizes = np.nanmax(np.abs(X), axis=0, initial=0.0)
    if clipping is None or clipping.log_scale is None:
        return np.asarray(sizes)
    # Rounding errors of logarithms are relative to the scale of the log transform.
    return np.maximum(sizes, np.abs(clipping.log_scale))


@behind_scaling.register
def _(term: Cosines | Linear, scaling: Scaling, width: int, dtype: str) -> Term:
    return term.standardized(*center_and_scale(scaling, width))
