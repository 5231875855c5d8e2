"""The laws of a term, checked on rows."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .comparison import named_errors, require, require_close, require_shape, require_unchanged

FACTORS = -2.5, 0.0, 1.0
# Relative to the largest output: terms may compute in single precision.
TOLERANCE = 1e-6
LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "column by column": np.asfortranarray,
    "with gaps between the rows": lambda X: np.repeat(X, 2, axis=0)[::2],
    "in reverse order": lambda X: X[::-1].copy()[::-1],
}
"""Layouts of X in memory."""


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
    require(isinstance(term, Term), f"term must be a Term, got a {type(term).__name__}")
    require(X.ndim == 2 and len(X) >= 2, f"X must have shape (n, d) with at least two rows, got {np.shape(X)}")
    name = f"term {type(term.innermost).__name__}"
    outputs = require_unchanged(name, lambda: term(X), X=X)
    require_rows(f"{name}: outputs", outputs, "(n, C)", len(X))
    slack = TOLERANCE * float(np.abs(outputs).max())
    for check in (check_rows, check_scaled, check_forms):
        with named_errors(f"{name}: {check.__name__}"):
            check(name, term, X, outputs, slack)
    with named_errors(f"{name}: stack"):
        check_stack(name, [term, *others, term.scaled(-0.5)], X)


def require_rows(what: str, found: Any, shape: str, n_rows: int) -> None:
    """Raise an AssertionError unless `found` is an array of finite numbers of two dimensions and so many rows."""
    require(np.ndim(found) == 2, f"{what} must have shape {shape}, got {np.shape(found)}")
    require_shape(what, found, (n_rows, np.shape(found)[1]))


def check_rows(name: str, term: Term, X: Array, outputs: Array, slack: float) -> None:
    """The output and the features of a row depend on that row only, in any layout."""
    features = require_unchanged(f"{name}: features", lambda: term.features(X), X=X)
    require_rows(f"{name}: features", features, "(n, p)", len(X))
    for n_rows in (1, len(X) // 2):
        what = f"{name}: outputs of the first {n_rows} of {len(X)} rows"
        require_close(what, term(X[:n_rows]), outputs[:n_rows], atol=slack)
        what, size = what.replace("outputs", "features"), TOLERANCE * np.abs(features).max(initial=0.0)
        require_close(what, term.features(X[:n_rows]), features[:n_rows], atol=size)
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
    slack = TOLERANCE * float(np.abs(parts).sum(axis=0).max())
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
    """Merged, materialized and pickled, the term is the same function."""
    for form in ("merged", "materialized"):
        require_close(f"{name}: outputs of {form}()", getattr(term, form)()(X), outputs, atol=slack)
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
