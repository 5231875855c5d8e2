"""Imputation and encoding learned in a fit, for the learners that see numbers only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .conditional import sweeps_of
from .core import Array
from .design import moments, ranges
from .terms import Expansion, Extent
from .terms.expanded import positions

# Maximum number of one-hot columns per categorical column: the rarest categories share one.
MOST_COLUMNS = 64
# Scale of missing indicators. Where values are missing at random an indicator is uninformative, and indicators of
# full size would blur the numbers; where missingness is informative, half a unit is enough to learn from.
OF_GAPS = 2.0
# Rows that tell the mean and deviation of a logarithm.
SCALED = 2**17
NONE = np.empty(0, dtype=np.int64)


def expansion_of(X: Array, weight: Array, coded: list[int], gaps: Array, fills_trees: bool) -> Expansion | None:
    """The imputation and encoding of training data for learners; None if they see the data themselves.

    Missing numbers are imputed. In columns with missing values in training this is by linear regression on the
    row's other numbers (:func:`~rffboost_ext.conditional.sweeps_of`), plus a missing indicator; elsewhere by the
    mean. Categories are one-hot encoded by scikit-learn's OneHotEncoder; a missing value is its own category if
    training has any in the column, else, like an unknown category, the mean of the one-hot columns, which is 0
    after standardising.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Numbers and codes, missing values NaN.
    weight : ndarray of shape (n,)
        Sample weights.
    coded : list of int
        The columns of codes.
    gaps : ndarray of shape (d,), bool
        The columns that have missing values in training.
    fills_trees : bool
        Whether missing numbers are imputed for trees too, in columns that have none in training.
    """
    if not (coded or fills_trees or gaps.any()):
        return None
    is_number = np.ones(X.shape[1], dtype=bool)
    is_number[coded] = False
    numbers = np.flatnonzero(is_number)
    tables = tuple(one_hot(X[:, column], weight, bool(gaps[column])) for column in coded)
    fill = means(X[:, numbers], weight)
    indicators = np.flatnonzero(is_number & gaps)
    codes = np.array(coded, dtype=np.int64)
    sweeps = sweeps_of(X[:, numbers], weight, fill)
    return Expansion(X.shape[1], numbers, fill, indicators, codes, tables, fills_trees, sweeps)


def means(X: Array, weight: Array) -> Array:
    """The weighted mean of the observed values of each column, (d,); 0 where there are none."""
    there = ~np.isnan(X)
    total = weight @ there
    sums = weight @ np.where(there, X, 0.0).astype(np.float64)
    return np.divide(sums, total, out=np.zeros(X.shape[1]), where=total > 0.0)


def one_hot(codes: Array, weight: Array, gaps: bool) -> Array:
    """One-hot columns of each code, (K + 1, k), missing values last; if none are missing two codes share one."""
    from sklearn.preprocessing import OneHotEncoder

    there = ~np.isnan(codes)
    found = np.unique(codes[there]).astype(np.int64)
    size = int(found.max(initial=-1)) + 1
    if not len(found):
        return np.ones((1, 1))
    share = np.bincount(codes[there].astype(np.int64), weight[there], size)[found]
    encoder = OneHotEncoder(drop=None if gaps else "if_binary", sparse_output=False)
    columns = encoder.fit_transform(grouped(found, share)[:, None])
    if gaps:
        table = np.zeros((size + 1, columns.shape[1] + 1))
        # A code that no row has counts as missing.
        table[:, -1] = 1.0
        table[found, -1] = 0.0
        table[found, :-1] = columns
        return table
    table = np.tile(share @ columns / share.sum(), (size + 1, 1))
    table[found] = columns
    return table


def grouped(codes: Array, weight: Array) -> Array:
    """Codes, with the rarest by weight merged into -1 if there are more than `MOST_COLUMNS`."""
    if len(codes) <= MOST_COLUMNS:
        return codes
    kept = np.argsort(-weight, kind="stable")[: MOST_COLUMNS - 1]
    out = np.full(len(codes), -1)
    out[kept] = codes[kept]
    return out


def scaling_of(
    X: Array, weight: Array, expansion: Expansion | None, extent: Extent | None = None
) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of each column that learners see, (d,) or (e,) each.

    Of bent columns where `extent` has bends, on rows evenly spaced if there are many.

    One-hot columns are not scaled: two different categories are then as far apart as two rows are on average in a
    number, and rare ones no further. Indicators have a scale of their own. Constant columns carry no information:
    they are divided by infinity.
    """
    numeric = X if expansion is None else replace(expansion, coded=NONE, tables=())(X)
    center, scale = moments(numeric, weight, np.inf)
    if extent is not None and extent.bend is not None:
        some, bent = slice(None, None, -(-len(X) // SCALED)), extent.bent[0]
        moved = moments(extent.first(len(center))(numeric[some].astype(np.float64)), weight[some], np.inf)
        center[bent], scale[bent] = moved[0][bent], moved[1][bent]
    if expansion is None:
        return center, scale
    indicators = scale[len(expansion.numbers) :]
    indicators[np.isfinite(indicators)] = OF_GAPS
    centers = [center]
    for column, table in zip(expansion.coded, expansion.tables, strict=True):
        share = np.bincount(positions(X[:, column], len(table) - 1), weight, len(table)) / weight.sum()
        centers.append(share @ table)
    center = np.concatenate(centers)
    return center, np.append(scale, np.ones(len(center) - len(scale)))


def extent_of(X: Array, expansion: Expansion | None) -> Extent:
    """The range of each column that learners see, after imputation; categories are unbounded."""
    if expansion is None:
        return ranges(X)
    seen = ranges(replace(expansion, coded=NONE, tables=())(X))
    coded = np.full(expansion.n_expanded - len(seen.low), np.inf)
    return Extent(np.append(seen.low, -coded), np.append(seen.high, coded))
