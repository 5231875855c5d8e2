r"""Accelerated failure time: losses of times that are known exactly or by bounds, ``log(time) = raw + sigma Z``.

Z is standard normal, standard logistic, or the log of a standard exponential variable, which makes times
log-normal, log-logistic or Weibull. A target has two columns, bounds of the time: both are equal for an observed
time, the upper one is infinite for a time that is censored on the right, and the lower one is 0 for a time that is
censored on the left. With :math:`z = (\log(bound) - raw) / \sigma`, the density f of Z and its distribution F, the
loss is the negative log-likelihood

.. math:: -\log f(z) + \log(\sigma \, time) \quad \text{or} \quad -\log(F(z_{upper}) - F(z_{lower})).

The three densities are log-concave, so the loss is convex in the raw score.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.special import erfcx, expit, log_expit, log_ndtr

from ..core import Loss, Scales
from ..utils.param_validation import POSITIVE, OneOf
from ..utils.typing import Array
from .distributions.special import HALF_LOG_2PI
from .links import AffineLink, IdentityLink, LogLink, clip_exponent
from .registry import LOSSES
from .survival import SurvivalLoss
from .target_statistics import LEAST_HESSIAN, EstimatedLoss

PARAMETERS = """
    Parameters
    ----------
    sigma : float or "auto", default="auto"
        Scale of Z. "auto" is its maximum likelihood estimate for constant scores, computed in each fit; outside of
        a fit it is 1.
    """
# Exponents of Z are clipped to this size: squares of their exponentials are finite.
LARGEST_Z = 300.0
# Intervals of z that are narrower count as points: the difference of their probabilities would be rounding errors.
NARROW = 1e-6
# Estimates of sigma are within this range. They are rounded, so that the order of rows makes no difference.
LEAST_SIGMA, LARGEST_SIGMA, SIGMA_DIGITS = 1e-3, 1e3, 4


class AFTLoss(EstimatedLoss, SurvivalLoss):
    """Base class of the losses of this family: the response is ``exp(raw)``, the time at Z = 0."""

    link = LogLink(names=("time",))
    risk_link = AffineLink(IdentityLink(), 0.0, -1.0)
    rows = "independent"
    infinite = True
    is_smooth = True
    constraints = {"sigma": POSITIVE | OneOf(("auto",))}
    estimated = ("sigma",)

    def __init__(self, sigma: float | str = "auto") -> None:
        self.sigma = sigma

    @abstractmethod
    def log_density(self, z: Array) -> Array:
        """The log of f at z (n,), its first and its second derivative, (3, n)."""

    @abstractmethod
    def log_survival(self, z: Array) -> Array:
        """The log of 1 - F at z (n,), which may be infinite, its first and second derivative, (3, n)."""

    def log_distribution(self, z: Array) -> Array:
        """The same for F; by default for a density that is symmetric about 0."""
        value, slope, curvature = self.log_survival(-z)
        return np.stack([value, -slope, curvature])

    @property
    def scale(self) -> float:
        """Sigma as a number."""
        return 1.0 if isinstance(self.sigma, str) else float(self.sigma)

    @property
    def scales(self) -> Scales:  # type: ignore[override]
        """The square of sigma as unit: hessians are O(1)."""
        return Scales(self.scale**2)

    def check_target(self, y: Array) -> None:
        require_no_events(f"loss {self!r}: y", y)
        low, high = y.T
        wrong = ~((low >= 0.0) & np.isfinite(low) & (high > 0.0) & (low <= high))
        if wrong.any():
            raise ValueError(
                f"loss {self!r}: y must hold bounds of times, 0 <= lower <= upper, the lower one finite and the "
                f"upper one positive, got {y[wrong][0].tolist()}"
            )

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss with sigma estimated; a ValueError if no time has a lower bound, or none an upper one."""
        self.check_target(y)
        for side, bounded in (("lower", y[:, 0] > 0.0), ("upper", np.isfinite(y[:, 1]))):
            if not bounded.any():
                raise ValueError(f"loss {self!r}: y must have a time with a positive and finite {side} bound")
        return super().prepared(y, weight, n_classes)

    def estimated_sigma(self, y: Array, weight: Array) -> float:
        """The sigma of constant scores with the largest likelihood, rounded."""
        logs = np.log(y[(y > 0.0) & np.isfinite(y)])
        limits = np.log(LEAST_SIGMA), np.log(LARGEST_SIGMA)
        start = np.array([logs.mean(), np.log(np.clip(logs.std(), LEAST_SIGMA, LARGEST_SIGMA))])

        def mean_loss(params: Array) -> tuple[float, Array]:
            sigma = np.exp(params[1])
            value, by_z, _, by_log_sigma = self.log_likelihood(y, np.full((len(y), 1), params[0]), sigma) @ weight
            return -value / weight.sum(), np.array([by_z / sigma, -by_log_sigma]) / weight.sum()

        options = {"ftol": 1e-15, "gtol": 1e-9}
        optimum = minimize(mean_loss, start, jac=True, bounds=[(None, None), limits], options=options)
        return float(f"{np.exp(optimum.x[1]):.{SIGMA_DIGITS}g}")

    def value(self, y: Array, raw: Array) -> Array:
        return -self.log_likelihood(y, raw, self.scale)[0]

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        _, slope, curvature, _ = self.log_likelihood(y, raw, self.scale)
        hessian = np.maximum(-curvature, LEAST_HESSIAN) / self.scale**2
        return slope[:, None] / self.scale, hessian[:, None]

    def baseline(self, y: Array, weight: Array) -> Array:
        logs = np.log(y[(y > 0.0) & np.isfinite(y)])
        low, high = logs.min() - self.scale, logs.max() + self.scale

        def slope(raw: float) -> float:
            return float(weight @ self.log_likelihood(y, np.full((len(y), 1), raw), self.scale)[1])

        while slope(low) > 0.0:
            low -= high - low
        while slope(high) < 0.0:
            high += high - low
        return np.array([brentq(slope, low, high, xtol=1e-14)])

    def risk(self, response: Array) -> Array:
        """Minus the log of the time at Z = 0, the response."""
        return -np.log(response[:, 0])

    def baseline_hazard(self, y: Array, raw: Array, weight: Array, time: Array) -> Array:
        """The cumulative hazard of a score of 0 at times (T,), by the distribution of Z."""
        return self.cumulative_hazard(np.zeros((1, 1)), time, time)[0]

    @np.errstate(over="ignore", divide="ignore", invalid="ignore")
    def cumulative_hazard(self, raw: Array, time: Array, baseline: Array) -> Array:
        """Minus the log of ``1 - F(z)`` at times (T,) for scores (n, 1), (n, T)."""
        return -self.log_survival((np.log(time) - raw) / self.scale)[0]

    def median_time(self, raw: Array, time: Array, baseline: Array) -> Array:
        """The time at the median of Z."""
        z = brentq(lambda z: self.log_survival(np.array([z]))[0, 0] + np.log(2.0), -LARGEST_Z, LARGEST_Z)
        return np.exp(clip_exponent(raw[:, 0] + self.scale * z))

    @np.errstate(over="ignore", divide="ignore", invalid="ignore")
    def log_likelihood(self, y: Array, raw: Array, sigma: float) -> Array:
        """The log-likelihood of each row, its first and second derivative by z, and that by log(sigma), (4, n)."""
        z, likelihood = (np.log(y) - raw) / sigma, np.full((4, len(y)), np.nan)
        is_wide = z[:, 1] > z[:, 0] + NARROW
        likelihood[:, is_wide] = likelihood_of_intervals(self, z[is_wide])
        # Intervals without a difference of their probabilities count as points, too.
        points = ~np.isfinite(likelihood[0])
        z, (low, high) = z[points], y[points].T
        z = np.where((z[:, 0] > 0.0) | np.isinf(z[:, 1]), z[:, 0], z[:, 1])
        density, slope, curvature = self.log_density(z)
        width = np.where(low == high, 1.0, high - low) / (sigma * high)
        likelihood[:, points] = density + np.log(width), slope, curvature, -slope * z - 1.0
        return likelihood


