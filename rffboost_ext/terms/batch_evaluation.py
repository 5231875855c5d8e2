"""Outputs of many terms, term by term, with shared work done once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from ..core import Term
from ..utils.sparse import Rows, SparseRows
from ..utils.typing import Array

T = TypeVar("T", bound=Term)
Outputs: TypeAlias = Callable[[Sequence[T]], Sequence[Array] | Array]


def outputs_of_each(terms: Sequence[Term], X: Rows) -> Array:
    """Evaluate many terms, each on all rows.

    Parameters
    ----------
    terms : sequence of Term
        T terms with the same number of outputs, C.
    X : ndarray or SparseRows of shape (n, d)
        Rows.

    Returns
    -------
    ndarray of shape (T, n, C)
        Their outputs, in the order of the terms.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from rffboost_ext.terms.batch_evaluation import outputs_of_each
    >>> X = np.arange(50.0)[:, None]
    >>> ensemble = RFFBoostRegressor(learner="tree", n_estimators=10).fit(X, X[:, 0]).ensemble_
    >>> outputs_of_each(ensemble.terms, X).shape
    (10, 50, 1)
    """
    if isinstance(X, SparseRows):
        return np.stack([term.at_sparse(X) for term in terms])
    return np.stack(map_groups(terms, type, lambda group: type(group[0]).outputs_of(group, X)))


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


def tree_outputs(terms: Sequence[Any], X: Array) -> Sequence[Array]:
    """Outputs (n, C) of each of several terms of trees, from one pass over the rows."""
    if len({term.family for term in terms}) > 1:
        return [term(X) for term in terms]
    owner = np.repeat(np.arange(len(terms)), [term.n_trees for term in terms])
    return list(type(terms[0]).stack(terms).group_outputs(X, owner, len(terms)))
