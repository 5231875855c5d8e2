"""Quantile and conformal regressors: one ensemble of several outputs, and links on its response."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rffboost_ext import ConformalRegressor, Cosines, Ensemble, Link, RFFBoostQuantileRegressor, Term, Trees
from rffboost_ext.losses import IdentityLink
from rffboost_ext.terms import Mapped
from rffboost_ext.utils.typing import Array

from .conversion import convert_in_scope, convert_term
from .graph import Graph
from .links import convert_link, response_nodes
from .source import ExportSource, ExtraOutput, export_source, names_of, require_own_predictions
from .tolerance import rounding_error


@dataclass(frozen=True, eq=False)
class OutputProjection(Term):
    """``x -> term(x) @ matrix``: a term whose outputs are some columns of several.

    Parameters
    ----------
    term : Term
        A term of C outputs.
    matrix : ndarray of shape (C, Q)
        Weights of the term's outputs in the Q outputs.
    """

    term: Term
    matrix: Array

    def __call__(self, X: Array) -> Array:
        return self.term(X) @ self.matrix

    def features(self, X: Array) -> Array:
        return self.term.features(X)

    def merged(self) -> OutputProjection:
        return replace(self, term=self.term.merged())

    def scaled(self, factor: float) -> OutputProjection:
        return replace(self, term=self.term.scaled(factor))

    @classmethod
    def stack(cls, terms: Sequence[OutputProjection]) -> OutputProjection:
        return replace(terms[0], term=type(terms[0].term).stack([one.term for one in terms]))

    @property
    def family(self) -> Hashable:
        return OutputProjection, self.term.family, self.matrix.tobytes()

    def gradient(self, X: Array) -> Array:
        return np.asarray(np.einsum("ncd,cq->nqd", self.term.gradient(X), self.matrix))


@singledispatch
def project_outputs(term: Term, matrix: Array) -> Term:
    """``x -> term(x) @ matrix``, in closed form where there is one."""
    return OutputProjection(term, matrix)


@project_outputs.register
def _(term: Cosines, matrix: Array) -> Term:
    return replace(term, weight=term.weight @ matrix)


@project_outputs.register
def _(term: Trees, matrix: Array) -> Term:
    if not len(matrix) == np.count_nonzero(matrix) == 1:
        return OutputProjection(term, matrix)
    place = np.full(len(term.roots), np.flatnonzero(matrix)[0])
    return replace(term.scaled(matrix.sum()), output=place, n_outputs=matrix.shape[1])


@project_outputs.register
def _(term: Mapped, matrix: Array) -> Term:
    return replace(term, term=project_outputs(term.term, matrix))


@convert_term.register
def _(term: OutputProjection, graph: Graph, x: str) -> str:
    inner = convert_in_scope(term.term, graph, x, "inner")
    return graph.node("MatMul", inner, graph.constant(term.matrix, "matrix"))


@rounding_error.register
def _(term: OutputProjection, X: Array, eps: float) -> float:
    return rounding_error(term.term, X, eps)


def concatenate_outputs(ensembles: Sequence[Ensemble]) -> Ensemble:
    """Ensembles of one output each, combined into one of several outputs."""
    columns = np.eye(len(ensembles))
    flat = [ensemble.to_weighted_sum() for ensemble in ensembles]
    terms = [project_outputs(term, columns[[k]]) for k, ensemble in enumerate(flat) for term in ensemble.terms]
    moves = np.concatenate([ensemble.moves for ensemble in flat])
    return Ensemble(np.concatenate([ensemble.baseline for ensemble in flat]), tuple(terms), moves).compact()


@dataclass(frozen=True)
class SortLink(Link):
    """The scores of each row in increasing order.

    Parameters
    ----------
    size : int
        Scores per row.
    """

    size: int

    def inverse(self, raw: Array) -> Array:
        return np.sort(raw, axis=1)


@dataclass(frozen=True)
class ComposedLink(Link):
    """The response of one link is the raw score of another."""

    first: Link
    second: Link

    def inverse(self, raw: Array) -> Array:
        return self.second.inverse(self.first.inverse(raw))


@dataclass(frozen=True)
class MedianLink(Link):
    """The median of the sorted columns of a response.

    Parameters
    ----------
    columns : Link
        From raw scores to the columns.
    size : int
        How many there are.
    """

    columns: Link
    size: int

    def inverse(self, raw: Array) -> Array:
        return np.median(self.columns.inverse(raw), axis=1, keepdims=True)


@dataclass(frozen=True)
class IntervalLink(Link):
    """The first and the last column of a response, each moved outwards by a margin, (n, 2).

    Parameters
    ----------
    columns : Link
        From raw scores to the columns.
    size : int
        How many there are.
    margin : float
        In units of the response; where it is so negative that the ends would cross, both are the midpoint.
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
def _(link: SortLink, graph: Graph, raw: str) -> str:
    # TopK sorts in descending order; before operator set 11 nothing sorts in ascending order.
    attributes: dict[str, Any] = {"axis": 1}
    inputs = [graph.node("Neg", raw)]
    if graph.opset < 10:
        attributes["k"] = link.size
    else:
        inputs.append(graph.constant([link.size], "size"))
    return graph.node("Neg", graph.node("TopK", *inputs, n_outputs=2, **attributes)[0])


@convert_link.register
def _(link: ComposedLink, graph: Graph, raw: str) -> str:
    return convert_link(link.second, graph, response_nodes(link.first, graph, raw))


@convert_link.register
def _(link: MedianLink, graph: Graph, raw: str) -> str:
    weight = np.zeros((link.size, 1))
    for column in ((link.size - 1) // 2, link.size // 2):
        weight[column] += 0.5
    columns = response_nodes(link.columns, graph, raw)
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


@export_source.register
def _(model: RFFBoostQuantileRegressor) -> ExportSource:
    check_is_fitted(model)
    require_own_predictions(model, RFFBoostQuantileRegressor)
    sources = [export_source(booster) for booster in model.estimators_]
    size = len(sources)
    link = SortLink(size) if size > 1 else IdentityLink()
    return replace(
        sources[0],
        estimator=type(model).__name__,
        loss=", ".join(source.loss for source in sources),
        ensemble=concatenate_outputs([source.ensemble for source in sources]),
        link=link,
        raw=lambda X: np.hstack([source.raw(X) for source in sources]),
        response=link.inverse,
        feature_names=names_of(model),
    )


@export_source.register
def _(model: ConformalRegressor) -> ExportSource:
    check_is_fitted(model)
    require_own_predictions(model, ConformalRegressor)
    source = export_source(model.estimator_)
    if source.classes is not None:
        raise TypeError(f"the estimator of a ConformalRegressor must be a regressor, got {source.estimator}")
    size, columns = source.width, source.link
    # Quantiles are sorted already.
    in_order = columns if isinstance(columns, SortLink) else ComposedLink(columns, SortLink(size))
    interval = ExtraOutput(
        "interval",
        IntervalLink(columns, size, model.margin_),
        lambda raw: model.add_margin(source.response(raw)),
        2,
    )
    return replace(
        source,
        estimator=f"{type(model).__name__}({source.estimator})",
        link=columns if size == 1 else MedianLink(in_order, size),
        response=lambda raw: np.median(source.response(raw), axis=1, keepdims=True),
        extras=(*source.extras, interval),
    )
