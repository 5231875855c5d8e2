"""Features for learners of numbers: imputation, one-hot encoding, clipping and scaling of the training columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..terms import ClipAndLog, ImputeAndEncode
from ..terms.expansion import one_hot_rows
from ..utils.sparse import Rows, SparseRows
from ..utils.typing import Array

# Maximum number of one-hot columns per categorical column: the rarest categories share one.
MAX_ONE_HOT = 64
NO_COLUMNS = np.empty(0, dtype=np.int64)
# Deviations below this share of a column's largest magnitude are rounding errors.
CONSTANT = 1e-9
# Number of rows per block, which is read twice while it is in cache.
BLOCK = 1024
# Correlations are shrunk towards 0 by this share: few rows or many columns would fit noise.
SHRINKAGE = 0.1
# With this many observed rows per column the correction for missing rows is halved: fewer rows overfit.
ROWS_PER_COLUMN = 2.0
# The first regressions predict from mean-imputed numbers, the second from those imputed by the first.
N_REGRESSIONS = 2
# More rows hardly change a correlation; with more columns every row would be expensive.
MAX_REGRESSION_ROWS, MAX_REGRESSION_COLUMNS = 20_000, 200
# Scale of missing indicators: uninformative ones at full size would blur the numbers.
INDICATOR_SCALE = 2.0
# Maximum number of rows for the mean and scale of log-transformed columns.
MAX_LOG_ROWS = 2**17
# Maximum bytes, as an array, and number of the columns of a sparse matrix that learners of numbers see.
SKETCH_BYTES, SKETCH_COLUMNS = 2**26, 1_024


def fit_feature_expansion(
    X: Rows, weight: Array, coded: list[int], missing: Array, imputes_new: bool
) -> ImputeAndEncode | None:
    """The imputation and encoding of training data; None if learners are fitted to the data themselves.

    Missing numbers are imputed by linear regression on the other numeric columns and flagged by an indicator
    (:func:`imputation_regressions`). If no number is missing in training, those of other data are imputed by the
    mean. Categories are one-hot encoded, the rarest in one column (:func:`one_hot`). A missing value is a category
    of its own if the column has any in training. Otherwise, like an unknown category, it is encoded as the mean of
    the one-hot columns, which is 0 after standardising.

    Of a sparse matrix learners see a sketch: the columns with the most entries. Missing numbers are imputed by the
    mean there.

    Parameters
    ----------
    X : ndarray or SparseRows of shape (n, d)
        Numbers and codes, missing values NaN.
    weight : ndarray of shape (n,)
        Sample weights.
    coded : list of int
        The columns of codes.
    missing : ndarray of shape (d,), bool
        The columns that have missing values in training.
    imputes_new : bool
        Whether missing values are allowed in columns that have none in training.
    """
    if isinstance(X, SparseRows):
        size = max(1, min(SKETCH_BYTES // (8 * max(1, len(X))), SKETCH_COLUMNS))
        columns = np.sort(np.argsort(-X.counts, kind="stable")[:size])
        means = observed_means(X[:, columns], weight)
        return ImputeAndEncode(X.shape[1], columns, means, NO_COLUMNS, NO_COLUMNS, ())
    if not (coded or missing.any()):
        if not imputes_new:
            return None
        return ImputeAndEncode(
            X.shape[1], np.arange(X.shape[1]), weighted_means(X, weight), NO_COLUMNS, NO_COLUMNS, ()
        )
    is_number = np.ones(X.shape[1], dtype=bool)
    is_number[coded] = False
    numbers = np.flatnonzero(is_number)
    tables = tuple(one_hot(X[:, column], weight, bool(missing[column])) for column in coded)
    fill = observed_means(X[:, numbers], weight)
    indicators = np.flatnonzero(is_number & missing)
    codes = np.array(coded, dtype=np.int64)
    regressions = imputation_regressions(X[:, numbers], weight, fill)
    return ImputeAndEncode(X.shape[1], numbers, fill, indicators, codes, tables, regressions)


def one_hot(codes: Array, weight: Array, missing: bool) -> Array:
    """One-hot columns of each code, (K + 1, k), missing values last; without any, two codes share one."""
    observed = codes[~np.isnan(codes)].astype(np.int64)
    present = np.unique(observed)
    if not len(present):
        return np.ones((1, 1))
    size = int(present[-1]) + 1
    share = np.bincount(observed, weight[~np.isnan(codes)], size)[present]
    merged = merge_rare_codes(present, share)
    columns = (merged[:, None] == np.unique(merged)).astype(np.float64)
    if columns.shape[1] == 2 and not missing:
        columns = columns[:, 1:]
    if missing:
        table = np.zeros((size + 1, columns.shape[1] + 1))
        # A code without rows counts as missing.
        table[:, -1] = 1.0
        table[present, -1] = 0.0
        table[present, :-1] = columns
        return table
    table = np.tile(share @ columns / share.sum(), (size + 1, 1))
    table[present] = columns
    return table


def merge_rare_codes(codes: Array, weight: Array) -> Array:
    """Codes, with the rarest by weight merged into -1 if there are more than `MAX_ONE_HOT`."""
    if len(codes) <= MAX_ONE_HOT:
        return codes
    frequent = np.argsort(-weight, kind="stable")[: MAX_ONE_HOT - 1]
    out = np.full(len(codes), -1)
    out[frequent] = codes[frequent]
    return out


def column_ranges(X: Array) -> tuple[Array, Array]:
    """Minimum and maximum of each column, (d,) each, in float64, without missing values."""
    return X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)


def mean_and_scale(X: Array, weight: Array, constant: float = 1.0) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of each column, (d,) each, in float64.

    A column that is constant up to rounding gets `constant` as its standard deviation, or the possible rounding
    error if that is larger. Divided by infinity it is 0, also for other values at prediction.
    """
    starts = np.arange(0, len(X), BLOCK)
    sums, squares = np.empty((2, len(starts), X.shape[1]))
    masses = np.add.reduceat(weight, starts)[:, None]
    total = masses.sum()
    with np.errstate(over="ignore", invalid="ignore"):
        for block, start in enumerate(starts):
            rows, w = X[start : start + BLOCK], weight[start : start + BLOCK, None]
            sums[block] = (w * rows).sum(axis=0)
            squares[block] = (w * np.square(rows - sums[block] / masses[block])).sum(axis=0)
        mean = sums.sum(axis=0) / total
        between = masses * np.square(sums / masses - mean)
        variance = (squares.sum(axis=0) + between.sum(axis=0)) / total
    if not np.isfinite(variance).all():
        column = int(np.flatnonzero(~np.isfinite(variance))[0])
        raise ValueError(
            f"X: column {column} is too large for its variance to be a finite number with these sample_weight"
        )
    # A number takes part in at most so many additions, within its block and over blocks.
    rounding = np.finfo(np.float64).eps * min(len(X), BLOCK + len(starts))
    lost = rounding * np.abs(mean)
    is_constant = variance <= rounding * variance + np.square(lost)
    return mean, np.where(is_constant, np.maximum(constant, lost), np.sqrt(variance))


