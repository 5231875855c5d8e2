"""The laws of terms, checked on a few rows for terms of users' own classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from ..core import Term
from ..utils.typing import Array
from .ensemble import group_by_family

V = TypeVar("V")

# Rows on which laws are checked, and terms of a family that are checked one by one.
N_ROWS, N_TERMS = 32, 8
# Largest difference, relative to the size of the summands: terms may compute in single precision.
TOLERANCE = 1e-4
FACTOR = -0.5


def is_package_term(term: Term) -> bool:
    """Whether a learner fitted a term of this package, such as cosines or trees, and not one of the user's."""
    return type(term.innermost).__module__.partition(".")[0] == __name__.partition(".")[0]


def check_laws(terms: Sequence[Term], X: Array, output: Array | None = None) -> None:
    """Raise a ValueError that names the law if a user's term breaks one on some of the rows of a fit.

    Checked are: rows that do not depend on one another; ``term.scaled(a)(X) == a * term(X)``; ``materialized`` and
    ``merged`` as the same function; ``stack`` as the sum of all terms of one family; X and terms that are left
    unchanged.

    Parameters
    ----------
    terms : sequence of Term
        Terms of a fit; those of this package are not checked.
    X : ndarray of shape (n, d)
        Its rows.
    output : ndarray of shape (n, C), optional
        What the fit takes as the outputs of the last term on these rows, such as those that its learner returned.
    """
    rows = spread(len(X), N_ROWS)
    for family in group_by_family([term for term in terms if not is_package_term(term)]).values():
        check = LawCheck(type(family[0].innermost).__name__, rows, X[rows])
        check_family(family, check)
        if output is not None and family[-1] is terms[-1]:
            law = "the outputs that the learner returned must be term(X)"
            check.require_close(law, output[rows], check.outputs(law, terms[-1]), np.abs(output).max(axis=0))


def check_family(terms: Sequence[Term], check: LawCheck) -> None:
    """Check some terms of a family one by one, and the stack of all."""
    outputs = [check.outputs("term(X) must be defined for some of the rows", term) for term in terms]
    chosen = [(terms[k], outputs[k]) for k in spread(len(terms), N_TERMS)]
    for term, output in chosen:
        check.require_rows(term, output)
        check.require_same("materialized() must be the same function", term.materialized, output)
        scaled = partial(term.scaled, FACTOR)
        check.require_same(f"scaled({FACTOR})(X) must be {FACTOR} * term(X)", scaled, FACTOR * output)
        check.require_same("scaled() must not change the term", partial(identity, term), output)
    stable = [term.materialized() for term in terms]
    total, size = np.sum(outputs, axis=0), np.abs(outputs).sum(axis=0).max(axis=0)
    law = f"stack of {len(terms)} terms must be their sum"
    stack = check.require_same(law, partial(type(stable[0]).stack, stable), total, size)
    check.require_same("merged() must be the same function", stack.merged, total, size)
    for term, output in chosen:
        check.require_same("stack() must not change its terms", partial(identity, term), output)


@dataclass(frozen=True)
class LawCheck:
    """A check of laws on rows.

    Parameters
    ----------
    name : str
        Name of the class of the terms.
    rows : ndarray of shape (r,)
        Indices of the rows.
    X : ndarray of shape (r, d)
        The rows.
    """

    name: str
    rows: Array
    X: Array

    def outputs(self, law: str, term: Term) -> Array:
        """Outputs of a term, (r, C)."""
        return np.asarray(self.attempt(law, partial(term, self.X.copy())), dtype=np.float64)

    def attempt(self, law: str, call: Callable[[], V]) -> V:
        """The result of a call, whose error names the law."""
        try:
            return call()
        except Exception as error:
            raise ValueError(f"term {self.name}: {law}, got {type(error).__name__}: {error}") from error

    def require_same(self, law: str, make: Callable[[], Term], wanted: Array, size: Array | None = None) -> Term:
        """The term that a call makes, if its outputs are the wanted ones; `size` (C,) is that of the summands."""
        term = self.attempt(law, make)
        self.require_close(
            law, self.outputs(law, term), wanted, np.abs(wanted).max(axis=0) if size is None else size
        )
        return term

    def require_rows(self, term: Term, output: Array) -> None:
        """A row has the same output whichever rows are beside it, and X is left unchanged."""
        law, X = "the output of a row must not depend on other rows", self.X.copy()
        found = np.vstack([self.attempt(law, partial(term, part)) for part in (X[:1], X[1:][::-1]) if len(part)])
        self.require_close(law, np.r_[found[:1], found[1:][::-1]], output, np.abs(output).max(axis=0))
        if not np.array_equal(X, self.X, equal_nan=True):
            raise ValueError(f"term {self.name}: term(X) must not change X in place")

    def require_close(self, law: str, found: Array, wanted: Array, size: Array) -> None:
        """Raise a ValueError unless two outputs (r, C) of size (C,) agree up to rounding."""
        if found.shape != wanted.shape:
            raise ValueError(f"term {self.name}: {law}, got outputs of shape {found.shape}, not {wanted.shape}")
        wrong = np.flatnonzero(~(np.abs(found - wanted) <= TOLERANCE * size).all(axis=1))
        if len(wrong):
            row = wrong[0]
            raise ValueError(
                f"term {self.name}: {law}, got {found[row]} instead of {wanted[row]} in row {self.rows[row]} of X "
                f"({len(wrong)} of {len(self.rows)} rows differ)"
            )


def spread(size: int, most: int) -> Array:
    """At most `most` of the indices 0 .. size - 1, evenly spaced, the first and the last included."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).astype(np.intp))


def identity(term: Term) -> Term:
    """The term itself."""
    return term