@LOSSES.register("aft_normal")
class AFTNormal(AFTLoss):
    __doc__ = f"""Log-normal times, which may be censored: Z has a standard normal distribution.
    {PARAMETERS}

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostSurvival
    >>> X, time = np.arange(40.0)[:, None], np.arange(1.0, 41.0)
    >>> bounds = np.column_stack([time, np.where(time > 30.0, np.inf, time)])
    >>> model = RFFBoostSurvival("aft_normal", "tree", n_estimators=10).fit(X, bounds)
    >>> model.predict_median_time(X).shape
    (40,)
    """

    def log_density(self, z: Array) -> Array:
        return np.stack([-0.5 * np.square(z) - HALF_LOG_2PI, -z, np.full_like(z, -1.0)])

    def log_survival(self, z: Array) -> Array:
        hazard = np.sqrt(2.0 / np.pi) / erfcx(z / np.sqrt(2.0))
        return np.stack([log_ndtr(-z), -hazard, -hazard * (hazard - z)])


@LOSSES.register("aft_logistic")
class AFTLogistic(AFTLoss):
    __doc__ = f"""Log-logistic times, which may be censored: Z has a standard logistic distribution.
    {PARAMETERS}

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostSurvival
    >>> X, time = np.arange(40.0)[:, None], np.arange(1.0, 41.0)
    >>> model = RFFBoostSurvival("aft_logistic", "tree", n_estimators=10).fit(X, time)
    >>> model.predict_median_time(X).shape
    (40,)
    """

    def log_density(self, z: Array) -> Array:
        return np.stack([log_expit(z) + log_expit(-z), -np.tanh(0.5 * z), -2.0 * expit(z) * expit(-z)])

    def log_survival(self, z: Array) -> Array:
        return np.stack([log_expit(-z), -expit(z), -expit(z) * expit(-z)])