def weighted_means(X: Array, weight: Array) -> Array:
    """The weighted mean of each column, (d,), in float64; block by block, without a copy of X (n, d)."""
    share, means = weight / weight.sum(), np.zeros(X.shape[1])
    for start in range(0, len(X), BLOCK):
        means += share[start : start + BLOCK] @ X[start : start + BLOCK]
    return means


def observed_means(X: Array, weight: Array) -> Array:
    """The weighted mean of the observed values of each column, (d,); 0 if there are none."""
    observed = ~np.isnan(X)
    total = weight @ observed
    sums = weight @ np.where(observed, X, 0.0).astype(np.float64)
    return np.divide(sums, total, out=np.zeros(X.shape[1]), where=total > 0.0)


def skewness(X: Array, weight: Array) -> Array:
    """Weighted skewness of each column of X (n, p); 0 for a constant column."""
    share = weight / weight.sum()
    # mean_and_scale refuses columns whose variance overflows.
    with np.errstate(over="ignore", invalid="ignore"):
        centered = X - share @ X
        deviation = np.sqrt(share @ np.square(centered))
    usable = (deviation > CONSTANT * np.abs(X).max(axis=0)) & np.isfinite(deviation)
    unit = np.where(usable, deviation, 1.0)
    standard = np.where(usable, centered / unit, 0.0)
    # Powers of arrays take many times as long as products.
    return share @ (standard * standard * standard)


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
    if not 1 < len(fill) <= MAX_REGRESSION_COLUMNS or not missing.any():
        return ()
    step = -(-len(numbers) // MAX_REGRESSION_ROWS)
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


def fit_scaling(
    X: Rows, weight: Array, expansion: ImputeAndEncode | None, clipping: ClipAndLog | None = None
) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of each expanded column, log-transformed by `clipping`, (e,) each.

    One-hot columns are not scaled: the distance of two categories is then the mean distance of two rows in a
    number, also for rare categories. Missing indicators have a scale of their own. That of constant columns, which
    carry no information, is infinite.
    """
    numeric = np.asarray(X) if expansion is None else without_categories(expansion)(X)
    center, scale = mean_and_scale(numeric, weight, np.inf)
    if clipping is not None and clipping.log_scale is not None:
        rows, columns = slice(None, None, -(-len(X) // MAX_LOG_ROWS)), clipping.log_columns[0]
        logs = clipping.take(slice(len(center)))(numeric[rows].astype(np.float64))
        log_center, log_scale = mean_and_scale(logs, weight[rows], np.inf)
        center[columns], scale[columns] = log_center[columns], log_scale[columns]
    if expansion is None:
        return center, scale
    indicators = scale[len(expansion.numeric) :]
    indicators[np.isfinite(indicators)] = INDICATOR_SCALE
    centers = [center]
    for column, table in zip(expansion.categorical, expansion.one_hot, strict=True):
        share = np.bincount(one_hot_rows(X[:, column], len(table) - 1), weight, len(table)) / weight.sum()
        centers.append(share @ table)
    center = np.concatenate(centers)
    return center, np.append(scale, np.ones(len(center) - len(scale)))


def fit_clipping(X: Rows, expansion: ImputeAndEncode | None = None) -> ClipAndLog:
    """The training range of each expanded column, and its mean if means are all that is imputed.

    One-hot columns are unbounded.
    """
    if expansion is None:
        return ClipAndLog(*column_ranges(np.asarray(X)))
    low, high = column_ranges(without_categories(expansion)(X))
    unbounded = np.full(expansion.n_expanded - len(low), np.inf)
    low, high = np.append(low, -unbounded), np.append(high, unbounded)
    return ClipAndLog(low, high, means=expansion.means if expansion.only_imputes_means else None)


def without_categories(expansion: ImputeAndEncode) -> ImputeAndEncode:
    """The imputation and the missing indicators of an expansion."""
    if not expansion.one_hot:
        return expansion
    return replace(expansion, categorical=NO_COLUMNS, one_hot=())
