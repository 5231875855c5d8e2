"""The laws of terms, checked on a few rows for terms that are not of this package."""

from __future__ import annotations

from ..core import Term
from .cosines import Cosines
from .expanded import Expanded
from .standardized import Standardized
from .trees import Trees


def innermost_term(term: Term) -> Term:
    """What a learner fitted, without the standardisation, imputation and encoding around it."""
    while isinstance(term, Expanded | Standardized):
        term = term.term
    return term


def is_package_term(term: Term) -> bool:
    """Whether a learner fitted cosines or trees, and not a term of the user's."""
    return isinstance(innermost_term(term), Cosines | Trees)
