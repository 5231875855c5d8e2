"""Weighted derivatives and means of a loss, with the checks of the boosting loop."""

from __future__ import annotations

import numpy as np

from ..boosting.early_stopping.mean_loss import MeanLoss
from ..core import Loss, Observations
from ..losses.units import scale_derivatives
from ..losses.validation import check_derivatives, compute_baseline, compute_derivatives
from ..utils.typing import Array
from .matrix_rows import rows_of_weight

# A leaf divides by the sum of hessians, which may be 0 where the fit is perfect; XGBoost has the same lower bound
# in its own logistic loss.
LEAST_HESSIAN = 1e-16


def weighted_derivatives(
    loss: Loss, y: Array, raw: Array, weight: Array, index: int | None = None
) -> tuple[Array, Array]:
    """Gradient and hessian of ``loss.unit`` times a prepared loss, weights applied, (n, C) each.

    `index` is the host's round, None if unknown. Rows of weight 0 are left out and have derivatives of 0.

    Raises
    ------
    ValueError
        If the derivatives are not finite arrays of the shape of `raw`, hessians are negative, or the loss changes
        an array.
    """
    counts = weight > 0.0
    if not counts.all():
        gradient, hessian = np.zeros((2, *raw.shape))
        found = weighted_derivatives(loss, y[counts], raw[counts], weight[counts], index)
        gradient[counts], hessian[counts] = found
        return gradient, hessian
    derivatives = scale_derivatives(loss, compute_derivatives(loss, Observations(y, weight), raw, index))
    check_derivatives(loss, derivatives, raw, index)
    gradient, hessian = derivatives
    return gradient * weight[:, None], np.maximum(hessian, LEAST_HESSIAN) * weight[:, None]


def newton_step(loss: Loss, y: Array, weight: Array) -> Array:
    """The scores, (C,), after a step of Newton's method from 0: where XGBoost starts if it weights classes."""
    n_scores = len(compute_baseline(loss, Observations(y, weight)))
    gradient, hessian = weighted_derivatives(loss, y, np.zeros((len(y), n_scores)), weight)
    return -gradient.sum(axis=0) / hessian.sum(axis=0)


def mean_loss(loss: Loss, y: Array, raw: Array, weight: Array) -> float:
    """The weighted mean of a loss for targets (n, K) and raw scores (n, C)."""
    y, raw, weight = rows_of_weight(weight, y, raw, weight)
    return MeanLoss(loss)(Observations(y, weight), raw)
