"""The units in which learners get the derivatives of a loss."""

from __future__ import annotations

import numpy as np

from ..core import Loss
from ..utils.typing import Array


def scale_derivatives(loss: Loss, derivatives: tuple[Array, Array]) -> tuple[Array, Array]:
    """Derivatives times ``loss.unit``, with hessians for the loss's least hessian and its relative rates."""
    gradient, hessian = derivatives
    if not (isinstance(loss.unit, float) and loss.unit == 1.0):
        unit = np.asarray(loss.unit, dtype=np.float64)
        gradient, hessian = unit * gradient, unit * hessian
    if loss.min_hessian > 0.0:
        hessian = np.maximum(hessian, loss.min_hessian)
    if not (isinstance(loss.relative_rates, float) and loss.relative_rates == 1.0):
        hessian = hessian / np.asarray(loss.relative_rates)
    return gradient, hessian
