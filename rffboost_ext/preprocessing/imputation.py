"""Imputation of missing numbers by linear regression on the other numeric columns, in sweeps."""

from __future__ import annotations

import numpy as np

from ..utils.typing import Array
from .column_statistics import mean_and_scale

# Correlations are shrunk towards 0 by this share, so that few rows or many columns do not fit noise.
TOWARDS_0 = 0.1
# With this many observed rows per column, the correction for missing rows is halved: fewer rows overfit.
FEW_PER_COLUMN = 2.0
# The first sweep predicts from mean-imputed numbers, the second from those imputed by the first.
SWEEPS = 2
# More rows would hardly change a correlation; with more columns every row would be expensive.
MOST_ROWS, MOST_COLUMNS = 20_000, 200


def imputation_regressions(numbers: Array, weight: Array, fill: Array) -> tuple[Array, ...]:
    r"""Matrices that impute columns from all others, for :class:`~rffboost_ext.terms.ImputeAndEncode`.

    With S the correlations of the columns, shrunk towards 0, and :math:`P = S^{-1}`, the best linear prediction of
    column j has the coefficients :math:`-P_{kj} / P_{jj}` [1]_, in units of standard deviations. Imputing means
    attenuates the covariances with column j by the share :math:`n_j / n` of rows that have it. The first sweep
    corrects for that by :math:`n / (n_j + 2 p)`, where :math:`n / n_j` would be the full correction: with few
    observed rows it stays near the mean. The next is fitted to the values imputed by the one before. Rows count by
    their weight. A sweep takes one inverse, and :math:`O(n p^2 + p^3)`.

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
        In the units of the columns, 0 for columns without missing values. Empty if no number is missing, or with
        one column or more than 200.

    References
    ----------
    .. [1] Lauritzen, "Graphical Models", 1996, section 5.1.3.
    """
    gap = np.isnan(numbers)
    asked = gap.any(axis=0)
    if not 1 < len(fill) <= MOST_COLUMNS or not asked.any():
        return ()
    step = -(-len(numbers) // MOST_ROWS)
    numbers, gap, weight = numbers[::step], gap[::step], weight[::step]
    filled = np.where(gap, fill, numbers)
    scale = mean_and_scale(filled, weight)[1]
    z = (filled - fill) / scale
    there = weight @ ~gap
    slopes = regression_coefficients(z, weight) * (weight.sum() / (there + FEW_PER_COLUMN * len(fill)))
    sweeps = []
    for _ in range(SWEEPS):
        sweeps.append(np.where(asked, slopes * scale / scale[:, None], 0.0))
        z = np.where(gap, z @ slopes, z)
        slopes = regression_coefficients(z, weight)
    return tuple(sweeps)


def regression_coefficients(z: Array, weight: Array) -> Array:
    """The coefficients by which each column of z (n, p), whose means are 0, is best predicted from the others."""
    products = (z.T * weight) @ z / weight.sum()
    precision = np.linalg.inv((1.0 - TOWARDS_0) * products + TOWARDS_0 * np.eye(len(products)))
    slopes = -precision / np.diag(precision)
    np.fill_diagonal(slopes, 0.0)
    return slopes
