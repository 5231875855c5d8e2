"""Outputs of many terms, one by one: what all of them share is done once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from ..core import Array, Term
from ..parallel import N_JOBS, over_tiles
from .cosines import Cosines, require_columns
from .expanded import Expanded
from .trees import Trees


def outputs_of_each(terms: Sequence[Term], X: Array) -> Array:
    """Outputs of each of some terms, of one number of outputs, on the rows of X (n, d): (T, n, C)."""
    kinds = [type(term) for term in terms]
    found: list[Array | None] = [None] * len(terms)
    for kind in dict.fromkeys(kinds):
        places = [place for place, other in enumerate(kinds) if other is kind]
        chosen = [terms[place] for place in places]
        for place, output in zip(places, each(chosen[0], chosen, X), strict=True):
            found[place] = output
    return np.stack([output for output in found if output is not None])


@singledispatch
def each(first: Term, terms: Sequence[Term], X: Array) -> Sequence[Array]:
    """Outputs (n, C) of each of `terms`, all of the type of the `first` of them.

    Types for which many are cheaper together than one after the other register here.
    """
    return [term(X) for term in terms]


@each.register
def _(first: Cosines, terms: Sequence[Cosines], X: Array) -> Sequence[Array]:
    from ..kernels.predict import BLOCK, each_pass

    require_columns(X, first.omega.shape[1])
    whole = Cosines.stack(terms)
    X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
    term = np.repeat(np.arange(len(terms)), [len(one.phase) for one in terms])
    out = np.zeros((len(terms), len(X), whole.weight.shape[1]))
    over_tiles(each_pass, -(-len(X) // BLOCK), N_JOBS.get(), X, *whole.prepared[X.dtype.char], term, out)
    return list(out)


@each.register
def _(first: Trees, terms: Sequence[Trees], X: Array) -> Sequence[Array]:
    rows = np.ascontiguousarray(X, dtype=first.threshold.dtype)
    return [term(rows if term.threshold.dtype == rows.dtype else X) for term in terms]


@each.register
def _(first: Expanded, terms: Sequence[Expanded], X: Array) -> Sequence[Array]:
    if any(term.expansion is not first.expansion for term in terms):
        return [term(X) for term in terms]
    return list(outputs_of_each([term.term for term in terms], first.expansion(X)))
