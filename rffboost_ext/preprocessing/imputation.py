"""Imputation of missing numbers by linear regression on the other numeric columns."""

from __future__ import annotations

import numpy as np

from ..utils.typing import Array
from .column_statistics import mean_and_scale

# Correlations are shrunk towards 0 by this share: few rows or many columns would fit noise.
SHRINKAGE = 0.1
# With this many observed rows per column the correction for missing rows is halved: fewer rows overfit.
ROWS_PER_COLUMN = 2.0
# The first regressions predict from mean-imputed numbers, the second from those imputed by the first.
N_REGRESSIONS = 2
# More rows hardly change a correlation; with more columns every row would be expensive.
MAX_ROWS, MAX_COLUMNS = 20_000, 200


def imputation_regressions(numbers: Array, weight: Array, fill: Array) -> tuple[Array, ...]:
    r"""Matrices that impute columns from all others, for :class:`~rffboost_ext.terms.ImputeAndEncode`.

    With S the correlations of the columns, shrunk towards 0, and :math:`P = S^{-1}`, the best linear prediction of
    column j has the coefficients :math:`-P_{kj} / P_{jj}` [1]_, in units of standard deviations. Imputing means
    attenuates the covariances with column j by the share :math:`n_j / n` of rows that have it. The first
    regressions correct for that by :math:`n / (n_j + 2 p)`, where :math:`n / n_j` would be the full correction:
    with few observed rows they stay near the mean. The second are fitted to the values imputed by the first. Rows
    count by their weight. Each takes one inverse, and :math:`O(n p^2 + p^3)`.

    Parameters
    ----------
    numbers : ndarray of shape (n, p)
        The numeric columns, missing values NaN.
    weight : ndarray of shape (n,)
        Sample weights.
    fill : ndarray of shape (p,)
        The weighted mean of each column.

    Returns
    -------
    tuple of ndarray of shape (p, p)
        In the units of the columns, also for columns without missing values, which other data may have. Empty if
        no number is missing, or with one column or more than 200.

    References
    ----------
    .. [1] Lauritzen, "Graphical Models", 1996, section 5.1.3.
    """
    missing = np.isnan(numbers)
    if not 1 < len(fill) <= MAX_COLUMNS or not missing.any():
        return ()
    step = -(-len(numbers) // MAX_ROWS)
    numbers, missing, weight = numbers[::step], missing[::step], weight[::step]
    filled = np.where(missing, fill, numbers)
    scale = mean_and_scale(filled, weight)[1]
    z = (filled - fill) / scale
    observed = weight @ ~missing
    slopes = regression_coefficients(z, weight) * (weight.sum() / (observed + ROWS_PER_COLUMN * len(fill)))
    regressions = []
    for _ in range(N_REGRESSIONS):
        regressions.append(slopes * scale / scale[:, None])
        z = np.where(missing, z @ slopes, z)
        slopes = regression_coefficients(z, weight)
    return tuple(regressions)


def regression_coefficients(z: Array, weight: Array) -> Array:
    """The coefficients of the linear regression of each centered column of z (n, p) on the others, (p, p)."""
    products = (z.T * weight) @ z / weight.sum()
    precision = np.linalg.inv((1.0 - SHRINKAGE) * products + SHRINKAGE * np.eye(len(products)))
    slopes = -precision / np.diag(precision)
    np.fill_diagonal(slopes, 0.0)
    return slopes
