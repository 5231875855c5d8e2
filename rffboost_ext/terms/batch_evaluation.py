"""Outputs of many terms, term by term, with shared work done once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..core import Term
from ..utils.arrays import arrays_equal
from ..utils.typing import Array
from .cosines import Cosines
from .expanded import Expanded
from .symmetric_trees import SymmetricTrees
from .trees import Trees

T = TypeVar("T", bound=Term)
Outputs: TypeAlias = Callable[[Sequence[T]], Sequence[Array] | Array]


def outputs_of_each(terms: Sequence[Term], X: Array) -> Array:
    """Evaluate many terms, each on all rows.

    Parameters
    ----------
    terms : sequence of Term
        T terms with the same number of outputs, C.
    X : ndarray of shape (n, d)
        Rows.

    Returns
    -------
    ndarray of shape (T, n, C)
        Their outputs, in the order of the terms.
    """
    return np.stack(map_groups(terms, type, lambda group: BATCHED.get(type(group[0]), one_by_one)(group, X)))


def map_groups(terms: Sequence[T], key: Callable[[T], Hashable], outputs: Outputs[T]) -> list[Array]:
    """Outputs (n, C) of terms in their order, from one call of ``outputs(group)`` for all terms of equal `key`."""
    groups: dict[Hashable, list[int]] = {}
    for index, term in enumerate(terms):
        groups.setdefault(key(term), []).append(index)
    results: list[Any] = [None] * len(terms)
    for indices in groups.values():
        for index, output in zip(indices, outputs([terms[i] for i in indices]), strict=True):
            results[index] = output
    return results


def one_by_one(terms: Sequence[Term], X: Array) -> Sequence[Array]:
    """Outputs (n, C) of each of several terms of any type."""
    return [term(X) for term in terms]


def cosine_outputs(terms: Sequence[Cosines], X: Array) -> Sequence[Array]:
    """Outputs (n, C) of each of several terms, from one pass over the rows."""
    if len({term.family for term in terms}) > 1:
        return one_by_one(terms, X)
    if have_equal_frequencies(terms):
        return np.split(concatenate_outputs(terms)(X), len(terms), axis=1)
    owner = np.repeat(np.arange(len(terms)), [len(term.phase) for term in terms])
    return list(Cosines.stack(terms).group_outputs(X, owner, len(terms)))


def have_equal_frequencies(terms: Sequence[Cosines]) -> bool:
    """Whether several terms, of several cosines each, differ in their phases and weights only."""
    first = terms[0]
    return len(terms) > 1 < len(first.omega) and all(
        arrays_equal(term.omega, first.omega) and arrays_equal(term.center, first.center) for term in terms[1:]
    )


def concatenate_outputs(terms: Sequence[Cosines]) -> Cosines:
    """One term with the outputs of all `terms`, which have equal frequencies."""
    first = terms[0]
    if all(arrays_equal(term.phase, first.phase) for term in terms):
        return replace(first, weight=np.hstack([term.weight for term in terms]))
    weights = np.concatenate([term.cos_sin_weights for term in terms], axis=2)
    return first.with_cos_sin_weights(first.omega, weights)


def tree_outputs(terms: Sequence[Any], X: Array) -> Sequence[Array]:
    """Outputs (n, C) of each of several terms, from one pass over the rows."""
    if len({term.family for term in terms}) > 1:
        return one_by_one(terms, X)
    owner = np.repeat(np.arange(len(terms)), [term.n_trees for term in terms])
    return list(type(terms[0]).stack(terms).group_outputs(X, owner, len(terms)))


def expanded_outputs(terms: Sequence[Expanded], X: Array) -> Sequence[Array]:
    """Outputs (n, C) of each of several terms, with X expanded once per distinct expansion."""

    def outputs(group: Sequence[Expanded]) -> Array:
        return outputs_of_each([term.term for term in group], group[0].expansion(X))

    # Grouped by value: terms from a file do not share one expansion object, but must give the same bits.
    return map_groups(terms, lambda term: term.expansion.key, outputs)


BATCHED: dict[type, Callable[[Sequence[Any], Array], Sequence[Array]]] = {
    Cosines: cosine_outputs,
    Trees: tree_outputs,
    SymmetricTrees: tree_outputs,
    Expanded: expanded_outputs,
}
