"""Derivatives of raw scores with respect to the features, in closed form."""

from __future__ import annotations

from functools import singledispatch

import numpy as np

from ..core import Term
from ..utils.arrays import require_columns
from ..utils.typing import Array
from .cosines import Cosines
from .expanded import Expanded
from .standardized import Standardized
from .trees import Trees

# Entries of the largest array between X and the result: few enough to stay in cache, enough for BLAS.
ENTRIES = 2**17


@singledispatch
def gradient(term: Term, X: Array) -> Array:
    """The derivative of each output of `term` by each feature at the rows of X (n, d): (n, C, d), float64.

    Term types register their own here, as :class:`~rffboost_ext.Cosines` and :class:`~rffboost_ext.Trees` do::

        @gradient.register(MyTerm)
        def _(term, X): ...

    Raises
    ------
    TypeError
        If no derivative is registered for the type of `term`.
    """
    raise TypeError(
        f"gradient: there is no derivative of a {type(term).__name__}; register one with "
        f"rffboost_ext.terms.gradients.gradient.register"
    )


@gradient.register
def _(term: Cosines, X: Array) -> Array:
    # d/dx of w cos(omega . x - phi) is -w sin(omega . x - phi) omega.
    require_columns(X, term.omega.shape[1])
    n_cosines, n_outputs = term.weight.shape
    out = np.empty((len(X), n_outputs, X.shape[1]))
    step = max(1, ENTRIES // max(1, n_cosines))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        sine = np.sin(term.angles(X[rows]))
        for c in range(n_outputs):
            out[rows, c] = (sine * -term.weight[:, c]) @ term.omega
    if term.clipping is None:
        return out
    slopes = term.clipping.slopes(X)[:, None, :]
    # 0 also where the value itself is missing.
    return np.where(slopes > 0.0, slopes * out, 0.0)


@gradient.register
def _(term: Trees, X: Array) -> Array:
    # Piecewise constant: 0 except at the thresholds, where there is no derivative.
    return np.zeros((len(X), term.value.shape[1], X.shape[1]))


@gradient.register
def _(term: Standardized, X: Array) -> Array:
    return np.asarray(gradient(term.term, (X - term.center) / term.scale) / term.scale)


@gradient.register
def _(term: Expanded, X: Array) -> Array:
    # 0 along missing values and categories; imputed values depend on the other columns, hence the chain rule.
    expansion = term.expansion
    slopes = gradient(term.term, expansion(X))[:, :, : len(expansion.numbers)]
    gap = np.isnan(X[:, None, expansion.numbers])
    for sweep in reversed(expansion.sweeps):
        slopes = np.where(gap, 0.0, slopes) + np.where(gap, slopes, 0.0) @ sweep.T
    out = np.zeros((*slopes.shape[:2], X.shape[1]))
    out[:, :, expansion.numbers] = np.where(gap, 0.0, slopes)
    return out
