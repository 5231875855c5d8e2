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

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..core import Loss, Term
from ..terms.total_effects import divided_variance, total_effects
from ..utils.typing import Array

if TYPE_CHECKING:
    from ..rows.dataset import Dataset
    from ..terms.ensemble import Ensemble

# Maximum number and bytes of the rows for variances, and number of background rows.
MAX_ROWS, MAX_BYTES, MAX_BACKGROUND = 1_000, 2**26, 100


def importances(
    ensemble: Ensemble, X: Array, weight: Array | None = None, output_weights: Array | None = None
) -> Array:
    """The share of each feature in the variance of the scores of `ensemble` over rows X (n, d) with weights: (d,).

    The shares have the sum 1, or are 0 if all terms are constant. Outputs (C,) have weights in sums over outputs.
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
    if type(term.innermost).variances is not Term.variances:
        return term.scaled(factors)  # type: ignore[arg-type]
    return lambda X: factors * term(X)


def variances(function: Callable[[Array], Array], X: Array, weight: Array) -> Array:
    """The variance of the outputs of a term or another function, divided among the features: (d,).

    By :meth:`.Term.variances`, or else in proportion to :func:`.total_effects`; `weight` has sum 1.
    """
    by_rule = function.variances(X, weight) if isinstance(function, Term) else None
    return (
        divided_variance(function, total_effects(function, X, weight), X, weight) if by_rule is None else by_rule
    )


def covariances(outputs: Sequence[Array], weight: Array) -> list[float]:
    """Covariance of each of several outputs (n, C) with their sum, summed over columns."""
    centered = [output - weight @ output for output in outputs]
    total = np.sum(centered, axis=0)
    return [float(weight @ (one * total).sum(axis=1)) for one in centered]


@dataclass(frozen=True)
class FitSample:
    """Encoded rows (n, d) of a fit with weights (n,), for importances and as a background of Shapley values.

    `output_weights` (C,) are those of outputs in sums over outputs.
    """

    X: Array
    weight: Array
    output_weights: Array | None = None

    def importances(self, ensemble: Ensemble) -> Array:
        """:func:`importances` of an ensemble."""
        return importances(ensemble, self.X, self.weight, self.output_weights)

    def background(self) -> FitSample:
        """At most `MAX_BACKGROUND` of the rows, evenly spaced."""
        rows = slice(None, None, -(-len(self.X) // MAX_BACKGROUND))
        return replace(self, X=self.X[rows].copy(), weight=self.weight[rows].copy())


def sample_of_fit(rows: Dataset, seed: int, loss: Loss) -> FitSample:
    """A sample of the rows of a fit, which are copied, as X may change later."""
    n, drawn = len(rows), np.arange(len(rows))
    most = max(1, min(MAX_ROWS, MAX_BYTES // (8 * rows.X.shape[1])))
    if n > most:
        drawn = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
    counts = None if np.ndim(loss.scales.unit) == 0 else 1.0 / np.asarray(loss.scales.unit)
    return FitSample(np.asarray(rows.X[drawn]), rows.weight[drawn], counts)
