r"""Losses of positive targets with a log link, ``mean = exp(raw)``: Poisson, Tweedie and gamma.

The variance is proportional to a power p of the mean, and the loss is half the deviance. It includes terms that
depend on the target only, so that a perfect score has a loss of 0. With :math:`s = e^{(2 - p) raw}` and
:math:`u = y e^{-raw}`, the target divided by its prediction, gradient and second derivative are

.. math:: g = s (1 - u), \quad H = s (2 - p + (p - 1) u).

The loss of a row has its minimum at ``raw + log u``. A Newton step overshoots it if H is small: for gamma if u is
small, for Poisson if u is large. The hessian returned is therefore
:math:`s \max(2 - p + (p - 1) u, (u - 1) / \log u)`: with it the step of a single row never overshoots.
"""

from __future__ import annotations

import numpy as np

from ..core import Loss
from ..utils.param_validation import Real
from ..utils.typing import Array
from .links import LARGEST_EXPONENT, LogLink, clip_exponent
from .registry import LOSSES
from .target_statistics import ScaledLoss, require_targets, round_to_24_bits

# Raw scores are clipped to [-500, 500], logs of 1e-217 and 1e217: the mean of the target stays well inside.
LARGEST_MEAN = 1e200


class LogLinkLoss(ScaledLoss):
    """Base class of the losses of this family."""

    link = LogLink()
    rows = "independent"
    exact_hessian = False
    scored_by = "r2"
    positive = True

    power: float
    """The variance is proportional to this power of the mean."""

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss with its unit computed from the target.

        Raises
        ------
        ValueError
            If all targets are 0, or the log of their mean is near the limits of raw scores.
        """
        self.check_target(y)
        if not y.any():
            raise ValueError(f"loss {self!r}: y must have a positive sum, got only zeros")
        mean = float(np.average(y[:, 0], weights=weight))
        if not 1.0 / LARGEST_MEAN <= mean <= LARGEST_MEAN:
            raise ValueError(
                f"loss {self!r}: y must have a mean between {1.0 / LARGEST_MEAN:g} and {LARGEST_MEAN:g}, got "
                f"{mean:g}: give it in other units"
            )
        return super().prepared(y, weight, n_classes)

    def estimated_unit(self, y: Array, weight: Array) -> float:
        """The mean of the target to the power p - 2."""
        return round_to_24_bits(float(np.average(y[:, 0], weights=weight)) ** (self.power - 2.0))

    def check_target(self, y: Array) -> None:
        require_targets(self, y, y >= 0.0, "at least 0")

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        raw, p = clip_exponent(raw), self.power
        log_u = log_target(y) - raw
        scale, u_less_1 = np.exp((2.0 - p) * raw), np.expm1(log_u)
        with np.errstate(invalid="ignore"):
            chord = np.where(log_u == 0.0, 1.0, u_less_1 / log_u)
        return -scale * u_less_1, scale * np.maximum(1.0 + (p - 1.0) * u_less_1, chord)

    def baseline(self, y: Array, weight: Array) -> Array:
        mean = np.average(y[:, 0], weights=weight)
        return np.array([np.log(max(float(mean), np.finfo(np.float64).tiny))])


@LOSSES.register("poisson")
class Poisson(LogLinkLoss):
    """Half the Poisson deviance, for counts and rates: targets of at least 0.

    It is ``exp(raw) - y raw + y log(y) - y``; the variance is proportional to the mean. Gradient and hessian are
    in the docstring of the module, with p = 1.

    Parameters
    ----------
    unit : float or "auto", default="auto"
        Factor on derivatives in a fit, so that regularisation has the same effect whatever the scale of the
        target. "auto" is one over the weighted mean of the target, computed in each fit.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> X, y = np.arange(40.0)[:, None], np.repeat([0, 3], 20)
    >>> model = RFFBoostRegressor("poisson", "tree", n_estimators=20).fit(X, y)
    >>> bool((model.predict(X) > 0.0).all())
    True
    """

    power = 1.0
    canonical = True

    def value(self, y: Array, raw: Array) -> Array:
        log_y = log_target(y)
        with np.errstate(invalid="ignore"):
            # As a multiple of y, to avoid cancellation of large numbers.
            above = y * (np.expm1(clip_exponent(raw - log_y)) + log_y - raw)
        # A target that is 0 or negligible beside its prediction adds nothing to exp(raw).
        return np.where(raw - log_y < LARGEST_EXPONENT, above, np.exp(clip_exponent(raw)))[:, 0]


@LOSSES.register("gamma")
class Gamma(LogLinkLoss):
    """Half the gamma deviance, for sizes and durations: positive targets.

    It is ``y exp(-raw) - 1 + raw - log(y)``; the standard deviation is proportional to the mean. Gradient and
    hessian are in the docstring of the module, with p = 2; they do not depend on the scale of the target.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.losses import Gamma
    >>> loss = Gamma()
    >>> loss.link.inverse(loss.baseline(np.array([[1.0], [3.0]]), np.ones(2))).round(1)
    array([2.])
    """

    power = 2.0
    unit = 1.0

    def __init__(self) -> None:
        """No parameters: derivatives do not depend on the unit of the target."""

    def check_target(self, y: Array) -> None:
        require_targets(self, y, y > 0.0, "positive")

    def value(self, y: Array, raw: Array) -> Array:
        beyond = log_target(y) - raw
        return np.asarray(np.expm1(clip_exponent(beyond)) - beyond)[:, 0]


@LOSSES.register("tweedie")
class Tweedie(LogLinkLoss):
    """Half the Tweedie deviance for targets of at least 0 that are often 0, such as rainfall or claims.

    It is ``exp((2 - p) raw) / (2 - p) - y exp((1 - p) raw) / (1 - p) + y^(2 - p) / ((1 - p) (2 - p))``, for sums
    of a Poisson number of gamma variables. Gradient and hessian are in the docstring of the module.

    Parameters
    ----------
    power : float, default=1.5
        The variance is proportional to this power p of the mean, above 1 (Poisson) and below 2 (gamma).
    unit : float or "auto", default="auto"
        Factor on derivatives in a fit, as in :class:`Poisson`. "auto" is the weighted mean of the target to the
        power p - 2.

    References
    ----------
    Jørgensen, Exponential dispersion models, Journal of the Royal Statistical Society B 49, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from rffboost_ext.losses import Tweedie
    >>> X, y = np.arange(40.0)[:, None], np.repeat([0.0, 3.0], 20)
    >>> model = RFFBoostRegressor(Tweedie(power=1.3), "tree", n_estimators=20).fit(X, y)
    >>> bool((model.predict(X) > 0.0).all())
    True
    """

    constraints = ScaledLoss.constraints | {"power": Real(1.0, 2.0, closed="neither")}

    def __init__(self, power: float = 1.5, unit: float | str = "auto") -> None:
        super().__init__(unit)
        self.power = power

    def value(self, y: Array, raw: Array) -> Array:
        raw, p = clip_exponent(raw), self.power
        log_u = log_target(y) - raw
        # Rearranged to avoid cancellation near a perfect score, and for p near 1 or 2.
        rest = np.exp((2.0 - p) * log_u) * np.expm1((p - 1.0) * log_u) / (p - 1.0)
        return (np.exp((2.0 - p) * raw) * (rest - np.expm1((2.0 - p) * log_u) / (2.0 - p)))[:, 0]


def log_target(y: Array) -> Array:
    """``log(y)``, minus infinity at 0."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(y))
