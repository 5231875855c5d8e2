r"""Metrics of predicted distributions: negative log-likelihood and continuous ranked probability score.

Closed forms of the score are of the standard distribution with location 0 and scale 1:
:math:`\mathrm{CRPS}(F, y) = \sigma \, \mathrm{CRPS}_0((y - \mu) / \sigma)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import beta, betainc, betaln, expit, gammainc, ive, ndtr, roots_legendre

from ..core import Loss
from ..losses.distributions.base import Distribution
from ..losses.distributions.frozen import negative_binomial
from ..rows.tables import number_array
from ..rows.weights import check_sample_weight
from ..utils.typing import Array
from .registry import METRICS, NamedMetric

# Sums over a discrete distribution end where less than this is left; terms of a row, and of those added at once.
TAIL, TERMS, MAX_TERMS = 1e-12, 1_000, 1_000_000
# Nodes of the quadrature on either side of the target.
N_NODES = 60


def crps(y_true: Any, y_dist: Any, *, sample_weight: Any = None) -> float:
    r"""The mean continuous ranked probability score, in the unit of the target; lower is better.

    .. math:: \mathrm{CRPS}(F, y) = \int (F(x) - [x \ge y])^2 dx = E|X - y| - \tfrac12 E|X - X'|

    with X and X' independently distributed as F. It is the absolute error for a distribution without spread.
    Closed forms are used for the distributions of this package and norm, laplace, t, lognorm, gamma, beta, poisson
    and nbinom of scipy, else sums or quadrature of a bounded number of terms.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets.
    y_dist : frozen distribution of scipy.stats
        One for each row, such as ``RFFBoostDistribution.predict_dist(X)``, or one for all rows.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid.

    References
    ----------
    Gneiting and Raftery, Strictly proper scoring rules, prediction, and estimation, JASA 102, 2007. Jordan, Krüger
    and Lerch, Evaluating probabilistic forecasts with scoringRules, Journal of Statistical Software 90, 2019.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from rffboost_ext.metrics import crps
    >>> round(crps([0.0, 1.0], norm(0.0, 1.0)), 3)
    0.418
    """
    y, weight = checked_rows("crps", y_true, y_dist, sample_weight)
    return float(np.average(crps_of_rows(y_dist, y), weights=weight))


def nll(y_true: Any, y_dist: Any, *, sample_weight: Any = None) -> float:
    """The mean negative log-likelihood: minus the mean log density, or log probability of counts; lower is better.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets.
    y_dist : frozen distribution of scipy.stats
        One for each row, such as ``RFFBoostDistribution.predict_dist(X)``, or one for all rows.
    sample_weight : array-like of shape (n,), optional
        Non-negative weights.

    Returns
    -------
    float

    Raises
    ------
    ValueError, TypeError
        If an argument is invalid.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from rffboost_ext.metrics import nll
    >>> round(nll([0.0, 1.0], norm(0.0, 1.0)), 3)
    1.169
    """
    y, weight = checked_rows("nll", y_true, y_dist, sample_weight)
    return float(np.average(nll_of_rows(y_dist, y), weights=weight))


def nll_of_rows(frozen: Any, y: Array) -> Array:
    """Minus the log density, or the log probability of a discrete distribution, of each row."""
    return -np.asarray(frozen.logpmf(y) if hasattr(frozen.dist, "pmf") else frozen.logpdf(y))


def checked_rows(owner: str, y_true: Any, y_dist: Any, sample_weight: Any) -> tuple[Array, Array]:
    """Targets and weights of rows, or the error of an argument that is invalid."""
    if not hasattr(y_dist, "dist") or not hasattr(y_dist, "cdf"):
        raise TypeError(f"{owner}: y_dist must be a frozen distribution of scipy.stats, got {y_dist!r}")
    y = np.asarray(number_array(y_true), dtype=np.float64)
    size = np.size(y_dist.support()[0] + y_dist.median())
    if y.ndim != 1 or size not in (1, len(y)):
        raise ValueError(
            f"{owner}: y_true must have shape (n,), and y_dist one distribution, or one for each row, got "
            f"{y.shape} and {size}"
        )
    return y, check_sample_weight(sample_weight, len(y))


def mean_score(
    name: str, of_rows: Callable[..., Array], y: Array, response: Array, sample_weight: Any = None, *, loss: Loss
) -> float:
    """The mean of a score of targets (n,) and responses (n, W) of a loss, which must be a distribution."""
    if not isinstance(loss, Distribution):
        raise ValueError(f"the loss must be a distribution for the metric {name!r}, got {loss!r}")
    return float(np.average(of_rows(loss.frozen(response.reshape(len(y), -1)), y), weights=sample_weight))


def crps_of_rows(frozen: Any, y: Array) -> Array:
    """The score of each row, (n,), of targets (n,) and a frozen distribution."""
    shapes, location, scale = standard_form(frozen)
    closed = CLOSED_FORMS.get(frozen.dist.name)
    if closed is not None:
        return np.asarray(scale * closed((y - location) / scale, *shapes))
    if hasattr(frozen.dist, "pmf"):
        return crps_by_sums(frozen, y)
    return crps_by_quadrature(frozen, y)


def standard_form(frozen: Any) -> tuple[list[Array], Array, Array]:
    """Shapes, location and scale of a frozen distribution, given by position or by name."""
    shapes = frozen.dist.shapes.split(", ") if frozen.dist.shapes else []
    params = {"loc": 0.0, "scale": 1.0} | dict(zip([*shapes, "loc", "scale"], frozen.args, strict=False))
    params |= frozen.kwds
    return [np.asarray(params[name]) for name in shapes], np.asarray(params["loc"]), np.asarray(params["scale"])


def crps_norm(z: Array) -> Array:
    """Normal."""
    density = np.exp(-0.5 * np.square(z)) / np.sqrt(2.0 * np.pi)
    return z * (2.0 * ndtr(z) - 1.0) + 2.0 * density - 1.0 / np.sqrt(np.pi)


def crps_laplace(z: Array) -> Array:
    """Laplace."""
    return np.abs(z) + np.exp(-np.abs(z)) - 0.75


def crps_t(z: Array, df: Array) -> Array:
    """Student's t; infinite up to one degree of freedom, where there is no mean."""
    df = np.asarray(df, dtype=np.float64)
    above = np.where(df > 1.0, df, 2.0)
    spread = np.exp(betaln(0.5, above - 0.5) - 2.0 * betaln(0.5, 0.5 * above))
    tail = (stats.t.pdf(z, above) * (above + np.square(z)) - np.sqrt(above) * spread) / (above - 1.0)
    return np.where(df > 1.0, z * (2.0 * stats.t.cdf(z, above) - 1.0) + 2.0 * tail, np.inf)


