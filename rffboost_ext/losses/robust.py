"""Losses that are linear in large errors: absolute error and Huber's loss, and the base of pinball losses.

Their second derivative is 0 where they are linear. The hessian is therefore that of the quadratic majorizer, the
parabola above the loss that touches it at the current error r: ``|e| <= (e^2 / |r| + |r|) / 2``. Its Newton steps
are iteratively reweighted least squares.
"""

from __future__ import annotations

import numpy as np

from ..utils.param_validation import POSITIVE, OneOf
from ..utils.typing import Array
from .links import IdentityLink
from .registry import LOSSES
from .target_statistics import MAD_TO_STD, EstimatedLoss, ScaledLoss, typical_deviation, weighted_quantile

# Errors are floored at this share of the unit: the hessian of the majorizer is infinite at an error of 0.
ERROR_FLOOR = 0.05
# In standard deviations: Huber's estimate then has 95 % of the efficiency of the mean for normal errors.
DEFAULT_DELTA = 1.35


class RobustLoss(EstimatedLoss):
    """Base class of the losses of this family."""

    link = IdentityLink()
    rows = "independent"
    translation_invariant = True
    fit_criterion = "scaled"
    exact_hessian = False
    scored_by = "r2"


class PiecewiseLinearLoss(RobustLoss, ScaledLoss):
    """Base class of losses that are linear on both sides of the target."""

    def estimated_unit(self, y: Array, weight: Array) -> float:
        return typical_deviation(y[:, 0] - self.baseline(y, weight), weight)

    def absolute_derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        """Sign of the errors, and ``1 / |error|`` with errors floored at a share of the unit."""
        error = raw - y
        return np.sign(error), 1.0 / np.maximum(np.abs(error), np.multiply(ERROR_FLOOR, self.scales.unit))


@LOSSES.register("absolute_error")
class AbsoluteError(PiecewiseLinearLoss):
    r"""The absolute error, ``|raw - y|``: the response is the conditional median.

    The gradient is the sign of the error r, 0 where it is 0; the hessian is :math:`1 / \max(|r|, 0.05 u)`, u being
    the unit.

    Parameters
    ----------
    unit : float or "auto", default="auto"
        Size of a typical error, as in :class:`Quantile`.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import AbsoluteError
    >>> AbsoluteError().baseline(np.array([[0.0], [1.0], [99.0]]), np.ones(3))
    array([1.])
    """

    def value(self, y: Array, raw: Array) -> Array:
        return np.abs(raw - y)[:, 0]

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        return self.absolute_derivatives(y, raw)

    def baseline(self, y: Array, weight: Array) -> Array:
        return np.array([weighted_quantile(y[:, 0], weight, 0.5)])


@LOSSES.register("huber")
class Huber(RobustLoss):
    r"""Half the squared error up to an error of delta, linear beyond: ``delta (|r| - delta / 2)``.

    The gradient is the error r clipped to [-delta, delta]; the hessian is :math:`\min(1, \delta / |r|)`.

    Parameters
    ----------
    delta : float or "scale", default="scale"
        Where the loss becomes linear, in units of the target. "scale" is 1.35 standard deviations, estimated in
        each fit as 1.4826 times the median absolute deviation from the median; outside of a fit the standard
        deviation is taken as 1.

    References
    ----------
    Huber, Robust estimation of a location parameter, Annals of Mathematical Statistics 35, 1964.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from rffboost_ext.losses import Huber
    >>> Huber(delta=1.0).derivatives(np.zeros((2, 1)), np.array([[0.5], [4.0]]))[0].ravel()
    array([0.5, 1. ])
    >>> X = np.arange(20.0)[:, None]
    >>> RFFBoostRegressor(Huber(delta=1.0), "tree", n_estimators=5).fit(X, X[:, 0]).predict(X).shape
    (20,)
    """

    constraints = {"delta": POSITIVE | OneOf(("scale",))}
    estimated = ("delta",)

    def __init__(self, delta: float | str = "scale") -> None:
        self.delta = delta

    def estimated_delta(self, y: Array, weight: Array) -> float:
        """1.35 standard deviations."""
        median = weighted_quantile(y[:, 0], weight, 0.5)
        return DEFAULT_DELTA * MAD_TO_STD * typical_deviation(y[:, 0] - median, weight)

    @property
    def _delta(self) -> float:
        return DEFAULT_DELTA if isinstance(self.delta, str) else self.delta

    def value(self, y: Array, raw: Array) -> Array:
        size = np.abs(raw - y)[:, 0]
        near = np.minimum(size, self._delta)
        return near * (size - 0.5 * near)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        error = raw - y
        hessian = self._delta / np.maximum(np.abs(error), self._delta)
        return np.clip(error, -self._delta, self._delta), hessian

    def baseline(self, y: Array, weight: Array) -> Array:
        return np.array([huber_location(y[:, 0], weight, self._delta)])


def huber_location(values: Array, weight: Array, delta: float) -> float:
    """The root of ``sum_i w_i clip(v_i - c, -delta, delta)`` in c, decreasing and piecewise linear."""

    # Not a product of vectors, whose last bits depend on the threads of BLAS.
    def height(center: float) -> float:
        return float(np.sum(weight * np.clip((values - center) / delta, -1.0, 1.0)))

    knots = np.sort(np.concatenate([values - delta, values + delta]))
    first, last = 0, len(knots) - 1
    while last - first > 1:
        middle = (first + last) // 2
        first, last = (middle, last) if height(knots[middle]) > 0.0 else (first, middle)
    center = 0.5 * knots[first] + 0.5 * knots[last]
    inner, left = weight[np.abs(values - center) < delta].sum(), height(center)
    if inner > 0.0:
        center += delta * left / inner
    elif left != 0.0:
        # A delta below the rounding of the values: the sum falls in jumps at the values themselves.
        center = knots[last if left > 0.0 else first]
    return float(np.clip(center, knots[first], knots[last]))
