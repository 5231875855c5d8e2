"""Gradients of raw scores with respect to the features, in closed form."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..core import Term
from ..utils.arrays import require_columns
from ..utils.typing import Array
from .cosines import Cosines
from .expanded import Expanded
from .linear_trees import LinearTrees
from .standardized import Standardized
from .symmetric_trees import SymmetricTrees
from .trees import Trees

# Entries of the intermediate array: few enough for the cache, enough for BLAS.
CHUNK_ENTRIES = 2**17


@singledispatch
def gradient(term: Term, X: Array) -> Array:
    """The derivative of each output of `term` with respect to each feature, at X (n, d): (n, C, d), float64.

    Types of terms register a rule here, as :class:`~rffboost_ext.Cosines` and :class:`~rffboost_ext.Trees` do::

        @gradient.register(MyTerm)
        def _(term, X): ...

    Raises
    ------
    TypeError
        If no rule is registered for the type of `term`.
    """
    raise TypeError(
        f"gradient: there is no rule for a {type(term).__name__}; register one with "
        f"rffboost_ext.terms.gradients.gradient.register"
    )


@gradient.register
def _(term: Cosines, X: Array) -> Array:
    # d/dx of w cos(omega . x - phi) is -w sin(omega . x - phi) omega.
    require_columns(X, term.n_features)
    n_cosines, n_outputs = term.weight.shape
    out = np.empty((len(X), n_outputs, X.shape[1]))
    step = max(1, CHUNK_ENTRIES // max(1, n_cosines))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        sine = np.sin(term.angles(X[rows]))
        for c in range(n_outputs):
            slopes = (sine * -term.weight[:, c]) @ term.omega
            out[rows, c] = slopes if term.projection is None else slopes @ term.projection.matrix
    if term.clipping is None:
        return out
    factors = term.clipping.derivative(X)[:, None, :]
    # The output is NaN for missing values, the derivative 0.
    return np.where(factors > 0.0, factors * out, 0.0)


@gradient.register
def _(term: Trees, X: Array) -> Array:
    # Piecewise constant: 0 except at the thresholds, where the derivative does not exist.
    return np.zeros((len(X), term.n_outputs, X.shape[1]))


@gradient.register
def _(term: LinearTrees, X: Array) -> Array:
    slopes = term.slopes_and_constant(X)[0]
    return np.where(np.isnan(X[:, None, :]), 0.0, slopes)


@gradient.register
def _(term: SymmetricTrees, X: Array) -> Array:
    out = np.zeros((len(X), term.n_outputs, X.shape[1]))
    if term.slope is None:
        return out
    leaf = term.leaves(X)
    for t, (slope, feature) in enumerate(zip(term.slope, term.feature, strict=True)):
        x = X[:, feature]
        # 0 beyond the range of training, and for missing values.
        inside = (x > term.linear_parts[1][t]) & (x < term.linear_parts[2][t])
        for level, column in enumerate(feature):
            out[:, :, column] += inside[:, level, None] * slope[leaf[:, t], :, level]
    return out


@gradient.register
def _(term: Standardized, X: Array) -> Array:
    return np.asarray(gradient(term.term, (X - term.center) / term.scale) / term.scale)


@gradient.register
def _(term: Expanded, X: Array) -> Array:
    # 0 for missing values and categories. Imputed values depend on the other columns: chain rule.
    expansion = term.expansion
    slopes = gradient(term.term, expansion(X))[:, :, : len(expansion.numeric)]
    missing = np.isnan(X[:, None, expansion.numeric])
    for regression in reversed(expansion.regressions):
        slopes = np.where(missing, 0.0, slopes) + np.where(missing, slopes, 0.0) @ regression.T
    out = np.zeros((*slopes.shape[:2], X.shape[1]))
    out[:, :, expansion.numeric] = np.where(missing, 0.0, slopes)
    return out
