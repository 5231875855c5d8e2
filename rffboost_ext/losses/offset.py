"""A loss with an offset: numbers of each row that are added to its scores, as the log of an exposure."""

from __future__ import annotations

import numpy as np

from ..core import Loss
from ..utils.convex import minimiser_along
from ..utils.param_validation import Integer
from ..utils.typing import Array
from .coupling import derivatives_of_rows, losses_of_rows
from .wrapper import LossWrapper

# Mean gradients below this share of the mean absolute gradient are rounding errors.
ROUNDING = 1e-14
# Steps along the gradient beyond which a loss has no minimum.
LONGEST = 1e6


class WithOffset(LossWrapper):
    r"""Another loss at ``raw + offset``: the offset of a row is in the last columns of its target.

    An offset thus moves with its row wherever rows are sampled, divided or merged. The baseline is the constant
    :math:`b` that minimises the weighted mean of :math:`\ell(y, b + o)` given the offsets o. If the inner loss is
    invariant under translation, the offset is subtracted from the target instead, which is the same.

    Parameters
    ----------
    loss : Loss
        The inner loss.
    n_columns : int
        Columns of the offset: the number of scores of the inner loss, C.
    """

    constraints = {"n_columns": Integer(1)}

    def __init__(self, loss: Loss, n_columns: int) -> None:
        super().__init__(loss)
        self.n_columns = n_columns

    def own_columns(self, y: Array) -> Array:
        """The columns of the inner loss's own target, (n, K)."""
        return np.ascontiguousarray(y[:, : -self.n_columns])

    def offset(self, y: Array) -> Array:
        """The offset, (n, C)."""
        return y[:, -self.n_columns :]

    def inner_target(self, y: Array) -> Array:
        """The target of the inner loss, (n, K); less the offset if the loss is invariant under translation."""
        own = self.own_columns(y)
        return own - self.offset(y) if self.translation_invariant else own

    def inner_raw(self, y: Array, raw: Array) -> Array:
        """The scores of the inner loss, (n, C)."""
        return raw if self.translation_invariant else raw + self.offset(y)

    def value(self, y: Array, raw: Array, weight: Array | None = None) -> Array:
        return losses_of_rows(self.loss, self.inner_target(y), self.inner_raw(y, raw), weight)

    def derivatives(self, y: Array, raw: Array, weight: Array | None = None) -> tuple[Array, Array]:
        return derivatives_of_rows(self.loss, self.inner_target(y), self.inner_raw(y, raw), weight)

    def baseline(self, y: Array, weight: Array) -> Array:
        without = self.loss.baseline(self.inner_target(y), weight)
        if self.translation_invariant:
            return without
        return minimising_constant(self, y, weight, without - np.average(self.offset(y), axis=0, weights=weight))


def minimising_constant(loss: Loss, y: Array, weight: Array, start: Array) -> Array:
    """The constant scores, (C,), that minimise the weighted mean of a loss, from scores `start` near them.

    A single score is the root of the mean gradient, several are found by BFGS in units of Newton steps.
    """
    share = weight / weight.sum()

    def derivatives(constant: Array) -> tuple[Array, Array]:
        return derivatives_of_rows(loss, y, np.tile(constant, (len(y), 1)), weight)

    gradient, hessian = derivatives(start)
    slope, curvature = share @ gradient, share @ hessian
    if (np.abs(slope) <= ROUNDING * (share @ np.abs(gradient))).all():
        return start
    curvature[curvature <= 0.0] = 1.0
    if len(start) == 1:
        step = -slope / curvature
        length = minimiser_along(lambda t: float((share @ derivatives(start + t * step)[0] * step)[0]), LONGEST)
        return start + length * step
    return minimised_together(loss, y, weight, start, 1.0 / np.sqrt(curvature))


def minimised_together(loss: Loss, y: Array, weight: Array, start: Array, unit: Array) -> Array:
    """The constant scores, (C,), that minimise the weighted mean of a loss, by BFGS in units (C,)."""
    from scipy.optimize import minimize

    share = weight / weight.sum()

    def objective(z: Array) -> tuple[float, Array]:
        raw = np.tile(start + unit * z, (len(y), 1))
        gradient, _ = derivatives_of_rows(loss, y, raw, weight)
        return float(share @ losses_of_rows(loss, y, raw, weight)), unit * (share @ gradient)

    found = minimize(objective, np.zeros(len(start)), jac=True, method="BFGS", options={"gtol": 1e-10})
    return np.asarray(start + unit * found.x)


def with_same_offset(loss: Loss, other: Loss) -> Loss:
    """The loss `other` for the targets of `loss`, whose last columns may be an offset."""
    return WithOffset(other, loss.n_columns) if isinstance(loss, WithOffset) else other


def without_offset(loss: Loss) -> Loss:
    """The user's loss: the inner one of a loss with an offset."""
    return loss.loss if isinstance(loss, WithOffset) else loss


def own_columns(loss: Loss, y: Array) -> Array:
    """The columns of a target that are the user's, (n, K), without those of an offset."""
    return loss.own_columns(y) if isinstance(loss, WithOffset) else y


def total_scores(loss: Loss, y: Array, raw: Array) -> Array:
    """Scores (n, C) with the offset, which the target of the loss may hold."""
    return raw + loss.offset(y) if isinstance(loss, WithOffset) else raw
