"""Cosines of rows of which one column changes: their angles change by the frequencies of this column."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, final

import numpy as np

from ..core import Term
from ..terms import Cosines
from ..terms.clipping import ClipAndLog
from ..terms.ensemble import Ensemble
from ..utils.typing import Array


@final
@dataclass(frozen=True, eq=False)
class VariedCosines(Term):
    """A sum of cosines at n fixed rows, as a function of one column.

    Parameters
    ----------
    angles : ndarray of shape (n, M)
        Arguments of the cosines for the value 0 of the column, after clipping.
    omega : ndarray of shape (M,)
        Frequencies of the column.
    weight : ndarray of shape (M, C)
        Weights.
    column : int
        Index of the column in X.
    clipping : ClipAndLog, optional
        That of the column.
    """

    angles: Array
    omega: Array
    weight: Array
    column: int
    clipping: ClipAndLog | None

    @classmethod
    def of(cls, term: Cosines, X: Array, column: int) -> VariedCosines:
        """The cosines of `term` at the rows of X (n, d)."""
        at = np.array([column])
        clipping = None if term.clipping is None else term.clipping.columns(at)
        varied = cls(term.angles(X), term.column_frequencies(at)[:, 0], term.weight, column, clipping)
        return replace(varied, angles=varied.angles - varied.values(X) * varied.omega)

    def values(self, X: Array) -> Array:
        """The column of X (n, d) after clipping, (n, 1)."""
        values = X[:, [self.column]].astype(np.float64)
        return values if self.clipping is None else self.clipping(values)

    def __call__(self, X: Array) -> Array:
        return np.asarray(np.cos(self.angles + self.values(X) * self.omega) @ self.weight)

    def scaled(self, factor: float) -> VariedCosines:
        return replace(self, weight=factor * self.weight)

    @classmethod
    def stack(cls, terms: Sequence[VariedCosines]) -> VariedCosines:
        return replace(terms[0], weight=np.sum([term.weight for term in terms], axis=0))

    @property
    def family(self) -> Hashable:
        """Terms of the same angles can be stacked."""
        return VariedCosines, id(self.angles)


def with_varied_column(estimator: Any, X: Any, column: int) -> Any:
    """An estimator that predicts the same for rows X (n, d) of which only one column changes, faster.

    Cosines of more columns than cosines keep their angles, which take less memory than the rows. Other terms, and
    estimators without an ensemble, are used as they are.
    """
    ensemble = getattr(estimator, "ensemble_", None)
    if not isinstance(ensemble, Ensemble):
        return estimator
    compact = ensemble.compact()
    if not any(is_wide(term) for term in compact.terms):
        return estimator
    rows, varied = estimator.encoder_.transform(X), copy(estimator)
    terms = tuple(VariedCosines.of(term, rows, column) if is_wide(term) else term for term in compact.terms)
    varied.ensemble_ = replace(compact, terms=terms)
    return varied


def is_wide(term: Term) -> TypeGuard[Cosines]:
    """Whether a term is a sum of fewer cosines than columns."""
    return isinstance(term, Cosines) and len(term.phase) < term.n_features
