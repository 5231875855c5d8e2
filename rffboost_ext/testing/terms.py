"""The check of a term."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contracts.comparison import require_that
from ..contracts.terms import TermSample, keep_laws
from ..core import Term


def check_term(term: Term, X: Any, *others: Term) -> None:
    """Raise an AssertionError that names the law that a term breaks.

    Checked are, up to 1e-6 of the largest output: outputs of shape (n, C), finite, for any number of rows and any
    layout of X; rows that do not depend on one another; ``term.scaled(a)(X) == a * term(X)``; ``stack`` as the sum
    of terms of one family, also of stacked ones; ``features`` of shape (n, p); ``merged``, ``materialized`` and
    pickled terms as the same function; and arguments that are left unchanged.

    Parameters
    ----------
    term : Term
        The term.
    X : array-like of shape (n, d)
        Rows in the units that the term takes, at least two.
    *others : Term
        Further terms of the same learner, which should differ from `term` in everything that can differ: they are
        stacked with it if their ``family`` is the same.

    Raises
    ------
    AssertionError
        If the term breaks a law.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import Cosines
    >>> from rffboost_ext.testing import check_term
    >>> rng = np.random.default_rng(0)
    >>> first, second = (Cosines(rng.standard_normal((2, 3)), np.ones(2), np.ones((2, 1))) for _ in range(2))
    >>> check_term(first, rng.standard_normal((20, 3)), second)
    """
    X = np.array(X, dtype=np.float64)
    require_that(isinstance(term, Term), f"term must be a Term, got a {type(term).__name__}")
    require_that(
        X.ndim == 2 and len(X) >= 2, f"X must have shape (n, d) with at least two rows, got {np.shape(X)}"
    )
    sample = TermSample([term, *(other for other in others if other.family == term.family)], X)
    keep_laws(sample)
