"""Distributions of targets that are positive, or between 0 and 1: gamma and beta."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from ...utils.typing import Array
from ..links import LogitLink, LogLink, ParameterLink, clip_exponent
from ..registry import LOSSES
from ..target_statistics import require_targets
from .base import DISTRIBUTIONS, RESOLUTION, ContinuousDistribution, weighted_moments
from .frozen import beta, beta_log_density, gamma
from .special import HALF_LOG_2PI, log_minus_digamma, scaled_trigamma, stirling_remainder

# Bounds of the shapes of beta distributions.
LEAST_SHAPE, LARGEST_SHAPE = 1e-100, 1e100


@LOSSES.register("gamma_distribution")
@DISTRIBUTIONS.register("gamma")
class GammaDistribution(ContinuousDistribution):
    r"""The gamma distribution of a positive target with its ``mean`` and ``shape``; the scale is their ratio.

    Scores are the logs of mean :math:`\mu` and shape a, which are orthogonal. With :math:`u = y / \mu` the
    gradient is :math:`a (1 - u)` and :math:`a (u - 1 - \log u + \psi(a) - \log a)`, the Fisher information a and
    :math:`a^2 \psi'(a) - a`. The loss of one score for a constant shape is :class:`~rffboost_ext.losses.Gamma`.

    Parameters
    ----------
    unit, resolution : optional
        As in :class:`ContinuousDistribution`.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> X, y = np.arange(40.0)[:, None], 1.0 + np.arange(40.0)
    >>> model = RFFBoostDistribution("gamma", "tree", n_estimators=5).fit(X, y)
    >>> model.predict_dist(X).mean().shape
    (40,)
    """

    link = ParameterLink.of_scores(mean=LogLink(), shape=LogLink())
    positive = True

    def check_target(self, y: Array) -> None:
        require_targets(self, y, y > 0.0, "positive")

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        shape, _, deviance = self._terms(y, raw)
        constants = np.log(y) - 0.5 * clip_exponent(raw[:, 1:]) + HALF_LOG_2PI + stirling_remainder(shape)
        return shape * deviance + constants

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        shape, excess, deviance = self._terms(y, raw)
        return -shape * excess, shape * (deviance - log_minus_digamma(shape))

    def information(self, raw: Array) -> Sequence[Array]:
        shape = np.exp(clip_exponent(raw[:, 1:]))
        return shape, scaled_trigamma(shape)

    def _terms(self, y: Array, raw: Array) -> tuple[Array, Array, Array]:
        """The shape, u - 1 and u - 1 - log u, each (n, 1); the last is the mean for relative errors of a size."""
        log_u = np.log(y) - clip_exponent(raw[:, :1])
        excess = np.expm1(clip_exponent(log_u))
        return np.exp(clip_exponent(raw[:, 1:])), excess, excess - log_u + 0.5 * self.error**2

    def start(self, y: Array, weight: Array) -> tuple[Array, Array, Array]:
        mean, variance = weighted_moments(y, weight)
        log_mean = np.log(mean)
        shape = mean**2 / max(variance, (RESOLUTION * mean) ** 2)
        start = np.array([log_mean, np.log(shape)])
        return start, start - 8.0, start + 8.0

    def frozen(self, response: Array) -> Any:
        return gamma(a=response[:, 1], scale=response[:, 0] / response[:, 1])


@LOSSES.register("beta")
@DISTRIBUTIONS.register("beta")
class Beta(ContinuousDistribution):
    r"""The beta distribution of a target between 0 and 1 with its ``mean`` and ``precision``.

    Scores are the logit of the mean :math:`\mu` and the log of the precision :math:`\phi`; the shapes are
    :math:`a = \mu \phi` and :math:`b = (1 - \mu) \phi`. The Fisher information is
    :math:`\mu^2 (1 - \mu)^2 \phi^2 (\psi'(a) + \psi'(b))` and :math:`a^2 \psi'(a) + b^2 \psi'(b) - \phi^2
    \psi'(\phi)`. The parameters are nearly orthogonal where a and b are large.

    Parameters
    ----------
    unit, resolution : optional
        As in :class:`ContinuousDistribution`.

    References
    ----------
    Ferrari and Cribari-Neto, Beta regression for modelling rates and proportions, Journal of Applied Statistics
    31, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> X, y = np.arange(40.0)[:, None], (1.0 + np.arange(40.0)) / 42.0
    >>> model = RFFBoostDistribution("beta", "tree", n_estimators=5).fit(X, y)
    >>> model.predict_dist(X).mean().shape
    (40,)
    """

    link = ParameterLink.of_scores(mean=LogitLink(), precision=LogLink())
    positive = True

    def check_target(self, y: Array) -> None:
        require_targets(self, y, (y > 0.0) & (y < 1.0), "above 0 and below 1")

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        a, b = self._shapes(raw)
        density = beta_log_density(y, a, b, log_expit(raw[:, :1]), log_expit(-raw[:, :1]))
        return 0.5 * self.error**2 * (a + b) - density

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        a, b = self._shapes(raw)
        of_a, of_b, total = log_minus_digamma(a), log_minus_digamma(b), a + b
        log_y, log_1_y = np.log(y), np.log1p(-y)
        fit = a * (log_expit(raw[:, :1]) - log_y) + b * (log_expit(-raw[:, :1]) - log_1_y)
        fit += 0.5 * self.error**2 * total
        of_precision = fit - a * of_a - b * of_b + total * log_minus_digamma(total)
        return a * expit(-raw[:, :1]) * (raw[:, :1] - log_y + log_1_y - of_a + of_b), of_precision

    def information(self, raw: Array) -> Sequence[Array]:
        (a, b), mean, rest = self._shapes(raw), expit(raw[:, :1]), expit(-raw[:, :1])
        of_a, of_b = scaled_trigamma(a), scaled_trigamma(b)
        return rest**2 * (of_a + a) + mean**2 * (of_b + b), of_a + of_b - scaled_trigamma(a + b)

    @staticmethod
    def _shapes(raw: Array) -> tuple[Array, Array]:
        """The two shapes, (n, 1) each."""
        precision = np.exp(clip_exponent(raw[:, 1:]))
        shapes = precision * expit(raw[:, :1]), precision * expit(-raw[:, :1])
        return np.clip(shapes[0], LEAST_SHAPE, LARGEST_SHAPE), np.clip(shapes[1], LEAST_SHAPE, LARGEST_SHAPE)

    def start(self, y: Array, weight: Array) -> tuple[Array, Array, Array]:
        mean, variance = weighted_moments(y, weight)
        spread = mean * (1.0 - mean)
        start = np.array([np.log(mean / (1.0 - mean)), np.log(spread / max(variance, RESOLUTION**2 * spread))])
        return start, start - 8.0, start + 8.0

    def frozen(self, response: Array) -> Any:
        mean, precision = response.T
        return beta(a=mean * precision, b=(1.0 - mean) * precision)
