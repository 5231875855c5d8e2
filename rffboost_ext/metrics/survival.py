"""Metrics of survival analysis."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Loss
from ..kernels import compiled
from ..losses import SurvivalLoss
from ..rows.survival_targets import SurvivalTargets
from ..rows.tables import number_array
from ..rows.weights import check_sample_weight
from ..utils.typing import Array
from .registry import METRICS, NamedMetric

# Risks that differ by no more are equal, as in scikit-survival.
TIED = 1e-8


def concordance_index(y_true: Any, risk: Any, *, sample_weight: Any = None) -> float:
    """Harrell's concordance index: the share of comparable pairs in which the earlier event has the higher risk.

    A pair of rows is comparable if one event is known to be the earlier one: its time, or its upper bound, is
    below the lower bound of the other time, or equal to it if the other time is not known exactly. Equal risks
    count half.

    Parameters
    ----------
    y_true : structured array of shape (n,), or array-like of shape (n,) or (n, 2)
        Event and time in two fields, times that were all observed, or lower and upper bounds of times.
    risk : array-like of shape (n,)
        The higher, the earlier the event.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights; a pair has their product.

    Returns
    -------
    float
        1 for a perfect order, 1/2 for a random one; NaN if no pair is comparable.

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid.

    References
    ----------
    Harrell, Lee and Mark, Multivariable prognostic models, Statistics in Medicine 15, 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.metrics import concordance_index
    >>> y = np.array([(True, 2.0), (False, 3.0), (True, 5.0)], dtype=[("event", bool), ("time", float)])
    >>> concordance_index(y, [0.7, 0.2, 0.9])
    0.5
    """
    targets = SurvivalTargets("concordance_index", infinite=True)
    bounds = targets.transform(targets.columns(y_true))
    values = np.asarray(number_array(risk), dtype=np.float64)
    if values.shape != (len(bounds),):
        raise ValueError(f"concordance_index: risk must have shape ({len(bounds)},), got {values.shape}")
    return share_of_pairs(bounds, values, check_sample_weight(sample_weight, len(bounds)))


def share_of_pairs(bounds: Array, risk: Array, weight: Array) -> float:
    """The concordance index of bounds of times (n, 2), risks (n,) and weights (n,)."""
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


def concordance_of_response(y: Array, response: Array, sample_weight: Array | None = None, *, loss: Loss) -> float:
    """The concordance index of targets (n, 2) and responses (n,) of a loss."""
    if not isinstance(loss, SurvivalLoss):
        raise ValueError(f"the loss must be one of survival analysis, got {loss!r}")
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    return share_of_pairs(loss.bounds(y), loss.risk(response[:, None]), weight)


METRICS["concordance"] = NamedMetric(concordance_of_response, greater_is_better=True, needs_loss=True)
