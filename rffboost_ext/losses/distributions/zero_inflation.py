"""The zero-inflated Poisson distribution in the form of :mod:`scipy.stats`."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import poisson, rv_discrete

from ...utils.typing import Array


class ZeroInflatedPoissonGenerator(rv_discrete):
    """A Poisson distribution of a rate, mixed with zeros that have the probability ``extra_zero``."""

    def _argcheck(self, rate: Array, extra_zero: Array) -> Any:
        return (rate >= 0.0) & (extra_zero >= 0.0) & (extra_zero <= 1.0)

    def _pmf(self, k: Array, rate: Array, extra_zero: Array) -> Array:
        return (k == 0) * extra_zero + (1.0 - extra_zero) * poisson.pmf(k, rate)

    def _logpmf(self, k: Array, rate: Array, extra_zero: Array) -> Array:
        with np.errstate(divide="ignore"):
            above = np.log1p(-extra_zero) + poisson.logpmf(k, rate)
            return np.where(k == 0, np.logaddexp(np.log(extra_zero), above), above)

    def _cdf(self, k: Array, rate: Array, extra_zero: Array) -> Array:
        return extra_zero + (1.0 - extra_zero) * poisson.cdf(k, rate)

    def _sf(self, k: Array, rate: Array, extra_zero: Array) -> Array:
        return (1.0 - extra_zero) * poisson.sf(k, rate)

    def _ppf(self, q: Array, rate: Array, extra_zero: Array) -> Array:
        rest = np.maximum(q - extra_zero, 0.0) / np.where(extra_zero < 1.0, 1.0 - extra_zero, 1.0)
        found = np.where(rest > 0.0, poisson.ppf(np.minimum(rest, 1.0), rate), 0.0)
        # Rounding in `rest` may lead to the next number.
        is_next = (found > 0.0) & (self._cdf(found - 1.0, rate, extra_zero) >= q)
        return np.where(is_next, found - 1.0, found)

    def _rvs(self, rate: Array, extra_zero: Array, size: Any = None, random_state: Any = None) -> Array:
        is_extra = random_state.random_sample(size) < extra_zero
        return np.where(is_extra, 0, random_state.poisson(rate, size))

    def _stats(self, rate: Array, extra_zero: Array) -> tuple[Array, Array, None, None]:
        mean = (1.0 - extra_zero) * rate
        return mean, mean * (1.0 + extra_zero * rate), None, None


zero_inflated_poisson = ZeroInflatedPoissonGenerator(name="zero_inflated_poisson", shapes="rate, extra_zero")