def crps_lognorm(z: Array, s: Array) -> Array:
    """Lognormal."""
    with np.errstate(divide="ignore"):
        log_z = np.log(np.maximum(z, 0.0)) / s
    rest = ndtr(log_z - s) + ndtr(s / np.sqrt(2.0)) - 1.0
    return z * (2.0 * ndtr(log_z) - 1.0) - 2.0 * np.exp(0.5 * np.square(s)) * rest


def crps_gamma(z: Array, a: Array) -> Array:
    """Gamma."""
    above = np.maximum(z, 0.0)
    return z * (2.0 * gammainc(a, above) - 1.0) - a * (2.0 * gammainc(a + 1.0, above) - 1.0) - 1.0 / beta(0.5, a)


def crps_beta(z: Array, a: Array, b: Array) -> Array:
    """Beta."""
    inside = np.clip(z, 0.0, 1.0)
    spread = np.exp(betaln(2.0 * a, 2.0 * b) - 2.0 * betaln(a, b)) / a
    rest = 1.0 - 2.0 * betainc(a + 1.0, b, inside) - 2.0 * spread
    return z * (2.0 * betainc(a, b, inside) - 1.0) + a / (a + b) * rest


def crps_poisson(k: Array, mu: Array) -> Array:
    """Poisson."""
    spread = ive(0, 2.0 * mu) + ive(1, 2.0 * mu)
    below, density = stats.poisson.cdf(k, mu), stats.poisson.pmf(np.floor(k), mu)
    return (k - mu) * (2.0 * below - 1.0) + mu * (2.0 * density - spread)


def crps_nbinom(k: Array, n: Array, p: Array) -> Array:
    """Negative binomial, by the probability of a success."""
    return crps_negative_binomial(k, n * (1.0 - p) / p, n)


def crps_negative_binomial(k: Array, mu: Array, n: Array) -> Array:
    """Negative binomial, by mean and size."""
    larger = negative_binomial(mu=mu * (1.0 + 1.0 / n), n=n + 1.0)
    distance = k * (2.0 * negative_binomial(mu=mu, n=n).cdf(k) - 1.0) - mu * (2.0 * larger.cdf(k - 1.0) - 1.0)
    return distance - half_difference(mu, n)


