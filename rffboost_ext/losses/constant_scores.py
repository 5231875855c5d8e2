"""The constant scores that minimise the weighted mean of a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from ..core import Loss, Observations
from ..utils.convex import minimiser_along
from ..utils.typing import Array

# Scores are at the minimum if they are nearer than this share of a typical step, by the slope or the last move.
NEAR = 1e-9
# Decreases of the mean below this share of it are rounding errors.
ROUNDING = 1e-14
# Newton steps beyond which there is no minimum, and the fraction of one that shows whether the mean decreases.
LONGEST, SHORT = 1e6, 0.1
# The most passes over the scores.
MAX_PASSES = 20


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

    def value(self, scores: Array) -> float:
        """The mean."""
        losses = self.rows.losses(self.loss, np.tile(scores, (len(self.rows), 1)))
        return float(self._mean(losses[:, None])[0])

    def derivatives(self, scores: Array) -> tuple[Array, Array]:
        """The gradient of the mean and its positive hessian, (C,) each."""
        derivatives = self.rows.derivatives(self.loss, np.tile(scores, (len(self.rows), 1)))
        slope, curvature = map(self._mean, derivatives)
        return slope, np.where(curvature > 0.0, curvature, 1.0)

    def _mean(self, values: Array) -> Array:
        """The weighted mean of values (n, C), as np.average, which is slow for few rows."""
        weight = self.rows.weight
        return np.asarray((values * weight[:, None]).sum(axis=0) / weight.sum())

    def slope_along(self, scores: Array, direction: Array) -> Callable[[float], float]:
        """The derivative of the mean along a direction (C,), as a function of the distance."""
        return lambda length: float(self.derivatives(scores + length * direction)[0] @ direction)

    def is_less(self, scores: Array, other: Array) -> bool:
        """Whether the mean at some scores is less than at others by more than rounding errors."""
        value = self.value(other)
        return self.value(scores) < value - ROUNDING * abs(value)

    def free_scores(self, baseline: Array) -> Array:
        """Which scores of a loss's own baseline, (C,), are at their minimum.

        The others are kept from it by a bound, or have none: the loss of a label of no row is flat below the bound
        of the log-odds.
        """
        slope, curvature = self.derivatives(baseline)
        steps = -SHORT * np.diag(slope / curvature)
        typical = np.diag(np.where(slope > 0.0, -1.0, 1.0) / np.sqrt(curvature))
        least = self.value(baseline)
        is_free = [
            not self.is_less(baseline + step, baseline) and self.value(baseline + far) > least
            for step, far in zip(steps, typical, strict=True)
        ]
        return np.array(is_free)


def constant_scores(loss: Loss, rows: Observations) -> Array:
    r"""The constant scores that minimise a loss, (C,): its baseline, or with an offset the best given the offset.

    With an offset o it is the constant b that minimises the weighted mean of :math:`\ell(y, b + o)`.
    """
    alone = loss.baseline(rows.target(loss), rows.weight)
    if rows.offset is None or loss.translation_invariant:
        return alone
    free = WeightedMean(loss, Observations(rows.y, rows.weight)).free_scores(alone)
    start = alone - np.average(rows.offset, axis=0, weights=rows.weight)
    return minimising_constant(WeightedMean(loss, rows), start, free)


def minimising_constant(mean: WeightedMean, start: Array, free: Array) -> Array:
    """The constant scores, (C,), that minimise a mean loss, from `start`; those that are not `free` stay.

    Several scores are first found by BFGS, up to half of the digits and to kinks of the loss. The roots of the
    slope along each score follow. The start itself is the result unless another value is less.
    """
    step = 1.0 / np.sqrt(mean.derivatives(start)[1])
    best, units = start, np.diag(step)[free]
    if len(units) > 1:
        optimum = minimize(
            lambda z: mean.value(start + z @ units),
            np.zeros(len(units)),
            jac=lambda z: units @ mean.derivatives(start + z @ units)[0],
            method="BFGS",
            options={"gtol": NEAR},
        )
        best = start + optimum.x @ units
    for _ in range(MAX_PASSES):
        if (np.abs(units @ mean.derivatives(best)[0]) <= NEAR).all():
            break
        before = best
        for unit in units:
            best = best + minimiser_along(mean.slope_along(best, unit), LONGEST) * unit
        if (np.abs(best - before) <= NEAR * step).all():
            break
    return best if mean.is_less(best, start) else start
