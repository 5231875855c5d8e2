"""Frozen distributions for scipy.stats: of counts, which it has not, and with exact densities for large shapes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats
from scipy.special import betainc, betaincc, gammaln, log_expit

from ...utils.typing import Array
from .special import HALF_LOG_2PI, log_rising_factorial, stirling_remainder

# Sizes beyond this multiple of the mean are those of Poisson distributions up to 1e-8.
LARGEST_SIZE_RATIO = 1e8


class CountGenerator(stats.rv_discrete):
    """Base class of distributions of counts, by ``_logpmf``, ``_cdf`` and ``_near_quantile``."""

    def _pmf(self, k: Array, *shapes: Array) -> Array:
        return np.exp(self._logpmf(k, *shapes))

    def _ppf(self, q: Array, *shapes: Array) -> Array:
        quantile = self._near_quantile(q, *shapes)
        # Rounding may lead to the next number.
        is_next = (quantile > 0.0) & (self._cdf(quantile - 1.0, *shapes) >= q)
        return np.where(is_next, quantile - 1.0, quantile)


class ZeroInflatedPoissonGenerator(CountGenerator):
    """A Poisson distribution of a rate, mixed with zeros of probability ``extra_zero``."""

    def _argcheck(self, rate: Array, extra_zero: Array) -> Any:
        return (rate >= 0.0) & (extra_zero >= 0.0) & (extra_zero <= 1.0)

    def _logpmf(self, k: Array, rate: Array, extra_zero: Array) -> Array:
        with np.errstate(divide="ignore"):
            above = np.log1p(-extra_zero) + stats.poisson.logpmf(k, rate)
            return np.where(k == 0, np.logaddexp(np.log(extra_zero), above), above)

    def _cdf(self, k: Array, rate: Array, extra_zero: Array) -> Array:
        return extra_zero + (1.0 - extra_zero) * stats.poisson.cdf(k, rate)

    def _sf(self, k: Array, rate: Array, extra_zero: Array) -> Array:
        return (1.0 - extra_zero) * stats.poisson.sf(k, rate)

    def _near_quantile(self, q: Array, rate: Array, extra_zero: Array) -> Array:
        rest = np.maximum(q - extra_zero, 0.0) / np.where(extra_zero < 1.0, 1.0 - extra_zero, 1.0)
        return np.where(rest > 0.0, stats.poisson.ppf(np.minimum(rest, 1.0), rate), 0.0)

    def _rvs(self, rate: Array, extra_zero: Array, size: Any = None, random_state: Any = None) -> Array:
        is_extra = random_state.random_sample(size) < extra_zero
        return np.where(is_extra, 0, random_state.poisson(rate, size))

    def _stats(self, rate: Array, extra_zero: Array) -> tuple[Array, Array, None, None]:
        mean = (1.0 - extra_zero) * rate
        return mean, mean * (1.0 + extra_zero * rate), None, None


class NegativeBinomialGenerator(CountGenerator):
    """The negative binomial distribution by mean ``mu`` and size ``n``, with its Poisson limit for large sizes.

    The probability of success of :data:`scipy.stats.nbinom` would round to 1.
    """

    def _argcheck(self, mu: Array, n: Array) -> Any:
        return (mu >= 0.0) & (n > 0.0)

    def _logpmf(self, k: Array, mu: Array, n: Array) -> Array:
        with np.errstate(divide="ignore"):
            return log_probability(k, n, np.log(mu) - np.log(n))

    def _cdf(self, k: Array, mu: Array, n: Array) -> Array:
        n, is_limit = bounded_size(mu, n)
        return np.where(is_limit, stats.poisson.cdf(k, mu), betaincc(np.floor(k) + 1.0, n, mu / (mu + n)))

    def _sf(self, k: Array, mu: Array, n: Array) -> Array:
        n, is_limit = bounded_size(mu, n)
        return np.where(is_limit, stats.poisson.sf(k, mu), betainc(np.floor(k) + 1.0, n, mu / (mu + n)))

    def _near_quantile(self, q: Array, mu: Array, n: Array) -> Array:
        n, is_limit = bounded_size(mu, n)
        return np.where(is_limit, stats.poisson.ppf(q, mu), stats.nbinom.ppf(q, n, n / (mu + n)))

    def _rvs(self, mu: Array, n: Array, size: Any = None, random_state: Any = None) -> Array:
        return random_state.poisson(mu * random_state.gamma(n, 1.0 / n, size))

    def _stats(self, mu: Array, n: Array) -> tuple[Array, Array, None, None]:
        return mu, mu * (1.0 + mu / n), None, None


class GammaGenerator(type(stats.gamma)):  # type: ignore[misc]
    """The gamma distribution of scipy.stats with densities that lose no digits for large shapes."""

    def _logpdf(self, x: Array, a: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            log_u = np.log(x) - np.log(a)
            return (
                0.5 * np.log(a) - HALF_LOG_2PI - stirling_remainder(a) - np.log(x) - a * (np.expm1(log_u) - log_u)
            )

    def _pdf(self, x: Array, a: Array) -> Array:
        return np.exp(self._logpdf(x, a))


class BetaGenerator(type(stats.beta)):  # type: ignore[misc]
    """The beta distribution of scipy.stats with densities that lose no digits for large shapes."""

    def _logpdf(self, x: Array, a: Array, b: Array) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            return beta_log_density(x, a, b, np.log(a / (a + b)), np.log(b / (a + b)))

    def _pdf(self, x: Array, a: Array, b: Array) -> Array:
        return np.exp(self._logpdf(x, a, b))


zero_inflated_poisson = ZeroInflatedPoissonGenerator(name="zero_inflated_poisson", shapes="rate, extra_zero")
negative_binomial = NegativeBinomialGenerator(name="negative_binomial", shapes="mu, n")
gamma = GammaGenerator(a=0.0, name="gamma")
beta = BetaGenerator(a=0.0, b=1.0, name="beta")


def bounded_size(mu: Array, n: Array) -> tuple[Array, Array]:
    """Sizes up to the largest multiple of the mean, and whether they are larger."""
    largest = LARGEST_SIZE_RATIO * np.maximum(mu, 1.0)
    return np.minimum(n, largest), n > largest


def log_probability(k: Array, size: Array, log_odds: Array) -> Array:
    """The log probability of counts for a size and the log of the ratio of mean and size, without cancellation."""
    rising = log_rising_factorial(size, k) - gammaln(k + 1.0)
    return rising + size * log_expit(-log_odds) + k * log_expit(log_odds)


def beta_log_density(y: Array, a: Array, b: Array, log_mean: Array, log_rest: Array) -> Array:
    """The log density of a beta distribution with shapes a and b, and the logs of its mean and of 1 minus it."""
    log_y, log_1_y = np.log(y), np.log1p(-y)
    fit = a * (log_mean - log_y) + b * (log_rest - log_1_y)
    remainder = stirling_remainder(a) + stirling_remainder(b) - stirling_remainder(a + b)
    logs = 0.5 * (np.log(a + b) - np.log(a) - np.log(b)) + HALF_LOG_2PI
    return -(fit + remainder + logs + log_y + log_1_y)
