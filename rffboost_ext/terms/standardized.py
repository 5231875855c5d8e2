"""Terms of standardised features as terms in the original units."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import final

from ..core import Term
from ..utils.typing import Array
from .cosines import Cosines
from .symmetric_trees import SymmetricTrees


@final
@dataclass(frozen=True, eq=False)
class Standardized(Term):
    """``x -> term((x - center) / scale)``.

    Parameters
    ----------
    term : Term
        A function of standardised features.
    center, scale : ndarray of shape (d,)
        Mean and standard deviation of each feature.
    """

    term: Term
    center: Array
    scale: Array

    def __call__(self, X: Array) -> Array:
        return self.term((X - self.center) / self.scale)

    def features(self, X: Array) -> Array:
        return self.term.features((X - self.center) / self.scale)

    def scaled(self, factor: float) -> Standardized:
        return replace(self, term=self.term.scaled(factor))

    @classmethod
    def stack(cls, terms: Sequence[Standardized]) -> Standardized:
        return replace(terms[0], term=type(terms[0].term).stack([t.term for t in terms]))

    @property
    def family(self) -> Hashable:
        return Standardized, self.term.family, self.center.tobytes(), self.scale.tobytes()

    def merged(self) -> Standardized:
        return replace(self, term=self.term.merged())

    def materialized(self) -> Standardized:
        return replace(self, term=self.term.materialized())


@singledispatch
def restore(term: Term, center: Array, scale: Array) -> Term:
    """The function ``x -> term((x - center) / scale)`` as a term in the original units.

    Types of terms with a closed form register it here. Any other term is wrapped in :class:`Standardized`.

    Parameters
    ----------
    term : Term
        A function of standardised features, (n, d).
    center, scale : ndarray of shape (d,)
        Mean and standard deviation of each feature.

    Returns
    -------
    Term
        A function of the original features, (n, d).
    """
    return Standardized(term, center, scale)


@restore.register
def _(term: Cosines, center: Array, scale: Array) -> Term:
    return term.standardized(center, scale)


@restore.register
def _(term: SymmetricTrees, center: Array, scale: Array) -> Term:
    # They are grown on the original features.
    return term
