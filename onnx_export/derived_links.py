"""Links that exports derive from others: columns, means of distributions, quantiles and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from rffboost_ext import Link, Loss
from rffboost_ext.exporting import Array
from rffboost_ext.losses import LogNormal, SortedLink, ZeroInflatedPoisson

from .graph import ConversionError, Graph
from .links import convert_link, response_nodes


@dataclass(frozen=True, eq=False)
class ColumnLink(Link):
    """A column of the response of the link `columns`, (n, 1)."""

    columns: Link
    column: int

    def inverse(self, raw: Array) -> Array:
        return self.columns.inverse(raw)[:, [self.column]]


@convert_link.register
def _(link: ColumnLink, graph: Graph, raw: str) -> str:
    return graph.node(
        "Gather", response_nodes(link.columns, graph, raw), graph.constant([link.column], "column"), axis=1
    )


@dataclass(frozen=True)
class MedianLink(Link):
    """The median of the columns of the response of the link `columns`, `size` in number."""

    columns: Link
    size: int

    def inverse(self, raw: Array) -> Array:
        return np.median(self.columns.inverse(raw), axis=1, keepdims=True)


@dataclass(frozen=True)
class IntervalLink(Link):
    """The first and the last of `size` columns of a response, each moved outwards by a margin, (n, 2).

    The margin is in units of the response; where it is so negative that the ends would cross, both are the middle.
    """

    columns: Link
    size: int
    margin: float

    def inverse(self, raw: Array) -> Array:
        columns = self.columns.inverse(raw)
        middle, half = 0.5 * (columns[:, 0] + columns[:, -1]), 0.5 * (columns[:, -1] - columns[:, 0])
        half = np.maximum(half + self.margin, 0.0)
        return np.column_stack([middle - half, middle + half])


@convert_link.register
def _(link: MedianLink, graph: Graph, raw: str) -> str:
    weight = np.zeros((link.size, 1))
    for column in ((link.size - 1) // 2, link.size // 2):
        weight[column] += 0.5
    columns = response_nodes(link.columns, graph, raw)
    if not isinstance(link.columns, SortedLink):
        columns = convert_link(SortedLink(link.size), graph, columns)
    return graph.node("MatMul", columns, graph.constant(weight, "middle"))


@convert_link.register
def _(link: IntervalLink, graph: Graph, raw: str) -> str:
    halves = np.zeros((link.size, 2))
    halves[0] += 0.5, -0.5
    halves[-1] += 0.5, 0.5
    columns = response_nodes(link.columns, graph, raw)
    middle = graph.node("MatMul", columns, graph.constant(halves[:, :1], "halves"))
    half = graph.node("MatMul", columns, graph.constant(halves[:, 1:], "halves"))
    half = graph.node("Relu", graph.node("Add", half, graph.constant([[link.margin]], "margin")))
    sides = graph.node("MatMul", half, graph.constant([[-1.0, 1.0]], "sides"))
    return graph.node("Add", graph.node("MatMul", middle, graph.constant([[1.0, 1.0]], "both")), sides)


@dataclass(frozen=True, eq=False)
class MeanLink(Link):
    """The mean of a distribution, (n, 1), from the scores of its parameters."""

    distribution: Loss

    def inverse(self, raw: Array) -> Array:
        return self.distribution.prediction(self.distribution.link.inverse(raw))


@singledispatch
def convert_mean(distribution: Loss, graph: Graph, parameters: str) -> str:
    """Append nodes that compute the mean of a distribution, and return the name of their output, (n, 1).

    The extension point for distributions, and other losses, whose prediction is not the first column of the
    response: use ``@convert_mean.register`` on a function whose first argument is annotated with the type of the
    loss. Every export checks that the nodes agree with ``Loss.prediction``.

    Parameters
    ----------
    distribution : Loss
    graph : Graph
        Graph to append to.
    parameters : str
        Name of the response, (n, W).

    Returns
    -------
    str
    """
    return parameter(graph, parameters, 0)


def parameter(graph: Graph, parameters: str, place: int) -> str:
    """A column of the parameters, (n, 1)."""
    return graph.node("Gather", parameters, graph.constant([place], "parameter"), axis=1)


@convert_mean.register
def _(distribution: LogNormal, graph: Graph, parameters: str) -> str:
    sigma = parameter(graph, parameters, 1)
    half = graph.node("Mul", graph.node("Mul", sigma, sigma), graph.constant(0.5, "half"))
    return graph.node("Exp", graph.node("Add", parameter(graph, parameters, 0), half))


@convert_mean.register
def _(distribution: ZeroInflatedPoisson, graph: Graph, parameters: str) -> str:
    others = graph.node("Sub", graph.constant(1.0, "one"), parameter(graph, parameters, 1))
    return graph.node("Mul", parameter(graph, parameters, 0), others)


@convert_link.register
def _(link: MeanLink, graph: Graph, raw: str) -> str:
    return convert_mean(link.distribution, graph, response_nodes(link.distribution.link, graph, raw))


def prediction_link(loss: Loss, n_outputs: int) -> Link:
    """The link from raw scores to the one prediction (n, 1) of a loss with a wide response.

    A ConversionError if it is not the first column and no nodes of its own are registered.
    """
    raw = np.random.default_rng(0).uniform(-3.0, 3.0, (64, n_outputs))
    response = loss.link.inverse(raw)
    has_nodes = convert_mean.dispatch(type(loss)) is not convert_mean.dispatch(object)
    if not has_nodes and not np.allclose(loss.prediction(response)[:, 0], response[:, 0], equal_nan=True):
        name = type(loss).__name__
        raise ConversionError(
            f"the prediction of the loss {name} has no ONNX form: it is not the first column of the response; "
            f"register one with onnx_export.derived_links.convert_mean.register({name})"
        )
    return MeanLink(loss)
