"""Differences of gamma functions without cancellation for large arguments."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from ...utils.typing import Array

HALF_LOG_2PI = 0.5 * float(np.log(2.0 * np.pi))
# From here on the first terms of asymptotic series are exact to rounding.
LARGE, MANY_DEGREES = 32.0, 200.0


def stirling_remainder(x: Array) -> Array:
    """``log gamma(x) - (x - 1/2) log x + x - log(2 pi) / 2``, about ``1 / (12 x)``."""
    near = np.minimum(x, LARGE)
    exact = gammaln(near) - (near - 0.5) * np.log(near) + near - HALF_LOG_2PI
    u = np.square(1.0 / np.maximum(x, LARGE))
    series = (1.0 / 12.0 - u * (1.0 / 360.0 - u * (1.0 / 1260.0 - u / 1680.0))) / np.maximum(x, LARGE)
    return np.where(x < LARGE, exact, series)


def log_minus_digamma(x: Array) -> Array:
    """``log x - digamma(x)``, about ``1 / (2 x)`` for large x."""
    near, far = np.minimum(x, LARGE), np.maximum(x, LARGE)
    u = np.square(1.0 / far)
    series = 0.5 / far + u * (1.0 / 12.0 - u * (1.0 / 120.0 - u * (1.0 / 252.0 - u / 240.0)))
    return np.where(x < LARGE, np.log(near) - digamma(near), series)


def scaled_trigamma(x: Array) -> Array:
    """``x^2 trigamma(x) - x``, from 1 at x = 0 to 1/2 for large x."""
    near, far = np.minimum(x, LARGE), np.maximum(x, LARGE)
    u = np.square(1.0 / far)
    series = 0.5 + (1.0 / 6.0 - u * (1.0 / 30.0 - u * (1.0 / 42.0 - u / 30.0))) / far
    return np.where(x < LARGE, 1.0 + np.square(near) * polygamma(1, near + 1.0) - near, series)


def log_rising_factorial(x: Array, count: Array) -> Array:
    """``log gamma(x + count) - log gamma(x)`` for positive x and counts of at least 0."""
    near, far = np.minimum(x, LARGE), np.maximum(x, LARGE)
    change = stirling_remainder(far + count) - stirling_remainder(far)
    series = count * np.log(far + count) + (far - 0.5) * np.log1p(count / far) - count + change
    return np.where(x < LARGE, gammaln(near + count) - gammaln(near), series)


def df_information(df: Array) -> Array:
    """The Fisher information of the log of the degrees of freedom of Student's t, orthogonal to the scale.

    About ``3 / (2 df^2)`` for large df.
    """
    near, far = np.minimum(df, MANY_DEGREES), np.maximum(df, MANY_DEGREES)
    half, u = 0.5 * near, 1.0 / far
    own = 1.0 + np.square(half) * (polygamma(1, half + 1.0) - polygamma(1, half + 0.5))
    exact = own - near * (near + 5.0) / (2.0 * (near + 1.0) * (near + 3.0))
    exact -= 2.0 * near / (np.square(near + 1.0) * (near + 3.0))
    series = np.square(u) * (1.5 - u * (3.0 - u * (3.5 - u * (3.0 - 5.5 * u))))
    return np.where(df < MANY_DEGREES, exact, series)
