"""Distributions: a file predicts the mean, as the estimator does, and has the parameters beside it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from rffboost_ext import Link, RFFBoostDistribution
from rffboost_ext.estimators.base import BaseRFFBoost
from rffboost_ext.losses import Distribution, LogNormal, ZeroInflatedPoisson
from rffboost_ext.utils.typing import Array

from .graph import ConversionError, Graph
from .links import convert_link, evaluate, response_nodes
from .source import ExportSource, export_source


@dataclass(frozen=True, eq=False)
class MeanLink(Link):
    """The mean of a distribution, (n, 1), from the scores of its parameters."""

    distribution: Distribution

    def inverse(self, raw: Array) -> Array:
        return self.distribution.mean(self.distribution.link.inverse(raw))[:, None]


@singledispatch
def convert_mean(distribution: Distribution, graph: Graph, parameters: str) -> str:
    """Append nodes that compute the mean of a distribution, and return the name of their output, (n, 1).

    The extension point for distributions whose mean is not their first parameter: use ``@convert_mean.register``
    on a function whose first argument is annotated with the type of distribution. Every export checks that the
    nodes agree with ``distribution.mean``.

    Parameters
    ----------
    distribution : Distribution
    graph : Graph
        Graph to append to.
    parameters : str
        Name of the response, (n, W).

    Returns
    -------
    str
    """
    return column(graph, parameters, 0)


def column(graph: Graph, parameters: str, place: int) -> str:
    """A column of the parameters, (n, 1)."""
    return graph.node("Gather", parameters, graph.constant([place], "parameter"), axis=1)


@convert_mean.register
def _(distribution: LogNormal, graph: Graph, parameters: str) -> str:
    sigma = column(graph, parameters, 1)
    half = graph.node("Mul", graph.node("Mul", sigma, sigma), graph.constant(0.5, "half"))
    return graph.node("Exp", graph.node("Add", column(graph, parameters, 0), half))


@convert_mean.register
def _(distribution: ZeroInflatedPoisson, graph: Graph, parameters: str) -> str:
    others = graph.node("Sub", graph.constant(1.0, "one"), column(graph, parameters, 1))
    return graph.node("Mul", column(graph, parameters, 0), others)


@convert_link.register
def _(link: MeanLink, graph: Graph, raw: str) -> str:
    return convert_mean(link.distribution, graph, response_nodes(link.distribution.link, graph, raw))


@export_source.register
def _(model: RFFBoostDistribution) -> ExportSource:
    source, link = export_source.dispatch(BaseRFFBoost)(model), MeanLink(model.loss_)
    raw = np.random.default_rng(0).uniform(-3.0, 3.0, (64, source.ensemble.n_outputs))
    if not np.allclose(evaluate(link, raw), link.inverse(raw), rtol=1e-9, equal_nan=True):
        name = type(model.loss_).__name__
        raise ConversionError(
            f"the mean of the distribution {name} has no ONNX form: it is not the first parameter; register one "
            f"with onnx_export.distributions.convert_mean.register({name})"
        )
    return replace(source, link=link, response=link.inverse)
