"""Terms whose outputs are columns of an ensemble of several: quantiles are exported as one ensemble."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from rffboost_ext import Ensemble, Term
from rffboost_ext.exporting import Array

from .conversion import convert_in_scope, convert_term, rounding_error
from .graph import Graph


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
