"""Links as nodes: ``convert_link`` has one implementation per type of link, including custom ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce, singledispatch
from typing import Any

import numpy as np
from onnx.reference import ReferenceEvaluator

from rffboost_ext import Link
from rffboost_ext.interop.links import HingeLink, OneVsRestLink
from rffboost_ext.losses import (
    AffineLink,
    BinaryLogitLink,
    IdentityLink,
    LabelMeanLink,
    LogitLink,
    LogLink,
    MultinomialLogitLink,
    ParameterLink,
)
from rffboost_ext.utils.typing import Array

from .graph import FLOAT64, ConversionError, Graph
from .model import assemble, value_info

HOW_TO_LINK = """Register one:

    from onnx_export import Graph, convert_link

    @convert_link.register
    def _(link: {name}, graph: Graph, raw: str) -> str:
        ...  # add nodes with graph.node(...) and constants with graph.constant(...)
        return name_of_the_response  # (n, W)"""

ORDERED = BinaryLogitLink, HingeLink, LabelMeanLink, MultinomialLogitLink, OneVsRestLink
"""Links with which the class of the largest raw score has the largest response."""


@singledispatch
def convert_link(link: Link, graph: Graph, raw: str) -> str:
    """Append nodes that compute the response of a link, and return the name of their output.

    The extension point for custom links: use ``@convert_link.register`` on a function whose first argument is
    annotated with the type of link. Every export checks that the nodes agree with ``link.inverse``.

    Parameters
    ----------
    link : Link
        The link.
    graph : Graph
        Graph to append to.
    raw : str
        Name of the raw scores, (n, C).

    Returns
    -------
    str
        Name of the class probabilities, (n, K), or of the response of a regression, (n, W).

    Raises
    ------
    TypeError
        If nothing is registered for the type of `link`.
    """
    name = type(link).__name__
    raise ConversionError(f"a link of type {name} has no ONNX form. {HOW_TO_LINK.format(name=name)}")


@convert_link.register
def _(link: IdentityLink, graph: Graph, raw: str) -> str:
    return raw


@convert_link.register
def _(link: LogLink, graph: Graph, raw: str) -> str:
    return graph.node("Exp", raw)


@convert_link.register
def _(link: LogitLink, graph: Graph, raw: str) -> str:
    log_odds = raw if link.slope == 1.0 else graph.node("Mul", raw, graph.constant(link.slope, "slope"))
    return graph.node("Sigmoid", log_odds)


@convert_link.register
def _(link: BinaryLogitLink, graph: Graph, raw: str) -> str:
    # Each class from its own score: in float32, 1 - p loses the digits of a small probability.
    return graph.node("Sigmoid", class_scores(graph, raw, link.slope))


@convert_link.register
def _(link: MultinomialLogitLink, graph: Graph, raw: str) -> str:
    return graph.node("Softmax", raw, axis=1)


@convert_link.register
def _(link: AffineLink, graph: Graph, raw: str) -> str:
    product = graph.node("Mul", convert_link(link.link, graph, raw), graph.constant(link.factor, "factor"))
    return graph.node("Add", product, graph.constant(link.shift, "shift"))


@convert_link.register
def _(link: ParameterLink, graph: Graph, raw: str) -> str:
    def factor(index: int, inner: Link) -> str:
        column = graph.node("Gather", raw, graph.constant(np.array([index]), "index"), axis=1)
        return convert_link(inner, graph, column)

    products = [
        reduce(lambda left, right: graph.node("Mul", left, right), [factor(*one) for one in column])
        for column in link.columns
    ]
    return products[0] if len(products) == 1 else graph.node("Concat", *products, axis=1)


@convert_link.register
def _(link: LabelMeanLink, graph: Graph, raw: str) -> str:
    halves = graph.node("Mul", convert_link(link.mean, graph, raw), graph.constant([[-0.5, 0.5]], "halves"))
    shifted = graph.node("Add", halves, graph.constant([[0.5, 0.5]], "half"))
    # 1 - relu(1 - relu(p)): older operator sets have no Clip of float64.
    one = graph.constant(1.0, "one")
    beyond = graph.node("Sub", one, graph.node("Relu", shifted))
    return graph.node("Sub", one, graph.node("Relu", beyond))


@dataclass(frozen=True, eq=False)
class ColumnLink(Link):
    """A column of a response, (n, 1).

    Parameters
    ----------
    columns : Link
        From raw scores to the response.
    column : int
    """

    columns: Link
    column: int

    def inverse(self, raw: Array) -> Array:
        return self.columns.inverse(raw)[:, [self.column]]


