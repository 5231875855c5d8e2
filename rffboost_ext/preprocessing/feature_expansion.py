"""Imputation and one-hot encoding, fitted to training data for learners of numbers."""

from __future__ import annotations

import numpy as np

from ..terms import ImputeAndEncode
from ..utils.typing import Array
from .column_statistics import observed_means, weighted_means
from .imputation import imputation_regressions

# Maximum number of one-hot columns per categorical column: the rarest categories share one.
MAX_ONE_HOT = 64
NO_COLUMNS = np.empty(0, dtype=np.int64)


def fit_feature_expansion(
    X: Array, weight: Array, coded: list[int], missing: Array, imputes_new: bool
) -> ImputeAndEncode | None:
    """The imputation and encoding of training data; None if learners are fitted to the data themselves.

    Missing numbers are imputed by linear regression on the other numeric columns and flagged by an indicator
    (:func:`~rffboost_ext.preprocessing.imputation.imputation_regressions`). If no number is missing in training,
    those of other data are imputed by the mean. Categories are one-hot encoded by scikit-learn's OneHotEncoder. A
    missing value is a category of its own if the column has any in training. Otherwise, like an unknown category,
    it is encoded as the mean of the one-hot columns, which is 0 after standardising.

    Parameters
    ----------
    X : ndarray of shape (n, d)
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
    if not (coded or missing.any()):
        return mean_imputation(weighted_means(X, weight)) if imputes_new else None
    is_number = np.ones(X.shape[1], dtype=bool)
    is_number[coded] = False
    numbers = np.flatnonzero(is_number)
    tables = tuple(one_hot(X[:, column], weight, bool(missing[column])) for column in coded)
    fill = observed_means(X[:, numbers], weight)
    indicators = np.flatnonzero(is_number & missing)
    codes = np.array(coded, dtype=np.int64)
    regressions = imputation_regressions(X[:, numbers], weight, fill)
    return ImputeAndEncode(X.shape[1], numbers, fill, indicators, codes, tables, regressions)


def mean_imputation(means: Array) -> ImputeAndEncode:
    """The imputation of each column by its mean (d,)."""
    return ImputeAndEncode(len(means), np.arange(len(means)), means, NO_COLUMNS, NO_COLUMNS, ())


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
