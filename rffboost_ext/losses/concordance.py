"""Harrell's concordance index of risks and times, which may be censored."""

from __future__ import annotations

import numpy as np

from ..kernels import compiled
from ..utils.typing import Array

# Risks that differ by no more are equal, as in scikit-survival.
TIED = 1e-8


def concordance_index(bounds: Array, risk: Array, weight: Array) -> float:
    """The share of comparable pairs of rows in which the row of the earlier event has the higher risk.

    A pair is comparable if one event is known to be the earlier one: its upper bound is below the lower bound of
    the other time, or equal to it if the other time is not known exactly. Equal risks count half.

    Parameters
    ----------
    bounds : ndarray of shape (n, 2)
        Lower and upper bounds of the times; equal where the event was observed, and the upper one infinite where
        the time is censored on the right.
    risk : ndarray of shape (n,)
        The higher, the earlier the event.
    weight : ndarray of shape (n,)
        Sample weights; a pair has their product.

    Returns
    -------
    float
        1 for a perfect order, 1/2 for a random one; NaN if no pair is comparable.

    References
    ----------
    Harrell, Lee and Mark, Multivariable prognostic models, Statistics in Medicine 15, 1996.
    """
    low, high = bounds.T
    earlier = np.flatnonzero(np.isfinite(high))
    earlier = earlier[np.argsort(-high[earlier], kind="stable")]
    later = np.lexsort((low == high, -low))
    order = np.argsort(risk, kind="stable")
    rank = np.empty(len(risk), dtype=np.int64)
    rank[order] = np.arange(len(risk))
    lower = np.searchsorted(risk[order], risk - TIED, side="left")
    upper = np.searchsorted(risk[order], risk + TIED, side="right")
    tree, sums = np.zeros(len(risk) + 1), np.zeros(3)
    compiled("concordance").add_pairs(bounds, weight, earlier, later, rank, lower, upper, tree, sums)
    concordant, tied, comparable = sums.tolist()
    return (concordant + 0.5 * tied) / comparable if comparable else float("nan")
