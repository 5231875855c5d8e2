"""Separate outputs of many terms, with shared work done once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..core import Term
from ..utils.arrays import require_columns, same
from ..utils.parallel import N_JOBS, over_tiles
from ..utils.typing import Array
from .cosines import Cosines
from .expanded import Expanded
from .trees import Trees

T = TypeVar("T", bound=Term)
Outputs: TypeAlias = Callable[[Sequence[T]], Sequence[Array] | Array]


def outputs_of_each(terms: Sequence[Term], X: Array) -> Array:
    """Outputs of each of T terms with the same number of outputs, on the rows of X (n, d): (T, n, C)."""
    return np.stack(in_groups(terms, type, lambda group: TOGETHER.get(type(group[0]), one_by_one)(group, X)))


def in_groups(terms: Sequence[T], key: Callable[[T], Hashable], outputs: Outputs[T]) -> list[Array]:
    """Outputs (n, C) of several terms in their order, those of equal `key` together by ``outputs(terms)``."""
    groups: dict[Hashable, list[int]] = {}
    for place, term in enumerate(terms):
        groups.setdefault(key(term), []).append(place)
    found: list[Any] = [None] * len(terms)
    for places in groups.values():
        for place, output in zip(places, outputs([terms[place] for place in places]), strict=True):
            found[place] = output
    return found


def one_by_one(terms: Sequence[Term], X: Array) -> Sequence[Array]:
    """Outputs (n, C) of each of several terms of any type."""
    return [term(X) for term in terms]


def cosines_together(terms: Sequence[Cosines], X: Array) -> Sequence[Array]:
    """In one pass over the rows."""
    from ..kernels.cosine_prediction import BLOCK, each_pass

    if len({term.family for term in terms}) > 1:
        return one_by_one(terms, X)
    require_columns(X, terms[0].omega.shape[1])
    if share_frequencies(terms):
        return np.split(side_by_side(terms)(X), len(terms), axis=1)
    whole = Cosines.stack(terms)
    X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
    term = np.repeat(np.arange(len(terms)), [len(one.phase) for one in terms])
    out = np.zeros((len(terms), len(X), whole.weight.shape[1]))
    over_tiles(each_pass, -(-len(X) // BLOCK), N_JOBS.get(), X, *whole.prepared(X.dtype.char), term, out)
    return list(out)


def share_frequencies(terms: Sequence[Cosines]) -> bool:
    """Whether several terms differ in nothing but their phases and weights, each having several cosines."""
    first = terms[0]
    return len(terms) > 1 < len(first.omega) and all(
        same(term.omega, first.omega) and same(term.center, first.center) for term in terms[1:]
    )


def side_by_side(terms: Sequence[Cosines]) -> Cosines:
    """The outputs of terms that share their frequencies as those of one term, in their order."""
    first = terms[0]
    if all(same(term.phase, first.phase) for term in terms):
        return replace(first, weight=np.hstack([term.weight for term in terms]))
    return first.with_pairs(first.omega, np.concatenate([term.pairs for term in terms], axis=2))


def trees_together(terms: Sequence[Trees], X: Array) -> Sequence[Array]:
    """In one pass over the rows."""
    if len({term.family for term in terms}) > 1:
        return one_by_one(terms, X)
    place = np.repeat(np.arange(len(terms)), [len(term.roots) for term in terms])
    return list(Trees.stack(terms).sums(X, place, len(terms)))


def expanded_together(terms: Sequence[Expanded], X: Array) -> Sequence[Array]:
    """On rows that are imputed and encoded once for all terms of an expansion."""

    def outputs(group: Sequence[Expanded]) -> Array:
        return outputs_of_each([term.term for term in group], group[0].expansion(X))

    # Terms from a file have equal ones of their own: they must take the same way, to the same bits.
    return in_groups(terms, lambda term: term.expansion.key, outputs)


TOGETHER: dict[type, Callable[[Sequence[Any], Array], Sequence[Array]]] = {
    Cosines: cosines_together,
    Trees: trees_together,
    Expanded: expanded_together,
}
