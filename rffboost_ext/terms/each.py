"""Separate outputs of many terms, with shared work done once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..core import Array, Term
from ..parallel import N_JOBS, over_tiles
from .cosines import Cosines, require_columns
from .expanded import Expanded
from .trees import Trees


def outputs_of_each(terms: Sequence[Term], X: Array) -> Array:
    """Outputs of each of T terms with the same number of outputs, on the rows of X (n, d): (T, n, C)."""
    kinds = [type(term) for term in terms]
    found: list[Array | None] = [None] * len(terms)
    for kind in dict.fromkeys(kinds):
        places = [place for place, other in enumerate(kinds) if other is kind]
        chosen = [terms[place] for place in places]
        for place, output in zip(places, TOGETHER.get(kind, one_by_one)(chosen, X), strict=True):
            found[place] = output
    return np.stack([output for output in found if output is not None])


def one_by_one(terms: Sequence[Term], X: Array) -> Sequence[Array]:
    """Outputs (n, C) of each of several terms of any type."""
    return [term(X) for term in terms]


def cosines_together(terms: Sequence[Cosines], X: Array) -> Sequence[Array]:
    """In one pass over the rows."""
    from ..kernels.predict import BLOCK, each_pass

    if len({term.family for term in terms}) > 1:
        return one_by_one(terms, X)
    require_columns(X, terms[0].omega.shape[1])
    if share_frequencies(terms):
        return np.split(side_by_side(terms)(X), len(terms), axis=1)
    whole = Cosines.stack(terms)
    X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
    term = np.repeat(np.arange(len(terms)), [len(one.phase) for one in terms])
    out = np.zeros((len(terms), len(X), whole.weight.shape[1]))
    over_tiles(each_pass, -(-len(X) // BLOCK), N_JOBS.get(), X, *whole.prepared[X.dtype.char], term, out)
    return list(out)


def share_frequencies(terms: Sequence[Cosines]) -> bool:
    """Whether several terms differ in nothing but their phases and weights, each having several cosines."""
    first = terms[0]
    return len(terms) > 1 < len(first.omega) and all(
        np.array_equal(term.omega, first.omega) and same_center(term, first) for term in terms[1:]
    )


def same_center(one: Cosines, other: Cosines) -> bool:
    """Whether two terms measure x from the same point."""
    if one.center is None or other.center is None:
        return one.center is other.center
    return np.array_equal(one.center, other.center)


def side_by_side(terms: Sequence[Cosines]) -> Cosines:
    """The outputs of terms that share their frequencies as those of one term, in their order."""
    first, phase, weight = terms[0], [term.phase for term in terms], [term.weight for term in terms]
    if all(np.array_equal(other, phase[0]) for other in phase):
        return replace(first, weight=np.hstack(weight))
    pairs = [
        np.hstack([part(angle)[:, None] * w for angle, w in zip(phase, weight, strict=True)])
        for part in (np.cos, np.sin)
    ]
    omega = np.concatenate([first.omega, first.omega])
    return replace(
        first, omega=omega, phase=np.repeat([0.0, 0.5 * np.pi], len(first.omega)), weight=np.vstack(pairs)
    )


def trees_together(terms: Sequence[Trees], X: Array) -> Sequence[Array]:
    """On rows that are rounded to the precision of thresholds once."""
    rows = np.ascontiguousarray(X, dtype=terms[0].threshold.dtype)
    return [term(rows if term.threshold.dtype == rows.dtype else X) for term in terms]


def expanded_together(terms: Sequence[Expanded], X: Array) -> Sequence[Array]:
    """On rows that are imputed and encoded once."""
    expansion = terms[0].expansion
    if any(term.expansion is not expansion for term in terms):
        return one_by_one(terms, X)
    return list(outputs_of_each([term.term for term in terms], expansion(X)))


TOGETHER: dict[type, Callable[[Sequence[Any], Array], Sequence[Array]]] = {
    Cosines: cosines_together,
    Trees: trees_together,
    Expanded: expanded_together,
}
"""By type, not by base: a subclass may compute something else."""
