"""The laws of the derivatives of a loss."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..core import CoupledLoss
from ..utils.typing import Array
from .comparison import require_close, require_that
from .loss_case import LossCase

# Differences are over this share of a Newton step.
STEP = 1e-5
# Share of a Newton step, which overshoots if the hessian is less than half of this of the second derivative.
LENGTH = 0.45
# Derivatives of a loss of coupled rows that are checked.
MAX_DERIVATIVES = 60


def gradient_is_the_derivative(case: LossCase, rtol: float = 1e-4, max_derivatives: int = MAX_DERIVATIVES) -> None:
    """An exact gradient is the derivative of the value, or of the weighted total if rows are coupled."""
    if not case.loss.exact_gradient:
        return
    gradient, _ = case.derivatives(case.raw)
    what = f"{case.name}: gradient must be the derivative of value"
    if isinstance(case.loss, CoupledLoss):
        count = max(1, max_derivatives // len(case.scale))
        rows = np.random.default_rng(1).permutation(len(case.rows))[:count]
        sides = np.stack([total_slopes(case, row) / case.rows.weight[row] for row in rows], axis=1)
        what += " summed over rows with their weights, divided by the weight of the row"
        require_slopes(what, gradient[rows], sides, rtol)
        return
    # In turns up and down: statistics of the set, such as means, stay the same.
    sign = np.where(np.arange(len(gradient)) % 2, 1.0, -1.0)
    moves = STEP * case.scale * np.eye(len(case.scale))
    sides = np.stack(
        [slopes(case.values, case.raw, sign[:, None] * move) / (sign * move.sum()) for move in moves], axis=-1
    )
    require_slopes(what, gradient, sides, rtol)


def slopes(function: Any, raw: Array, move: Array) -> Array:
    """The differences of a function of scores moved backwards and forwards, (2, ...)."""
    here = function(raw)
    return np.stack([here - function(raw - move), function(raw + move) - here])


def total_slopes(case: LossCase, row: int) -> Array:
    """The derivatives of the total with respect to the scores of a row, to the left and to the right, (2, C)."""
    gradient = []
    for c, size in enumerate(STEP * case.scale):
        move = np.zeros_like(case.raw)
        move[row, c] = size
        # A difference of sums over rows would lose digits.
        gradient.append(slopes(case.values, case.raw, move) @ case.rows.weight / size)
    return np.transpose(gradient)


def require_slopes(what: str, gradient: Array, sides: Array, rtol: float = 1e-4) -> None:
    """Raise unless derivatives are between differences to both sides, up to a share of their size in each column.

    At a kink the derivative may be anything in between.
    """
    numeric = np.clip(gradient, sides.min(axis=0), sides.max(axis=0))
    size = np.abs(numeric).mean(axis=0) + np.abs(gradient).mean(axis=0)
    require_close(what, gradient, numeric, rtol=rtol, atol=np.broadcast_to(rtol * size + 1e-12, gradient.shape))


def hessian_is_the_derivative(case: LossCase) -> None:
    """An exact hessian is the derivative of the gradient; |gradient| <= hessian if ``bounded_ratio``."""
    gradient, hessian = case.derivatives(case.raw)
    excess = (np.abs(gradient) - hessian).max()
    require_that(
        not case.loss.bounded_ratio or excess <= 1e-9,
        f"{case.name}: |gradient| must be at most the hessian, as bounded_ratio says, got {excess:.3g} more",
    )
    if not case.loss.exact_hessian or isinstance(case.loss, CoupledLoss):
        return
    moves = STEP * case.scale * np.eye(len(case.scale))
    sides = [
        slopes(lambda raw: case.derivatives(raw)[0], case.raw, move)[..., c] / move[c]
        for c, move in enumerate(moves)
    ]
    what = f"{case.name}: hessian must be the derivative of the gradient, as exact_hessian says"
    require_slopes(what, hessian, np.stack(sides, axis=-1))


def hessian_bounds_the_loss(case: LossCase) -> None:
    """Nearly half a Newton step of rows whose gradients have one sign, as in a leaf, lowers the loss."""
    if not case.loss.exact_gradient:
        return
    # With the least hessian of the loss, as in fits.
    gradient, hessian = case.loss.scales.apply(case.derivatives(case.raw))
    before = case.values(case.raw)
    rounding = 1e-12 * float(case.rows.weight @ np.abs(before))
    for c, sign in itertools.product(range(len(case.scale)), (-1.0, 1.0)):
        rows, moved = sign * gradient[:, c] > 0.0, case.raw.copy()
        slope, curvature = (case.rows.weight[rows] @ values[rows, c] for values in (gradient, hessian))
        moved[rows, c] -= LENGTH * slope / max(curvature, 1e-300)
        change = float(case.rows.weight @ (case.values(moved) - before))
        require_that(
            change <= rounding,
            f"{case.name}: hessian must bound the second derivative, or be near it: {LENGTH} of a Newton step "
            f"of score {c} must lower the loss, got a change of {change:.3g}",
        )
