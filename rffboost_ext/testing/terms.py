"""The laws of a term, checked on rows."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .comparison import require, require_close, require_shape, require_unchanged

FACTORS = -2.5, 0.0, 1.0
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "column by column": np.asfortranarray,
    "with gaps between the rows": lambda X: np.repeat(X, 2, axis=0)[::2],
    "in reverse order": lambda X: X[::-1].copy()[::-1],
}
"""Layouts of X in memory."""


def check_term(term: Term, X: Any, *others: Term) -> None:
    """Raise an AssertionError that names the law that a term breaks.

    Checked are: outputs of shape (n, C), finite, for any number of rows and any layout of X; rows that do not
    depend on one another; ``term.scaled(a)(X) == a * term(X)``; ``stack`` as the sum of terms of one family, also
    of stacked ones; ``features`` of shape (n, p); ``merged``, ``materialized`` and pickled terms as the same
    function; and arguments that are left unchanged.

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
    require(isinstance(term, Term), f"term must be a Term, got a {type(term).__name__}")
    require(X.ndim == 2 and len(X) >= 2, f"X must have shape (n, d) with at least two rows, got {np.shape(X)}")
    name = f"term {type(term).__name__}"
    outputs = require_unchanged(name, lambda: term(X), X=X)
    require(np.ndim(outputs) == 2, f"{name}: outputs must have shape (n, C), got {np.shape(outputs)}")
    require_shape(f"{name}: outputs", outputs, (len(X), outputs.shape[1]))
    slack = 1e-9 * max(1.0, float(np.abs(outputs).max()))
    check_rows(name, term, X, outputs, slack)
    check_scaled(name, term, X, outputs, slack)
    check_stack(name, [term, *others, term.scaled(-0.5)], X)
    check_forms(name, term, X, outputs, slack)


def check_rows(name: str, term: Term, X: Array, outputs: Array, slack: float) -> None:
    """The output of a row depends on that row only, in any layout; no rows have none."""
    for n_rows in (1, len(X) // 2):
        what = f"{name}: outputs of the first {n_rows} of {len(X)} rows"
        require_close(what, term(X[:n_rows]), outputs[:n_rows], atol=slack)
    require_shape(f"{name}: outputs of no rows", term(X[:0]), (0, outputs.shape[1]))
    for layout, arrange in LAYOUTS.items():
        require_close(f"{name}: outputs of X {layout}", term(arrange(X)), outputs, atol=slack)


def check_scaled(name: str, term: Term, X: Array, outputs: Array, slack: float) -> None:
    """``scaled`` multiplies the outputs, and leaves the term as it is."""
    for factor in FACTORS:
        what = f"{name}: scaled({factor})(X) must be {factor} times the outputs"
        require_close(what, term.scaled(factor)(X), factor * outputs, atol=slack)
    require_close(f"{name}: outputs after scaled()", term(X), outputs, 0.0)


def check_stack(name: str, terms: list[Term], X: Array) -> None:
    """``stack`` is the sum of terms of one family."""
    alike = [term for term in terms if term.family == terms[0].family]
    parts = [term(X) for term in alike]
    slack = 1e-9 * max(1.0, float(np.abs(parts).sum(axis=0).max()))
    kind = type(alike[0])
    stacked = kind.stack(alike)
    require_close(
        f"{name}: outputs of the stack of {len(alike)} terms", stacked(X), np.sum(parts, axis=0), atol=slack
    )
    nested = kind.stack([kind.stack(alike[:2]), *alike[2:]]) if len(alike) > 2 else stacked
    require_close(f"{name}: outputs of a stack of stacks", nested(X), stacked(X), atol=slack)
    for term, before in zip(alike, parts, strict=True):
        require_close(f"{name}: outputs after stack()", term(X), before, 0.0)


def check_forms(name: str, term: Term, X: Array, outputs: Array, slack: float) -> None:
    """Merged, materialized and pickled, the term is the same function; its features are an array of n rows."""
    for form in ("merged", "materialized"):
        require_close(f"{name}: outputs of {form}()", getattr(term, form)()(X), outputs, atol=slack)
    features = term.features(X)
    require(np.ndim(features) == 2, f"{name}: features must have shape (n, p), got {np.shape(features)}")
    require_shape(f"{name}: features", features, (len(X), features.shape[1]))
    if is_importable(term):
        require_close(
            f"{name}: outputs after pickling",
            pickle.loads(pickle.dumps(term.materialized()))(X),
            outputs,
            atol=slack,
        )


def is_importable(term: Term) -> bool:
    """Whether the class of a term, or of the one that it wraps, is found by its name, as pickling needs."""
    while isinstance(getattr(term, "term", None), Term):
        term = term.term  # type: ignore[attr-defined]
    kind = type(term)
    return getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
