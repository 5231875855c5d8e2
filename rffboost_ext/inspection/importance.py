r"""Feature importances of an ensemble, on the same scale for cosines and trees.

The scale is variance over rows of data. The sum of all terms of one type contributes its covariance with the
scores to their variance. This contribution is divided among the features:

- By the law of total variance at each split, the variance of a tree is the sum over its splits of

  .. math:: p_L p_R (m_L - m_R)^2 / (p_L + p_R),

  where p is the share of rows in a child and m its mean output. Each split is credited to its feature. For the
  squared error without penalties this is XGBoost's gain, and the sum is its ``total_gain``.
- The contribution of cosines, and of terms without a rule of their own, is divided in proportion to the total
  effects of the features on their sum. This needs the outputs of a term only: d + 1 evaluations on the rows.

Outputs are summed, each in its own unit. As with all gain-based importances, correlated features share their
importance, and trees favour features with many distinct values; scikit-learn's ``permutation_importance`` on
held-out rows does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from ..core import Loss, Term
from ..terms import Expanded, Standardized, SymmetricTrees, Trees
from ..terms.laws import innermost_term
from ..utils.typing import Array
from .total_effects import total_effects

if TYPE_CHECKING:
    from ..data.dataset import Dataset
    from ..terms.ensemble import Ensemble

# Maximum number of rows for variances.
MAX_ROWS = 1_000


@singledispatch
def variances(term: Callable[[Array], Array], X: Array, weight: Array) -> Array:
    """The variance of the outputs of a term, divided among the features: (d,).

    By default in proportion to :func:`~rffboost_ext.inspection.total_effects.total_effects`. Types of terms
    register another rule here, as :class:`~rffboost_ext.Trees` do.

    Parameters
    ----------
    term : Term or callable
        A term, possibly stacked, or a function from X (n, d) to outputs (n, C).
    X : ndarray of shape (n, d)
        Rows for the variances.
    weight : ndarray of shape (n,)
        Weights of the rows, with sum 1.
    """
    effects = total_effects(term, X, weight)
    total = effects.sum()
    whole = variance(term(X), weight).sum()
    return np.asarray(whole / total * effects if total > 0.0 else effects)


@variances.register
def _(term: Trees, X: Array, weight: Array) -> Array:
    cover, mean = node_means(term, X, weight)
    splits = np.flatnonzero((term.left >= 0) & (cover > 0.0))
    left, right = term.left[splits], term.right[splits]
    between = np.square(mean[left] - mean[right]).sum(axis=1)
    gains = cover[left] * cover[right] / cover[splits] * between
    return np.bincount(term.feature[splits], gains, minlength=X.shape[1])


@variances.register
def _(term: SymmetricTrees, X: Array, weight: Array) -> Array:
    if term.slope is None:
        return variances(term.as_trees(), X, weight)
    return np.asarray(variances.dispatch(object)(term, X, weight))


@variances.register
def _(term: Standardized, X: Array, weight: Array) -> Array:
    return np.asarray(variances(term.term, (X - term.center) / term.scale, weight))


@variances.register
def _(term: Expanded, X: Array, weight: Array) -> Array:
    if not has_rule(term):
        # One-hot columns of one column change together.
        return np.asarray(variances(term.__call__, X, weight))
    # A column is credited with its missing indicator and one-hot columns.
    return term.expansion.sum_by_source(variances(term.term, term.expansion(X), weight))


def has_rule(term: Term) -> bool:
    """Whether what a learner fitted has a rule of its own for importances."""
    kind = type(innermost_term(term))
    return any(rule.dispatch(kind) is not rule.dispatch(object) for rule in (variances, total_effects))


def variance(values: Array, weight: Array) -> Array:
    """The weighted variance of each column, for weights with sum 1."""
    return np.asarray(weight @ np.square(values - weight @ values))


def node_means(trees: Trees, X: Array, weight: Array) -> tuple[Array, Array]:
    """Weight of the rows in each node, (nodes,), and the mean output of its tree on these rows, (nodes, C)."""
    from ..kernels.tree_traversal import add_leaf_cover

    cover = np.zeros(len(trees.left))
    add_leaf_cover(trees.check_X(X), weight, *trees.splits, cover)
    total = cover[:, None] * trees.value
    for level in reversed(list(inner_levels(trees))):
        for sums in (cover, total):
            sums[level] = sums[trees.left[level]] + sums[trees.right[level]]
    return cover, np.divide(total, cover[:, None], out=np.zeros_like(total), where=cover[:, None] > 0.0)


def inner_levels(trees: Trees) -> Iterator[Array]:
    """Indices of inner nodes, level by level from the roots."""
    level = trees.roots[trees.left[trees.roots] >= 0]
    while len(level):
        yield level
        below = np.concatenate([trees.left[level], trees.right[level]])
        level = below[trees.left[below] >= 0]


def importances(
    ensemble: Ensemble, X: Array, weight: Array | None = None, output_weights: Array | None = None
) -> Array:
    """The share of each feature in the variance of the scores of `ensemble` over the rows of X: (d,).

    Parameters
    ----------
    ensemble : Ensemble
        The ensemble.
    X : ndarray of shape (n, d)
        Rows for the variances, such as the training data.
    weight : ndarray of shape (n,), optional
        Sample weights.
    output_weights : ndarray of shape (C,), optional
        Weights of outputs in sums over outputs; 1 by default.

    Returns
    -------
    ndarray of shape (d,)
        Shares with sum 1; all 0 if all terms are constant.
    """
    weight = np.full(len(X), 1.0 / len(X)) if weight is None else weight / weight.sum()
    terms: Sequence[Callable[[Array], Array]] = ensemble.compact().terms
    if output_weights is not None:
        terms = [with_scaled_outputs(term, np.sqrt(output_weights)) for term in ensemble.compact().terms]
    shares = np.zeros(X.shape[1])
    for term, part in zip(terms, covariances([term(X) for term in terms], weight), strict=True):
        own = variances(term, X, weight)
        total = own.sum()
        shares += own * (max(part, 0.0) / total) if total > 0.0 else 0.0
    total = shares.sum()
    return np.asarray(shares / total if total > 0.0 else shares)


def with_scaled_outputs(term: Term, factors: Array) -> Callable[[Array], Array]:
    """A term with its outputs times `factors` (C,): without a rule a function is enough."""
    if has_rule(term):
        return term.scaled(factors)  # type: ignore[arg-type]
    return lambda X: factors * term(X)


def covariances(outputs: Sequence[Array], weight: Array) -> list[float]:
    """Covariance of each of several outputs (n, C) with their sum, summed over columns."""
    if not outputs:
        return []
    centered = [output - weight @ output for output in outputs]
    total = np.sum(centered, axis=0)
    return [float(weight @ (one * total).sum(axis=1)) for one in centered]


@dataclass(frozen=True)
class DeferredImportances:
    """The rows for importances that are computed on first access.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows of the training data.
    weight : ndarray of shape (n,)
        Sample weights.
    output_weights : ndarray of shape (C,), optional
        Weights of outputs in sums over outputs.
    """

    X: Array
    weight: Array
    output_weights: Array | None = None

    def of(self, ensemble: Ensemble) -> Array:
        """:func:`importances` of an ensemble."""
        return importances(ensemble, self.X, self.weight, self.output_weights)


def defer_importances(rows: Dataset, seed: int, loss: Loss) -> DeferredImportances:
    """Importances over a sample of the rows of a fit, which are copied, as X may change later."""
    n, chosen = len(rows), np.arange(len(rows))
    if n > MAX_ROWS:
        chosen = np.sort(np.random.default_rng(seed).choice(n, MAX_ROWS, replace=False))
    counts = None if np.ndim(loss.unit) == 0 else 1.0 / np.asarray(loss.unit)
    return DeferredImportances(rows.X[chosen], rows.weight[chosen], counts)