def half_difference(mu: Array, n: Array) -> Array:
    r"""Half the mean difference of two negative binomial variables, by Gauss-Legendre quadrature.

    It is :math:`\mu (1 + \mu / n) F(n + 1, 1/2; 2; -\kappa^2)` with
    :math:`\kappa^2 = 4 (\mu / n) (1 + \mu / n)`, and by Euler's integral with :math:`\kappa \sin t = \sinh v`

    .. math:: F = \frac{4}{\pi \kappa} \int_0^{\mathrm{asinh} \kappa}
              \sqrt{1 - \sinh^2(v) / \kappa^2} \, \cosh(v)^{-2n - 1} dv.
    """
    ratio = mu / n
    kappa = 2.0 * np.sqrt(ratio * (1.0 + ratio))
    # Beyond it the power of cosh is below rounding.
    end = np.minimum(np.arcsinh(kappa), 2.0 * np.arcsinh(np.sqrt(0.5 * np.expm1(40.0 / (2.0 * n + 1.0)))))
    node, weight = roots_legendre(N_NODES)
    angle = 0.25 * np.pi * (node[:, None] + 1.0)
    v = end * np.sin(angle)
    root = np.sqrt(np.maximum(1.0 - np.square(np.sinh(v) / kappa), 0.0))
    power = np.exp(-(2.0 * n + 1.0) * np.log1p(2.0 * np.square(np.sinh(0.5 * v))))
    integral = end * 0.25 * np.pi * (weight[:, None] * root * power * np.cos(angle)).sum(axis=0)
    return mu * (1.0 + ratio) * 4.0 / (np.pi * kappa) * integral


def crps_zero_inflated_poisson(k: Array, rate: Array, extra_zero: Array) -> Array:
    """Zero-inflated Poisson: ``E|X - k|`` and ``E|X - X'|`` of a mixture with zeros."""
    half = rate * (ive(0, 2.0 * rate) + ive(1, 2.0 * rate))
    distance, rest = crps_poisson(k, rate) + half, 1.0 - extra_zero
    return extra_zero * np.abs(k) + rest * distance - extra_zero * rest * rate - np.square(rest) * half


def crps_by_sums(frozen: Any, y: Array) -> Array:
    """Of any discrete distribution: the sum of ``(F(k) - [k >= y])^2`` over whole numbers.

    Below and above the target up to 1,000 runs of numbers are summed, by the means of their first and last terms.
    More numbers than runs are divided by cubes, as the function is often steep at the lower end.
    """
    above = np.ceil(y)
    first = np.broadcast_to(np.minimum(np.maximum(frozen.ppf(TAIL), frozen.support()[0]), above), y.shape)
    last = np.broadcast_to(np.maximum(frozen.ppf(1.0 - TAIL), above), y.shape)
    total, width = np.zeros(y.shape), max(1, MAX_TERMS // max(1, len(y)))
    for low, high, share in ((first, above, 0.0), (above, last + 1.0, 1.0)):
        n_runs = int(min(TERMS, (high - low).max(initial=0.0)))
        for start in range(0, n_runs, width):
            runs = np.arange(start, min(start + width, n_runs) + 1)[:, None] / n_runs
            ends = np.floor(low + (high - low) * runs ** np.where(high - low > TERMS, 3.0, 1.0))
            terms = np.square(frozen.cdf(ends[:-1]) - share) + np.square(frozen.cdf(ends[1:] - 1.0) - share)
            total += (0.5 * np.diff(ends, axis=0) * terms).sum(axis=0)
    return total


def crps_by_quadrature(frozen: Any, y: Array) -> Array:
    r"""Of any continuous distribution, from its quantiles Q on both sides of the target.

    .. math:: 2 \int_0^{F(y)} u (y - Q(u)) du + 2 \int_{F(y)}^1 (1 - u) (Q(u) - y) du
    """
    # Quantiles may be steep at both ends: the nodes are those of the tanh-sinh rule.
    t = np.linspace(-3.0, 3.0, N_NODES)[:, None]
    share = expit(np.pi * np.sinh(t))
    weight = (t[1] - t[0]) * np.pi * np.cosh(t) * share * (1.0 - share)
    below, above = frozen.cdf(y), frozen.sf(y)
    low = (weight * share * (y - frozen.ppf(below * share))).sum(axis=0)
    high = (weight * share * (frozen.isf(above * share) - y)).sum(axis=0)
    return np.asarray(2.0 * (below**2 * low + above**2 * high))


CLOSED_FORMS: dict[str, Callable[..., Array]] = {
    "norm": crps_norm,
    "laplace": crps_laplace,
    "t": crps_t,
    "lognorm": crps_lognorm,
    "gamma": crps_gamma,
    "beta": crps_beta,
    "poisson": crps_poisson,
    "nbinom": crps_nbinom,
    "negative_binomial": crps_negative_binomial,
    "zero_inflated_poisson": crps_zero_inflated_poisson,
}
"""By the names of scipy: the scores of standardised targets (n,) and shapes."""

for name, of_rows in (("crps", crps_of_rows), ("nll", nll_of_rows)):
    METRICS[name] = NamedMetric(partial(mean_score, name, of_rows), greater_is_better=False, needs_loss=True)
