"""Metrics of predicted distributions: negative log-likelihood and continuous ranked probability score."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..core import Loss
from ..losses.distributions.base import Distribution
from ..rows.tables import number_array
from ..rows.weights import check_sample_weight
from ..utils.typing import Array
from .registry import METRICS, NamedMetric

# Levels of the quantiles whose pinball losses are averaged.
LEVELS = (np.arange(50.0)[:, None] + 0.5) / 50.0


def crps(y_true: Any, y_dist: Any, *, sample_weight: Any = None) -> float:
    r"""The mean continuous ranked probability score, in the unit of the target; lower is better.

    .. math:: \mathrm{CRPS}(F, y) = \int (F(x) - [x \ge y])^2 dx = E|X - y| - \tfrac12 E|X - X'|

    with X and X' independently distributed as F. It is the absolute error for a distribution without spread. It is
    computed as twice the mean pinball loss of 50 quantiles, of evenly spaced levels, within about 0.5 %. The
    package ``scoringrules`` has closed forms, such as ``crps_normal(y, mean, deviation)``.

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
    """Twice the mean pinball loss of the quantiles of each row, (n,), of targets (n,)."""
    error = y - frozen.ppf(LEVELS)
    return 2.0 * np.maximum(LEVELS * error, (LEVELS - 1.0) * error).mean(axis=0)


for name, of_rows in (("crps", crps_of_rows), ("nll", nll_of_rows)):
    METRICS[name] = NamedMetric(partial(mean_score, name, of_rows), greater_is_better=False, needs_loss=True)
