"""Links as nodes: ``convert_link`` has one implementation per type of link, including custom ones."""

from __future__ import annotations

from functools import reduce, singledispatch
from typing import Any

import numpy as np

from rffboost_ext import Link
from rffboost_ext.exporting import HingeLink, OneVsRestLink, SignedSquareLink, SoftplusLink
from rffboost_ext.losses import (
    AffineLink,
    BinaryLogitLink,
    IdentityLink,
    LabelMeanLink,
    LogitLink,
    LogLink,
    MultinomialLogitLink,
    ParameterLink,
    SortedLink,
)

from .conversion import no_form
from .graph import Graph

ORDERED = BinaryLogitLink, HingeLink, LabelMeanLink, MultinomialLogitLink, OneVsRestLink
"""Links with which the class of the largest raw score has the largest response."""


@singledispatch
def convert_link(link: Link, graph: Graph, raw: str) -> str:
    """Append nodes that compute the response of a link, and return the name of their output.

    The extension point for custom links: use ``@convert_link.register`` on a function whose first argument is
    annotated with the type of link. Every export compares the nodes with ``link.inverse``.

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

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from onnx_export import Graph, convert_link
    >>> from rffboost_ext import Link
    >>> @dataclass(frozen=True)
    ... class AbsoluteLink(Link):
    ...     def inverse(self, raw):
    ...         return np.abs(raw)
    >>> @convert_link.register
    ... def _(link: AbsoluteLink, graph: Graph, raw: str) -> str:
    ...     return graph.node("Abs", raw)
    >>> graph = Graph(np.float32, opset=18)
    >>> response = convert_link(AbsoluteLink(), graph, graph.input("score", np.float32))
    >>> [node.op_type for node in graph.nodes]
    ['Abs']
    """
    raise no_form("link", link, "raw", "the_response  # (n, W)")


@convert_link.register
def _(link: IdentityLink, graph: Graph, raw: str) -> str:
    return raw


@convert_link.register
def _(link: LogLink, graph: Graph, raw: str) -> str:
    return graph.node("Exp", raw)


@convert_link.register
def _(link: LogitLink | OneVsRestLink, graph: Graph, raw: str) -> str:
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
def _(link: SortedLink, graph: Graph, raw: str) -> str:
    # TopK sorts in descending order; before operator set 11 nothing sorts in ascending order.
    attributes: dict[str, Any] = {"axis": 1}
    inputs = [graph.node("Neg", raw)]
    if graph.opset < 10:
        attributes["k"] = link.size
    else:
        inputs.append(graph.constant([link.size], "size"))
    return graph.node("Neg", graph.node("TopK", *inputs, n_outputs=2, **attributes)[0])


@convert_link.register
def _(link: LabelMeanLink, graph: Graph, raw: str) -> str:
    halves = graph.node("Mul", convert_link(link.mean, graph, raw), graph.constant([[-0.5, 0.5]], "halves"))
    shifted = graph.node("Add", halves, graph.constant([[0.5, 0.5]], "half"))
    # 1 - relu(1 - relu(p)): older operator sets have no Clip of float64.
    one = graph.constant(1.0, "one")
    beyond = graph.node("Sub", one, graph.node("Relu", shifted))
    return graph.node("Sub", one, graph.node("Relu", beyond))


@convert_link.register
def _(link: HingeLink, graph: Graph, raw: str) -> str:
    second = graph.cast(graph.node("Greater", raw, graph.constant(0.0, "boundary")), graph.dtype)
    first = graph.node("Sub", graph.constant(1.0, "one"), second)
    return graph.node("Concat", first, second, axis=1)


@convert_link.register
def _(link: SoftplusLink, graph: Graph, raw: str) -> str:
    # ONNX Runtime's Softplus is of single precision.
    tail = graph.node("Exp", graph.node("Neg", graph.node("Abs", raw)))
    tail = graph.node("Log", graph.node("Add", tail, graph.constant(1.0, "one")))
    return graph.node("Add", graph.node("Relu", raw), tail)


@convert_link.register
def _(link: SignedSquareLink, graph: Graph, raw: str) -> str:
    return graph.node("Mul", graph.node("Abs", raw), raw)


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
