r"""Distributions with a location and a scale: normal, lognormal, Laplace and Student's t.

Scores are the location and the log of the scale. With the standardised error :math:`z = (y - \mu) / \sigma` and
the log density f of the standard distribution the loss is :math:`\log \sigma - f(z)`. Locations and scales of
symmetric distributions are orthogonal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import betaln, expit

from ...utils.typing import Array
from ..links import AffineLink, IdentityLink, LogitLink, LogLink, ParameterLink, clip_exponent
from ..registry import LOSSES
from ..target_statistics import require_targets, weighted_quantile
from .base import DISTRIBUTIONS, Distribution, weighted_moments
from .special import HALF_LOG_2PI, df_information, log_minus_digamma

LOCATION_AND_SCALE = ParameterLink.of_scores(IdentityLink(), LogLink())
# Squares of standardised errors up to this are finite.
LARGEST_ERROR = 1e120
# A target whose spread is below this share of its size is constant up to rounding.
CONSTANT_SPREAD = 1e-12


def standardized(y: Array, raw: Array) -> tuple[Array, Array]:
    """Standardised errors and scales, (n, 1) each, for scores of location and log scale."""
    scale = np.exp(clip_exponent(raw[:, 1:2]))
    with np.errstate(over="ignore"):
        return np.clip((y - raw[:, :1]) / scale, -LARGEST_ERROR, LARGEST_ERROR), scale


def log_spread(spread: float, location: float) -> float:
    """The log of the spread of a target about its location; a share of the location, or 1, if it is constant."""
    size = abs(location)
    return float(np.log(spread if spread > CONSTANT_SPREAD * size else 1e-6 * size or 1.0))


@LOSSES.register("normal")
@DISTRIBUTIONS.register("normal")
class Normal(Distribution):
    r"""The normal distribution with mean ``loc`` and standard deviation ``scale``, which depend on the features.

    The loss is :math:`\log \sigma + z^2 / 2 + \log(2 \pi) / 2`, the gradient of location and log scale is
    :math:`-z / \sigma` and :math:`1 - z^2`, the Fisher information :math:`1 / \sigma^2` and 2.

    Parameters
    ----------
    unit : "auto", float or sequence of float, default="auto"
        Factor on the derivatives, as in :class:`Distribution`.
    """

    link = LOCATION_AND_SCALE
    response_names = "loc", "scale"

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        z, _ = standardized(y, raw)
        return 0.5 * np.square(z) + clip_exponent(raw[:, 1:]) + HALF_LOG_2PI

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        z, scale = standardized(y, raw)
        return -z / scale, 1.0 - np.square(z)

    def information(self, raw: Array) -> Sequence[Array]:
        precision = np.exp(-clip_exponent(raw[:, 1:])) ** 2
        return precision, np.full_like(precision, 2.0)

    def baseline(self, y: Array, weight: Array) -> Array:
        mean, variance = weighted_moments(y[:, 0], weight)
        return np.array([mean, log_spread(np.sqrt(variance), mean)])

    def frozen(self, response: Array) -> Any:
        from scipy.stats import norm

        return norm(loc=response[:, 0], scale=response[:, 1])

    def mean(self, response: Array) -> Array:
        return response[:, 0]


@LOSSES.register("lognormal")
@DISTRIBUTIONS.register("lognormal")
class LogNormal(Distribution):
    r"""The distribution of a positive target whose log is normal with mean ``mu`` and deviation ``sigma``.

    The loss is that of :class:`Normal` for the log of the target, plus this log. The mean is
    :math:`\exp(\mu + \sigma^2 / 2)`.

    Parameters
    ----------
    unit : "auto", float or sequence of float, default="auto"
        Factor on the derivatives, as in :class:`Distribution`.
    """

    link = LOCATION_AND_SCALE
    response_names = "mu", "sigma"
    positive = True

    def check_target(self, y: Array) -> None:
        require_targets(self, y, y > 0.0, "positive")

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        return NORMAL.negative_log_density(np.log(y), raw) + np.log(y)

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        return NORMAL.gradient(np.log(y), raw)

    def information(self, raw: Array) -> Sequence[Array]:
        return NORMAL.information(raw)

    def baseline(self, y: Array, weight: Array) -> Array:
        return NORMAL.baseline(np.log(y), weight)

    def frozen(self, response: Array) -> Any:
        from scipy.stats import lognorm

        return lognorm(s=response[:, 1], scale=np.exp(clip_exponent(response[:, 0])))

    def mean(self, response: Array) -> Array:
        # Of larger deviations the square may overflow; the mean is then at its limit in any case.
        return np.exp(clip_exponent(response[:, 0] + 0.5 * np.square(np.minimum(response[:, 1], 1e100))))


@LOSSES.register("laplace")
@DISTRIBUTIONS.register("laplace")
class Laplace(Distribution):
    r"""The Laplace distribution with median ``loc`` and mean absolute deviation ``scale``.

    The loss is :math:`\log(2 \sigma) + |z|`, the gradient :math:`-\mathrm{sign}(z) / \sigma` and :math:`1 - |z|`,
    the Fisher information :math:`1 / \sigma^2` and 1.

    Parameters
    ----------
    unit : "auto", float or sequence of float, default="auto"
        Factor on the derivatives, as in :class:`Distribution`.
    """

    link = LOCATION_AND_SCALE
    response_names = "loc", "scale"

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        z, _ = standardized(y, raw)
        return np.abs(z) + clip_exponent(raw[:, 1:]) + np.log(2.0)

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        z, scale = standardized(y, raw)
        return -np.sign(z) / scale, 1.0 - np.abs(z)

    def information(self, raw: Array) -> Sequence[Array]:
        precision = np.exp(-clip_exponent(raw[:, 1:])) ** 2
        return precision, np.ones_like(precision)

    def baseline(self, y: Array, weight: Array) -> Array:
        median = weighted_quantile(y[:, 0], weight, 0.5)
        return np.array([median, log_spread(float(np.average(np.abs(y[:, 0] - median), weights=weight)), median)])

    def frozen(self, response: Array) -> Any:
        from scipy.stats import laplace

        return laplace(loc=response[:, 0], scale=response[:, 1])

    def mean(self, response: Array) -> Array:
        return response[:, 0]


@LOSSES.register("student_t")
@DISTRIBUTIONS.register("student_t")
class StudentT(Distribution):
    r"""Student's t distribution with location ``loc``, ``scale`` and degrees of freedom ``df``.

    For targets with outliers. The third score r is that of the degrees of freedom, :math:`\nu = 1 + 2 e^r`, so
    that the mean exists. The second is the log of :math:`\tau = \sigma (\nu + 1) / \nu`: of all scales this one
    is orthogonal to :math:`\nu`. The Fisher information of location and log scale is
    :math:`(\nu + 1) / ((\nu + 3) \sigma^2)` and :math:`2 \nu / (\nu + 3)`.

    Parameters
    ----------
    unit : "auto", float or sequence of float, default="auto"
        Factor on the derivatives, as in :class:`Distribution`.

    References
    ----------
    Lange, Little and Taylor, Robust statistical modeling using the t distribution, JASA 84, 1989. Cox and Reid,
    Parameter orthogonality and approximate conditional inference, JRSS B 49, 1987.
    """

    link = ParameterLink(
        (
            ((0, IdentityLink()),),
            ((1, LogLink()), (2, AffineLink(LogitLink(), 0.5, 0.5))),
            ((2, AffineLink(LogLink(), 1.0, 2.0)),),
        )
    )
    response_names = "loc", "scale", "df"

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        _, df, log_ratio = self._terms(y, raw)
        log_scale, log_df = self._logs(raw)
        tail = 0.5 * (df + 1.0) * np.logaddexp(0.0, log_ratio)
        return betaln(0.5, 0.5 * df) + 0.5 * log_df + log_scale + tail

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        error, df, log_ratio = self._terms(y, raw)
        share = expit(log_ratio)
        of_scale = 1.0 - (df + 1.0) * share
        half = 0.5 * df
        # The difference of digamma functions at (df + 1) / 2 and df / 2.
        change = np.log1p(1.0 / df) + log_minus_digamma(half) - log_minus_digamma(half + 0.5)
        of_df = half * np.logaddexp(0.0, log_ratio) - 0.5 * (df + 1.0) * share - half * change + 0.5
        # The share is 0 where the error is.
        of_location = -(df + 1.0) * share / np.where(error == 0.0, 1.0, error)
        return of_location, of_scale, (of_df + of_scale / (df + 1.0)) * (1.0 - 1.0 / df)

    def information(self, raw: Array) -> Sequence[Array]:
        log_scale, log_df = self._logs(raw)
        df = np.exp(log_df)
        precision = np.exp(-clip_exponent(log_scale)) ** 2
        of_df = df_information(df) * np.square(1.0 - 1.0 / df)
        return (df + 1.0) / (df + 3.0) * precision, 2.0 * df / (df + 3.0), of_df

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
            return error, np.exp(log_df), 2.0 * (np.log(np.abs(error)) - log_scale) - log_df

    def start(self, y: Array, weight: Array) -> tuple[Array, Array, Array]:
        median = weighted_quantile(y, weight, 0.5)
        spread = log_spread(1.5 * weighted_quantile(np.abs(y - median), weight, 0.5), median)
        start = np.array([median, spread, np.log(2.0)])
        width = 20.0 * np.exp(spread)
        least = np.array([median - width, spread - 10.0, np.log(0.1)])
        return start, least, np.array([median + width, spread + 10.0, np.log(50.0)])

    def frozen(self, response: Array) -> Any:
        from scipy.stats import t

        return t(df=response[:, 2], loc=response[:, 0], scale=response[:, 1])

    def mean(self, response: Array) -> Array:
        return response[:, 0]


NORMAL = Normal()
