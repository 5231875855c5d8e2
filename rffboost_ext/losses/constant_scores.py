"""The constant scores that minimise the weighted mean of a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..core import Loss, Observations
from ..utils.convex import minimiser_along
from ..utils.typing import Array

# A mean gradient below this share of the mean absolute gradient counts as 0.
NEAR = 1e-12
# Decreases of the mean below this share of it are rounding errors.
ROUNDING = 1e-14
# Newton steps beyond which there is no minimum, and the fraction of one that shows whether the mean decreases.
LONGEST, SHORT = 1e6, 0.1
# The most steps after BFGS, and passes over the scores.
MAX_STEPS = 20


@dataclass(frozen=True)
class WeightedMean:
    """The weighted mean of a loss as a function of constant scores (C,).

    Parameters
    ----------
    loss : Loss
    rows : Observations
    """

    loss: Loss
    rows: Observations

    @cached_property
    def share(self) -> Array:
        """The weights, of sum 1."""
        return self.rows.weight / self.rows.weight.sum()

    def value(self, scores: Array) -> float:
        """The mean."""
        return float(self.share @ self.rows.losses(self.loss, self._tiled(scores)))

    def slope(self, scores: Array) -> Array:
        """The gradient of the mean, (C,)."""
        return self.share @ self._derivatives(scores)[0]

    def slope_along(self, scores: Array, direction: Array) -> Callable[[float], float]:
        """The derivative of the mean along a direction (C,), as a function of the distance."""
        return lambda length: float(self.slope(scores + length * direction) @ direction)

    def newton(self, scores: Array) -> tuple[Array, Array, Array]:
        """Gradient, its mean absolute value over rows, and positive hessian, (C,) each."""
        gradient, hessian = self._derivatives(scores)
        curvature = self.share @ hessian
        return self.share @ gradient, self.share @ np.abs(gradient), np.where(curvature > 0.0, curvature, 1.0)

    def is_less(self, scores: Array, other: Array) -> bool:
        """Whether the mean at some scores is less than at others by more than rounding errors."""
        value = self.value(other)
        return self.value(scores) < value - ROUNDING * abs(value)

    def held_scores(self, baseline: Array) -> Array:
        """Which scores of a loss's own baseline, (C,), it keeps from their minimum, as by a bound."""
        slope, size, curvature = self.newton(baseline)
        held = np.zeros(len(baseline), dtype=bool)
        for k in np.flatnonzero(np.abs(slope) > NEAR * size):
            step = np.zeros(len(baseline))
            step[k] = -SHORT * slope[k] / curvature[k]
            held[k] = self.is_less(baseline + step, baseline)
        return held

    def _derivatives(self, scores: Array) -> tuple[Array, Array]:
        found: tuple[Array, Array] = self.rows.derivatives(self.loss, self._tiled(scores))
        return found

    def _tiled(self, scores: Array) -> Array:
        return np.tile(scores, (len(self.rows), 1))


def constant_scores(loss: Loss, rows: Observations) -> Array:
    r"""The constant scores that minimise a loss, (C,): its baseline, or with an offset the best given the offset.

    With an offset o it is the constant b that minimises the weighted mean of :math:`\ell(y, b + o)`.
    """
    alone = loss.baseline(rows.target(loss), rows.weight)
    if rows.offset is None or loss.translation_invariant:
        return alone
    held = WeightedMean(loss, Observations(rows.y, rows.weight)).held_scores(alone)
    start = alone - np.average(rows.offset, axis=0, weights=rows.weight)
    return minimising_constant(WeightedMean(loss, rows), start, ~held)


def minimising_constant(mean: WeightedMean, start: Array, free: Array) -> Array:
    """The constant scores, (C,), that minimise a mean loss, from `start`; those that are not `free` stay.

    Several scores are found by BFGS. Where the loss has kinks, or there is one score, the roots of the slope along
    each follow. The start itself is the result unless another value is less.
    """
    slope, size, curvature = mean.newton(start)
    moving = np.flatnonzero(free)
    if (np.abs(slope) <= NEAR * size)[moving].all():
        return start
    units = np.zeros((len(moving), len(start)))
    units[np.arange(len(moving)), moving] = 1.0 / np.sqrt(curvature[moving])
    best = minimised_together(mean, start, units) if len(moving) > 1 else start
    for _ in range(MAX_STEPS):
        slope, size, _ = mean.newton(best)
        if (np.abs(slope) <= 1e3 * NEAR * size)[moving].all():
            break
        before = best
        for unit in units:
            best = best + minimiser_along(mean.slope_along(best, unit), LONGEST) * unit
        if len(moving) == 1 or not mean.is_less(best, before):
            break
    return best if mean.is_less(best, start) else start


def minimised_together(mean: WeightedMean, start: Array, units: Array) -> Array:
    """The scores ``start + z @ units`` of the least mean, (C,), by BFGS in z.

    Values of the loss limit BFGS to half of the digits: steps by the gradient alone follow while they help.
    """
    from scipy.optimize import minimize

    def slope(z: Array) -> Array:
        return units @ mean.slope(start + z @ units)

    found = minimize(lambda z: mean.value(start + z @ units), np.zeros(len(units)), jac=slope, method="BFGS")
    best, least = found.x, np.abs(slope(found.x)).max()
    for _ in range(MAX_STEPS):
        z = best - found.hess_inv @ slope(best)
        size = np.abs(slope(z)).max()
        if not size < least:
            break
        best, least = z, size
    return np.asarray(start + best @ units)
