r"""Distributions with a location and a scale: normal, lognormal, Laplace and Student's t.

Scores are the location and the log of the scale. With the standardised error :math:`z = (y - \mu) / \sigma` and
the log density f of the standard distribution the loss is :math:`\log \sigma - f(z)`. Locations and scales of
symmetric distributions are orthogonal.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betaln, expit

from ...utils.typing import Array
from ..links import AffineLink, IdentityLink, LogitLink, LogLink, ParameterLink, clip_exponent
from ..registry import LOSSES
from ..target_statistics import CONSTANT_SPREAD, require_targets, weighted_quantile
from .base import DISTRIBUTIONS, RESOLUTION, ContinuousDistribution, Distribution, weighted_moments
from .special import HALF_LOG_2PI, df_information, log_minus_digamma

# Squares of standardised errors up to this are finite.
LARGEST_ERROR = 1e120


class LocationScale(ContinuousDistribution):
    """Base class of distributions with a location and a scale, whose log is the second score."""

    link = ParameterLink.of_scores(loc=IdentityLink(), scale=LogLink())
    has_location = True
    scale_information: float
    """The Fisher information of the log of the scale; that of the location is one over the squared scale."""

    @abstractmethod
    def moments(self, y: Array, weight: Array) -> tuple[float, float]:
        """Location and scale of a target (n,)."""

    def estimated_resolution(self, y: Array, weight: Array) -> float:
        """A millionth of the scale of a target (n, 1); of its location, or of 1, if it is constant."""
        location, scale = self.moments(y[:, 0], weight)
        size = abs(location)
        return RESOLUTION * (scale if scale > CONSTANT_SPREAD * size else size or 1.0)

    def _rounded_units(self, unit: Array, y: Array) -> tuple[float, ...]:
        # Relative to the range, the unit of the location has the same digits for targets in any unit.
        size = float(np.ptp(y)) ** 2 or 1.0
        location, *others = super()._rounded_units(unit / [size, *np.ones(len(unit) - 1)], y)
        return size * location, *others

    def bounded_moments(self, y: Array, weight: Array) -> tuple[float, float, float]:
        """Location, scale and resolution of a target (n,); the scale is at least the resolution."""
        location, scale = self.moments(y, weight)
        least = self.error if self.error > 0.0 else self.estimated_resolution(y[:, None], weight)
        return location, max(scale, least), least

    def baseline(self, y: Array, weight: Array) -> Array:
        location, scale, _ = self.bounded_moments(y[:, 0], weight)
        return np.array([location, np.log(scale)])

    def information(self, raw: Array) -> Sequence[Array]:
        precision = np.exp(-clip_exponent(raw[:, 1:])) ** 2
        return precision, np.full_like(precision, self.scale_information)

    def standardized(self, y: Array, raw: Array) -> tuple[Array, Array, Array]:
        """Standardised errors and resolution, and scales, (n, 1) each."""
        scale = np.exp(clip_exponent(raw[:, 1:2]))
        with np.errstate(over="ignore"):
            z = np.clip((y - raw[:, :1]) / scale, -LARGEST_ERROR, LARGEST_ERROR)
            return z, np.minimum(self.error / scale, LARGEST_ERROR), scale


@LOSSES.register("normal")
@DISTRIBUTIONS.register("normal")
class Normal(LocationScale):
    r"""The normal distribution with mean ``loc`` and standard deviation ``scale``, which depend on the features.

    The loss is :math:`\log \sigma + z^2 / 2 + \log(2 \pi) / 2`, the gradient of location and log scale is
    :math:`-z / \sigma` and :math:`1 - z^2`, the Fisher information :math:`1 / \sigma^2` and 2.

    Parameters
    ----------
    unit, resolution : optional
        As in :class:`ContinuousDistribution`.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> X, y = np.arange(40.0)[:, None], np.sin(np.arange(40.0))
    >>> model = RFFBoostDistribution("normal", "tree", n_estimators=5).fit(X, y)
    >>> model.predict_dist(X).mean().shape
    (40,)
    """

    scale_information = 2.0

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        z, error, _ = self.standardized(y, raw)
        return 0.5 * (np.square(z) + np.square(error)) + clip_exponent(raw[:, 1:]) + HALF_LOG_2PI

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        z, error, scale = self.standardized(y, raw)
        return -z / scale, 1.0 - np.square(z) - np.square(error)

    def moments(self, y: Array, weight: Array) -> tuple[float, float]:
        mean, variance = weighted_moments(y, weight)
        return mean, math.sqrt(variance)

    def frozen(self, response: Array) -> Any:
        return stats.norm(loc=response[:, 0], scale=response[:, 1])


@LOSSES.register("lognormal")
@DISTRIBUTIONS.register("lognormal")
class LogNormal(Normal):
    r"""The distribution of a positive target whose log is normal with mean ``mu`` and deviation ``sigma``.

    The loss is that of :class:`Normal` for the log of the target, plus this log. The mean is
    :math:`\exp(\mu + \sigma^2 / 2)`.

    Parameters
    ----------
    unit, resolution : optional
        As in :class:`ContinuousDistribution`.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> X, y = np.arange(40.0)[:, None], 1.0 + np.arange(40.0)
    >>> model = RFFBoostDistribution("lognormal", "tree", n_estimators=5).fit(X, y)
    >>> model.predict_dist(X).mean().shape
    (40,)
    """

    link = ParameterLink.of_scores(mu=IdentityLink(), sigma=LogLink())
    monotone = (1, 1)
    positive = True

    def check_target(self, y: Array) -> None:
        require_targets(self, y, y > 0.0, "positive")

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        return super().negative_log_density(np.log(y), raw) + np.log(y)

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        return super().gradient(np.log(y), raw)

    def moments(self, y: Array, weight: Array) -> tuple[float, float]:
        return super().moments(np.log(y), weight)

    estimated_resolution = ContinuousDistribution.estimated_resolution
    _rounded_units = ContinuousDistribution._rounded_units

    def frozen(self, response: Array) -> Any:
        return stats.lognorm(s=response[:, 1], scale=np.exp(clip_exponent(response[:, 0])))

    def mean(self, response: Array) -> Array:
        # Of larger deviations the square may overflow; the mean is then at its limit in any case.
        return np.exp(clip_exponent(response[:, 0] + 0.5 * np.square(np.minimum(response[:, 1], 1e100))))


@LOSSES.register("laplace")
@DISTRIBUTIONS.register("laplace")
class LaplaceDistribution(LocationScale):
    r"""The Laplace distribution with median ``loc`` and mean absolute deviation ``scale``.

    The loss is :math:`\log(2 \sigma) + |z|`, the gradient :math:`-\mathrm{sign}(z) / \sigma` and :math:`1 - |z|`,
    the Fisher information :math:`1 / \sigma^2` and 1.

    Parameters
    ----------
    unit, resolution : optional
        As in :class:`ContinuousDistribution`.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> X, y = np.arange(40.0)[:, None], np.sin(np.arange(40.0))
    >>> model = RFFBoostDistribution("laplace", "tree", n_estimators=5).fit(X, y)
    >>> model.predict_dist(X).mean().shape
    (40,)
    """

    scale_information = 1.0

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        z, error, _ = self.standardized(y, raw)
        # As for a normal distribution: with the square the median stays the best location.
        return np.abs(z) + 0.5 * np.square(error) + clip_exponent(raw[:, 1:]) + np.log(2.0)

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        z, error, scale = self.standardized(y, raw)
        return -np.sign(z) / scale, 1.0 - np.abs(z) - np.square(error)

    def moments(self, y: Array, weight: Array) -> tuple[float, float]:
        median = weighted_quantile(y, weight, 0.5)
        return median, float(np.average(np.abs(y - median), weights=weight))

    def frozen(self, response: Array) -> Any:
        return stats.laplace(loc=response[:, 0], scale=response[:, 1])


@LOSSES.register("student_t")
@DISTRIBUTIONS.register("student_t")
class StudentT(LocationScale):
    r"""Student's t distribution with location ``loc``, ``scale`` and degrees of freedom ``df``.

    For targets with outliers. The third score r is that of the degrees of freedom, :math:`\nu = 1 + 2 e^r`, so
    that the mean exists. The second is the log of :math:`\tau = \sigma (\nu + 1) / \nu`: of all scales this one
    is orthogonal to :math:`\nu`. The Fisher information of location and log scale is
    :math:`(\nu + 1) / ((\nu + 3) \sigma^2)` and :math:`2 \nu / (\nu + 3)`.

    Parameters
    ----------
    unit, resolution : optional
        As in :class:`ContinuousDistribution`.

    References
    ----------
    Lange, Little and Taylor, Robust statistical modeling using the t distribution, JASA 84, 1989. Cox and Reid,
    Parameter orthogonality and approximate conditional inference, JRSS B 49, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> X, y = np.arange(40.0)[:, None], np.sin(np.arange(40.0))
    >>> model = RFFBoostDistribution("student_t", "tree", n_estimators=5).fit(X, y)
    >>> model.predict_dist(X).mean().shape
    (40,)
    """

    link = ParameterLink(
        (
            ((0, IdentityLink()),),
            ((1, LogLink()), (2, AffineLink(LogitLink(), 0.5, 0.5))),
            ((2, AffineLink(LogLink(), 1.0, 2.0)),),
        ),
        names=("loc", "scale", "df"),
    )

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        _, df, log_ratio = self._terms(y, raw)
        log_scale, log_df = self._logs(raw)
        tail = 0.5 * (df + 1.0) * np.logaddexp(0.0, log_ratio)
        return betaln(0.5, 0.5 * df) + 0.5 * log_df + log_scale + tail

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        error, df, log_ratio = self._terms(y, raw)
        share, size = expit(log_ratio), np.hypot(error, self.error)
        of_scale = 1.0 - (df + 1.0) * share
        half = 0.5 * df
        # The difference of digamma functions at (df + 1) / 2 and df / 2.
        change = np.log1p(1.0 / df) + log_minus_digamma(half) - log_minus_digamma(half + 0.5)
        of_df = half * np.logaddexp(0.0, log_ratio) - 0.5 * (df + 1.0) * share - half * change + 0.5
        # The share is 0 where the size is.
        size = np.where(size == 0.0, 1.0, size)
        of_location = -(df + 1.0) * (share / size) * (error / size)
        return of_location, of_scale, (of_df + of_scale / (df + 1.0)) * (1.0 - 1.0 / df)

    def information(self, raw: Array) -> Sequence[Array]:
        log_scale, log_df = self._logs(raw)
        df = np.exp(log_df)
        precision = np.exp(-clip_exponent(log_scale)) ** 2
        of_df = df_information(df) * np.square(1.0 - 1.0 / df)
        return (df + 1.0) / (df + 3.0) * precision, 2.0 * df / (df + 3.0), of_df

    baseline = Distribution.baseline

    @staticmethod
    def _logs(raw: Array) -> tuple[Array, Array]:
        """The logs of scale and degrees of freedom, (n, 1) each."""
        score, log_2 = clip_exponent(raw[:, 2:]), np.log(2.0)
        log_df = np.logaddexp(0.0, score + log_2)
        return clip_exponent(raw[:, 1:2]) + log_df - np.logaddexp(0.0, score) - log_2, log_df

    def _terms(self, y: Array, raw: Array) -> tuple[Array, Array, Array]:
        """Error, degrees of freedom, and the log of z^2 / df; each (n, 1)."""
        (log_scale, log_df), error = self._logs(raw), y - raw[:, :1]
        with np.errstate(divide="ignore"):
            return error, np.exp(log_df), 2.0 * (np.log(np.hypot(error, self.error)) - log_scale) - log_df

    def moments(self, y: Array, weight: Array) -> tuple[float, float]:
        median = weighted_quantile(y, weight, 0.5)
        errors = np.abs(y - median)
        # Most targets may be equal.
        typical = 1.5 * weighted_quantile(errors, weight, 0.5)
        return median, typical or math.sqrt(np.average(np.square(errors), weights=weight))

    def start(self, y: Array, weight: Array) -> tuple[Array, Array, Array]:
        median, scale, resolution = self.bounded_moments(y, weight)
        start = np.array([median, np.log(scale), np.log(2.0)])
        least = np.array([median - 20.0 * scale, np.log(resolution), np.log(0.1)])
        return start, least, np.array([median + 20.0 * scale, np.log(scale) + 10.0, np.log(50.0)])

    def frozen(self, response: Array) -> Any:
        return stats.t(df=response[:, 2], loc=response[:, 0], scale=response[:, 1])
