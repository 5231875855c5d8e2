"""Distributions of counts: Poisson, negative binomial and zero-inflated Poisson."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, gammaln, log_expit, roots_laguerre

from ...utils.typing import Array
from ..links import LogitLink, LogLink, ParameterLink, clip_exponent
from ..registry import LOSSES
from ..target_statistics import require_targets
from .base import DISTRIBUTIONS, Distribution, weighted_moments
from .frozen import log_probability, negative_binomial, zero_inflated_poisson
from .special import log_minus_digamma

# A baseline has at most this many times the mean as its size: its variance is then nearly that of Poisson.
LARGEST_SIZE = 100.0
# Below this the series of a logarithm has no rounding error.
SMALL = 1e-3
NODES, NODE_WEIGHTS = roots_laguerre(24)


class CountDistribution(Distribution):
    """Base class of distributions of counts."""

    positive = True

    def check_target(self, y: Array) -> None:
        require_targets(self, y, (y >= 0.0) & (y == np.floor(y)), "whole numbers of at least 0")


@LOSSES.register("poisson_distribution")
@DISTRIBUTIONS.register("poisson")
class PoissonDistribution(CountDistribution):
    r"""The Poisson distribution of counts with its ``mean``, whose log is the score.

    The loss is :math:`\mu - y \log \mu + \log y!`, the gradient :math:`\mu - y`, the Fisher information
    :math:`\mu`. :class:`~rffboost_ext.losses.Poisson` is the deviance, which also takes rates.

    Parameters
    ----------
    unit : "auto", float or sequence of float, default="auto"
        Factor on the derivatives, as in :class:`Distribution`.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) % 5
    >>> model = RFFBoostDistribution("poisson", "tree", n_estimators=5).fit(X, y)
    >>> model.predict_dist(X).mean().shape
    (40,)
    """

    link = LogLink(names=("mean",))

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        raw = clip_exponent(raw)
        return np.exp(raw) - y * raw + gammaln(y + 1.0)

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        return (np.exp(clip_exponent(raw)) - y,)

    def information(self, raw: Array) -> Sequence[Array]:
        return (np.exp(clip_exponent(raw)),)

    def baseline(self, y: Array, weight: Array) -> Array:
        return np.array([log_mean(y[:, 0], weight)])

    def frozen(self, response: Array) -> Any:
        return stats.poisson(mu=response[:, 0])


@LOSSES.register("negative_binomial")
@DISTRIBUTIONS.register("negative_binomial")
class NegativeBinomial(CountDistribution):
    r"""The negative binomial distribution of overdispersed counts with its ``mean`` and ``size``.

    The variance is :math:`\mu + \mu^2 / n` with the size n. Scores are the logs of mean and size, which are
    orthogonal. With :math:`q = \mu / (\mu + n)` the Fisher information is :math:`\mu (1 - q)` for the mean and

    .. math:: n^2 \sum_{j \ge 2} \frac{q^j}{j} B(j, n)
              = n \int_0^\infty e^{-s} \frac{-\log(1 - q u) - q u}{u} \, ds, \quad u = 1 - e^{-s / n},

    for the size, here by Gauss-Laguerre quadrature.

    Parameters
    ----------
    unit : "auto", float or sequence of float, default="auto"
        Factor on the derivatives, as in :class:`Distribution`.

    References
    ----------
    Lawless, Negative binomial and mixed Poisson regression, Canadian Journal of Statistics 15, 1987.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) % 5
    >>> model = RFFBoostDistribution("negative_binomial", "tree", n_estimators=5).fit(X, y)
    >>> model.predict_dist(X).mean().shape
    (40,)
    """

    link = ParameterLink.of_scores(mean=LogLink(), size=LogLink())

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        _, size, log_odds = self._terms(raw)
        return -log_probability(y, size, log_odds)

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        mean, size, log_odds = self._terms(raw)
        share = expit(-log_odds)
        rising = np.log1p(y / size) + log_minus_digamma(size) - log_minus_digamma(size + y)
        of_size = size * (np.logaddexp(0.0, log_odds) - rising) - (mean - y) * share
        return (mean - y) * share, of_size

    def information(self, raw: Array) -> Sequence[Array]:
        mean, size, log_odds = self._terms(raw)
        return mean * expit(-log_odds), size_information(size, log_odds)

    @staticmethod
    def _terms(raw: Array) -> tuple[Array, Array, Array]:
        """Mean, size, and the log of their ratio, each (n, 1)."""
        log_mean, log_size = clip_exponent(raw[:, :1]), clip_exponent(raw[:, 1:])
        return np.exp(log_mean), np.exp(log_size), log_mean - log_size

    def start(self, y: Array, weight: Array) -> tuple[Array, Array, Array]:
        _, variance = weighted_moments(y, weight)
        center = log_mean(y, weight)
        mean = np.exp(center)
        largest = LARGEST_SIZE * max(mean, 1.0)
        size = mean**2 / max(variance - mean, mean**2 / largest)
        start = np.array([center, np.log(max(size, 1e-8))])
        return start, start - 8.0, np.array([center + 8.0, np.log(largest)])

    def frozen(self, response: Array) -> Any:
        return negative_binomial(mu=response[:, 0], n=response[:, 1])


@LOSSES.register("zero_inflated_poisson")
@DISTRIBUTIONS.register("zero_inflated_poisson")
class ZeroInflatedPoisson(CountDistribution):
    r"""A Poisson distribution of counts mixed with zeros: its ``rate`` and the probability of ``extra_zero``.

    Scores are the log of the rate :math:`\lambda` and the logit of the probability :math:`\pi`. A zero has the
    probability :math:`p_0 = \pi + (1 - \pi) e^{-\lambda}`, and the mean is :math:`(1 - \pi) \lambda`. The Fisher
    information is :math:`(1 - \pi) \lambda (1 - \pi \lambda e^{-\lambda} / p_0)` and
    :math:`\pi^2 (1 - \pi) (1 - e^{-\lambda}) / p_0`.

    Parameters
    ----------
    unit : "auto", float or sequence of float, default="auto"
        Factor on the derivatives, as in :class:`Distribution`.

    References
    ----------
    Lambert, Zero-inflated Poisson regression, Technometrics 34, 1992.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostDistribution
    >>> X, y = np.arange(40.0)[:, None], np.maximum(np.arange(40) % 5 - 2, 0)
    >>> model = RFFBoostDistribution("zero_inflated_poisson", "tree", n_estimators=5).fit(X, y)
    >>> model.predict_dist(X).mean().shape
    (40,)
    """

    link = ParameterLink.of_scores(rate=LogLink(), extra_zero=LogitLink())
    monotone = (1, -1)

    def negative_log_density(self, y: Array, raw: Array) -> Array:
        rate, log_zero = self._terms(raw)
        above = rate - y * clip_exponent(raw[:, :1]) + gammaln(y + 1.0) - log_expit(-raw[:, 1:])
        return np.where(y == 0.0, -log_zero, above)

    def gradient(self, y: Array, raw: Array) -> Sequence[Array]:
        rate, log_zero = self._terms(raw)
        # The probability that a zero is one of the Poisson distribution.
        ordinary = np.exp(log_expit(-raw[:, 1:]) - rate - log_zero)
        of_zero = np.exp(log_expit(raw[:, 1:]) + log_expit(-raw[:, 1:]) - log_zero) * np.expm1(-rate)
        return np.where(y == 0.0, rate * ordinary, rate - y), np.where(y == 0.0, of_zero, expit(raw[:, 1:]))

    def information(self, raw: Array) -> Sequence[Array]:
        rate, log_zero = self._terms(raw)
        extra, rest = log_expit(raw[:, 1:]), log_expit(-raw[:, 1:])
        of_rate = np.exp(rest) * rate * (1.0 - rate * np.exp(extra - rate - log_zero))
        return of_rate, np.exp(2.0 * extra + rest - log_zero) * -np.expm1(-rate)

    @staticmethod
    def _terms(raw: Array) -> tuple[Array, Array]:
        """The rate, and the log of the probability of a zero, (n, 1) each."""
        rate = np.exp(clip_exponent(raw[:, :1]))
        return rate, np.logaddexp(log_expit(raw[:, 1:]), log_expit(-raw[:, 1:]) - rate)

    def start(self, y: Array, weight: Array) -> tuple[Array, Array, Array]:
        mean, variance = weighted_moments(y, weight)
        # The variance is the mean times 1 + the rate times the share of extra zeros.
        rate = max(mean, 1e-8) + max(variance / max(mean, 1e-8) - 1.0, 0.05)
        odds = rate / max(mean, 1e-8) - 1.0
        center, log_odds = np.log(rate), np.clip(np.log(odds), -4.0, 4.0)
        start = np.array([center, log_odds])
        return start, np.array([center - 8.0, -5.0]), np.array([center + 8.0, 15.0])

    def frozen(self, response: Array) -> Any:
        return zero_inflated_poisson(rate=response[:, 0], extra_zero=response[:, 1])

    def mean(self, response: Array) -> Array:
        return response[:, 0] * (1.0 - response[:, 1])


def log_mean(y: Array, weight: Array) -> float:
    """The log of the weighted mean of counts (n,); of a small number if all are 0."""
    return float(np.log(max(float(np.average(y, weights=weight)), 1e-8)))


def size_information(size: Array, log_odds: Array) -> Array:
    """The Fisher information of the log of the size of a negative binomial distribution, (n, 1)."""
    # 1 - e^-t underflows for large sizes.
    u = np.maximum(-np.expm1(-NODES / size), 1e-150)
    return size * (log_excess(expit(log_odds) * u) / u) @ NODE_WEIGHTS[:, None]


def log_excess(x: Array) -> Array:
    """``-log(1 - x) - x`` for x from 0 to 1, by its series for small x."""
    near, far = np.minimum(x, SMALL), np.clip(x, SMALL, 1.0 - np.finfo(np.float64).eps)
    series = np.square(near) * (
        1.0 / 2.0 + near * (1.0 / 3.0 + near * (1.0 / 4.0 + near * (1.0 / 5.0 + near / 6.0)))
    )
    return np.where(x < SMALL, series, -np.log1p(-far) - far)
