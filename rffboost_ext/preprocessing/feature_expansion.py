"""Imputation and encoding learned in a fit, for the learners that see numbers only."""

from __future__ import annotations

import numpy as np

from ..terms import ImputeAndEncode
from ..utils.typing import Array
from .imputation import imputation_regressions

# Maximum number of one-hot columns per categorical column: the rarest categories share one.
MOST_COLUMNS = 64
NONE = np.empty(0, dtype=np.int64)


def fit_feature_expansion(
    X: Array, weight: Array, coded: list[int], gaps: Array, fills_trees: bool
) -> ImputeAndEncode | None:
    """The imputation and encoding of training data for learners; None if they see the data themselves.

    Missing numbers are imputed. In columns with missing values in training this is by linear regression on the
    row's other numbers (:func:`~rffboost_ext.preprocessing.imputation.imputation_regressions`),
    plus a missing indicator; elsewhere by the
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
    fill = observed_means(X[:, numbers], weight)
    indicators = np.flatnonzero(is_number & gaps)
    codes = np.array(coded, dtype=np.int64)
    sweeps = imputation_regressions(X[:, numbers], weight, fill)
    return ImputeAndEncode(X.shape[1], numbers, fill, indicators, codes, tables, fills_trees, sweeps)


def observed_means(X: Array, weight: Array) -> Array:
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
    columns = encoder.fit_transform(merge_rare_codes(found, share)[:, None])
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


def merge_rare_codes(codes: Array, weight: Array) -> Array:
    """Codes, with the rarest by weight merged into -1 if there are more than `MOST_COLUMNS`."""
    if len(codes) <= MOST_COLUMNS:
        return codes
    kept = np.argsort(-weight, kind="stable")[: MOST_COLUMNS - 1]
    out = np.full(len(codes), -1)
    out[kept] = codes[kept]
    return out