@LOSSES.register("aft_extreme")
class AFTExtreme(AFTLoss):
    __doc__ = f"""Weibull times, which may be censored: ``exp(Z)`` has a standard exponential distribution.
    {PARAMETERS}

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostSurvival
    >>> from rffboost_ext.losses import AFTExtreme
    >>> X, time = np.arange(40.0)[:, None], np.arange(1.0, 41.0)
    >>> model = RFFBoostSurvival(AFTExtreme(sigma=0.5), "tree", n_estimators=10).fit(X, time)
    >>> model.predict_median_time(X).shape
    (40,)
    """

    def log_density(self, z: Array) -> Array:
        power = exp_of(z)
        return np.stack([z - power, 1.0 - power, -power])

    def log_survival(self, z: Array) -> Array:
        return np.stack([-exp_of(z)] * 3)

    def log_distribution(self, z: Array) -> Array:
        power = exp_of(z)
        slope = power / np.expm1(power)
        return np.stack([np.log(-np.expm1(-power)), slope, slope * (1.0 - power - slope)])


def likelihood_of_intervals(loss: AFTLoss, z: Array) -> Array:
    """The log-likelihood of intervals of z (m, 2) and its derivatives as ``log_likelihood`` has them, (4, m)."""
    above, finite = z[:, 0] > 0.0, np.isfinite(z)
    # The probability is a difference of two tails: above 0 those of 1 - F, `near` being the greater one.
    tails = np.empty((2, 3, len(z)))
    for rows, tail, order in ((above, loss.log_survival, (0, 1)), (~above, loss.log_distribution, (1, 0))):
        for k, side in enumerate(order):
            tails[k][:, rows] = tail(z[rows, side])
            tails[k][1:, rows & ~finite[:, side]] = 0.0
    near, far = tails
    z = np.where(finite, z, 0.0)
    z_near, z_far = np.where(above[:, None], z, z[:, ::-1]).T
    gap, slope, curvature = near - far
    odds = 1.0 / np.expm1(gap)
    return np.stack(
        [
            near[0] + np.log(-np.expm1(-gap)),
            near[1] + slope * odds,
            near[2] + curvature * odds - slope**2 * odds * (1.0 + odds),
            far[1] * odds * z_far - near[1] * (1.0 + odds) * z_near,
        ]
    )


def require_no_events(what: str, y: Array) -> None:
    """Raise a ValueError if columns (n, 2) of bounds of times look like event and time.

    The first column then has only 0 and 1, and the second one finite times; lower bounds of the kind are taken for
    bounds if an upper one is infinite.
    """
    event, time = y.T
    if event.any() and ((event == 0.0) | (event == 1.0)).all() and np.isfinite(time).all() and (time != 1.0).any():
        raise ValueError(
            f"{what} must hold bounds of times, (time, time) if observed and (time, inf) if censored, "
            f"got 0 and 1 in the first column, as of event and time; RFFBoostSurvival takes a structured array"
        )


def exp_of(z: Array) -> Array:
    """``exp(z)`` of z clipped to [-300, 300], unless it is infinite."""
    return np.exp(np.where(np.isfinite(z), np.clip(z, -LARGEST_Z, LARGEST_Z), z))
