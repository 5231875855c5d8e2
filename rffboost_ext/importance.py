r"""Feature importances of an ensemble, on the same scale for cosines and trees.

The scale is variance over rows of data. Each tree and each cosine of an ensemble contributes the variance of its
own output, summed over outputs, which is divided among the features that it uses:

- A tree's variance is, by the law of total variance applied at each split, exactly the sum over its splits of

  .. math:: p_L p_R (m_L - m_R)^2 / (p_L + p_R),

  p being the share of rows in either child and m the mean output there. Each split is credited to its feature. For
  the squared error without penalties this is XGBoost's gain of the split, so that the sum is its ``total_gain``.
- A cosine :math:`w \cos(\omega \cdot x - \varphi)` has the variance :math:`w^2 \mathrm{Var} \cos(\omega \cdot x -
  \varphi)`. Feature j gets the share :math:`\omega_j^2 v_j / \sum_k \omega_k^2 v_k`, v being the variance of each
  feature: its part of the squared frequency on standardised features.

For the squared error the variance of a full step is its gain, up to a common factor: both kinds count by their
gain. As with all gain-based importances, correlated features share their importance, and features with many
distinct values are favoured; scikit-learn's ``permutation_importance`` on held-out rows does not favour the
latter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING

import numpy as np

from .core import Array, Term
from .terms import Cosines, Expanded, Standardized, Trees
from .terms.cosines import require_columns
from .terms.dispatch import by_type

if TYPE_CHECKING:
    from .ensemble import Ensemble

# Number of rows to take variances over: accurate to a few percent, at a negligible cost.
MOST_ROWS = 1_000
# Cosines at a time.
BLOCK = 256


class NoRuleError(TypeError):
    """There is no rule for the importances of a type of term."""


@singledispatch
def variances(term: Term, X: Array, weight: Array) -> Array:
    """The variance that `term` accounts for, divided among the features: (d,).

    Term types register their own here, as :class:`~rffboost_ext.Cosines` and :class:`~rffboost_ext.Trees` do.

    Parameters
    ----------
    term : Term
        One term, or several stacked ones, each of which is counted separately.
    X : ndarray of shape (n, d)
        Rows to take variances over.
    weight : ndarray of shape (n,)
        Their weights, which sum to 1.

    Raises
    ------
    NoRuleError
        If no rule is registered for the type of `term`.
    """
    raise NoRuleError(
        f"feature importances: there is no rule for a {type(term).__name__}; register one with "
        f"rffboost_ext.importance.variances.register"
    )


@variances.register
def _(term: Cosines, X: Array, weight: Array) -> Array:
    require_columns(X, term.omega.shape[1])
    X = term.held(X)
    squared = np.square(term.omega * np.sqrt(variance(np.asarray(X, dtype=np.float64), weight)))
    total = squared.sum(axis=1)
    heights = np.square(term.weight).sum(axis=1)
    earned = np.zeros(len(total))
    for start in range(0, len(total), BLOCK):
        block = slice(start, start + BLOCK)
        part = Cosines(term.omega[block], term.phase[block], term.weight[block], term.center)
        earned[block] = heights[block] * variance(np.cos(part.angles(X)), weight)
    return np.asarray(np.divide(earned, total, out=np.zeros_like(total), where=total > 0.0) @ squared)


@variances.register
def _(term: Trees, X: Array, weight: Array) -> Array:
    cover, mean = node_means(term, X, weight)
    splits = np.flatnonzero((term.left >= 0) & (cover > 0.0))
    left, right = term.left[splits], term.right[splits]
    between = np.square(mean[left] - mean[right]).sum(axis=1)
    gains = cover[left] * cover[right] / cover[splits] * between
    return np.bincount(term.feature[splits], gains, minlength=X.shape[1])


@variances.register
def _(term: Standardized, X: Array, weight: Array) -> Array:
    return np.asarray(by_type(variances, term.term, (X - term.center) / term.scale, weight))


@variances.register
def _(term: Expanded, X: Array, weight: Array) -> Array:
    # A column is credited with its indicator and its one-hot columns too.
    return term.expansion.to_source(by_type(variances, term.term, term.expansion(X), weight))


def variance(values: Array, weight: Array) -> Array:
    """The weighted variance of each column, for weights that sum to 1."""
    return np.asarray(weight @ np.square(values - weight @ values))


def node_means(trees: Trees, X: Array, weight: Array) -> tuple[Array, Array]:
    """Weight of the rows in each node, (nodes,), and the mean output of its tree over them, (nodes, C)."""
    from .kernels.leaves import add_to_leaves

    cover = np.zeros(len(trees.left))
    rows = np.ascontiguousarray(X, dtype=trees.threshold.dtype)
    add_to_leaves(rows, weight, *trees.splits, cover)
    total = cover[:, None] * trees.value
    for level in reversed(list(inner_levels(trees))):
        for sums in (cover, total):
            sums[level] = sums[trees.left[level]] + sums[trees.right[level]]
    return cover, np.divide(total, cover[:, None], out=np.zeros_like(total), where=cover[:, None] > 0.0)


def inner_levels(trees: Trees) -> Iterator[Array]:
    """Indices of the nodes that have children, level by level from the roots."""
    level = trees.roots[trees.left[trees.roots] >= 0]
    while len(level):
        yield level
        below = np.concatenate([trees.left[level], trees.right[level]])
        level = below[trees.left[below] >= 0]


def importances(ensemble: Ensemble, X: Array, weight: Array | None = None) -> Array:
    """The share of each feature in the variance of the terms of `ensemble` over the rows of X: (d,).

    Parameters
    ----------
    ensemble : Ensemble
        The ensemble.
    X : ndarray of shape (n, d)
        Rows to take variances over, as of the training data.
    weight : ndarray of shape (n,), optional
        Their weights.

    Returns
    -------
    ndarray of shape (d,)
        Shares that sum to 1; all 0 if no term varies.

    Raises
    ------
    NoRuleError
        If the ensemble has a term of a type that no rule is registered for.
    """
    weight = np.full(len(X), 1.0 / len(X)) if weight is None else weight / weight.sum()
    found = sum((by_type(variances, term, X, weight) for term in ensemble.compact().terms), np.zeros(X.shape[1]))
    total = found.sum()
    return np.asarray(found / total if total > 0.0 else found)


@dataclass(frozen=True)
class Pending:
    """Importances that are not computed yet, and the rows to compute them over.

    Parameters
    ----------
    ensemble : Ensemble
        The ensemble.
    X : ndarray of shape (n, d)
        Rows of the training data, at most 1,000.
    weight : ndarray of shape (n,)
        Their weights.
    """

    ensemble: Ensemble
    X: Array
    weight: Array

    def found(self) -> Array | None:
        """:func:`importances`; None where a type of term has no rule."""
        try:
            return importances(self.ensemble, self.X, self.weight)
        except NoRuleError:
            return None


def sampled_importances(ensemble: Ensemble, X: Array, weight: Array, seed: int) -> Pending:
    """:func:`importances` over at most 1,000 rows drawn from X, which are copied: X may change after a fit."""
    if len(X) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(seed).choice(len(X), MOST_ROWS, replace=False))
        return Pending(ensemble, X[rows], weight[rows])
    return Pending(ensemble, X.copy(), weight.copy())