@convert_link.register
def _(link: ColumnLink, graph: Graph, raw: str) -> str:
    return graph.node(
        "Gather", response_nodes(link.columns, graph, raw), graph.constant([link.column], "column"), axis=1
    )


def class_scores(graph: Graph, raw: str, slope: float = 1.0) -> str:
    """``[-slope raw, slope raw]``, (n, 2), from raw scores (n, 1): one column for each of two classes."""
    key = "sides", raw, slope
    return graph.once(key, lambda: graph.node("Mul", raw, graph.constant([[-slope, slope]], "sides")))


def response_nodes(link: Link, graph: Graph, raw: str) -> str:
    """The response by ``convert_link``, computed once for each link and scores; an error names the link."""
    return graph.once(("response", id(link), raw), lambda: graph.output_of(convert_link, link, raw))


def class_columns(link: Link, graph: Graph, raw: str, n_outputs: int) -> str:
    """Scores (n, K) whose argmax is the predicted class, the class of the largest response.

    They are scores if these have the same order: in float32 responses near 0 or 1 are equal where scores differ.
    """
    if type(link) not in ORDERED:
        return response_nodes(link, graph, raw)
    return class_scores(graph, raw) if n_outputs == 1 else raw


def checked_link(link: Link, n_outputs: int) -> Link:
    """The link itself, after comparing its nodes with ``link.inverse``.

    Raises
    ------
    TypeError
        If the link has no ONNX form.
    ValueError
        If the nodes compute another response.
    """
    raw = scores_of_any_size(n_outputs)
    # Both may overflow at the largest scores.
    with np.errstate(all="ignore"):
        found, wanted = evaluate(link, raw), np.asarray(link.inverse(raw))
    if not agree(found, wanted):
        raise ConversionError(
            f"the ONNX form of {type(link).__name__} is not its inverse{difference(raw, found, wanted)}"
        )
    return link


def agree(found: Array, wanted: Array) -> bool:
    """Whether two responses have the same shape and numbers."""
    return found.shape == wanted.shape and bool(agreement(found, wanted).all())


def scores_of_any_size(n_outputs: int) -> Array:
    """Raw scores (n, C) of both signs, many of a usual size and some of every size that float32 holds.

    A response that is clipped, at 100 or a million, differs from its link beyond that only.
    """
    rng = np.random.default_rng(0)
    sizes = np.append(np.full(64, 4.0), np.geomspace(1e-3, 1e38, 2000))
    return sizes[:, None] * rng.uniform(-1.0, 1.0, (len(sizes), n_outputs))


def agreement(found: Array, wanted: Array) -> Array:
    """Where two responses are equal within the range of float32, or one of them overflows."""
    most = float(np.finfo(np.float32).max)
    near = np.isclose(np.clip(found, -most, most), np.clip(wanted, -most, most), rtol=1e-10, atol=1e-12)
    return np.asarray(near | np.isinf(found) | ~np.isfinite(wanted))


def difference(raw: Array, found: Array, wanted: Array) -> str:
    """In words, the first scores at which responses differ."""
    if found.shape != wanted.shape:
        return f", whose response has shape {wanted.shape}, not {found.shape}"
    row = int(np.flatnonzero(~agreement(found, wanted).all(axis=1))[0])
    numbers = [np.array2string(values[row], precision=4) for values in (raw, wanted, found)]
    return ", which for raw scores {} is {} and not {}".format(*numbers)


def evaluate(link: Link, raw: Array) -> Array:
    """The response for raw scores (n, C), computed in float64 by the nodes of `link`."""
    graph = Graph(FLOAT64, opset=13)
    out = response_nodes(link, graph, graph.input("raw", FLOAT64))
    graph.finish(out, "response", FLOAT64)
    inputs = [value_info("raw", FLOAT64, ["N", raw.shape[1]])]
    outputs: list[Any] = [value_info("response", FLOAT64, ["N", None])]
    results: Any = ReferenceEvaluator(assemble(graph, inputs, outputs)).run(None, {"raw": raw})
    return np.asarray(results[0])


def same_as_raw(link: Link) -> bool:
    """Whether the response is the raw score itself, so that a graph has one output for both."""
    graph = Graph(FLOAT64, opset=13)
    raw = graph.input("raw", FLOAT64)
    return convert_link(link, graph, raw) == raw
