"""Lazy predictions for dask arrays and tables."""

from __future__ import annotations

from copy import copy
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import pandas as pd

from ..utils.typing import Array


def predict_lazily(model: Any, method: str, X: Any) -> Any:
    """What a method of a fitted estimator returns for rows, in the blocks and with the index of X.

    Parameters
    ----------
    model : estimator
        A fitted estimator for rows in memory.
    method : str
        Such as "predict".
    X : dask Array of shape (n, d), dask DataFrame, or array-like in memory

    Returns
    -------
    dask Array, Series or DataFrame, or ndarray
    """
    if not isinstance(X, da.Array | dd.DataFrame):
        return getattr(model, method)(X)
    require_columns_of_fit(model, X)
    one, lazy = getattr(at_baseline(model), method)(None), dask.delayed(model)
    if isinstance(X, dd.DataFrame):
        meta = predict_partition(X._meta, model, method, one)
        return X.map_partitions(predict_partition, lazy, method, one, meta=meta)
    shape = {"drop_axis": 1} if one.ndim == 1 else {"chunks": (X.chunks[0], one.shape[1:])}
    whole = X.rechunk({1: -1})
    return whole.map_blocks(predict_block, model=lazy, method=method, one=one, meta=one[:0], **shape)


def require_columns_of_fit(model: Any, X: Any) -> None:
    """Raise a ValueError unless X has the columns of the fit."""
    names = getattr(model, "feature_names_in_", None)
    if isinstance(X, dd.DataFrame) and names is not None:
        expected, columns = list(names), list(X.columns)
    else:
        expected, columns = model.n_features_in_, X.shape[1]
    if expected != columns:
        raise ValueError(f"{type(model).__name__}: X must have the columns of the fit, {expected}, got {columns}")


def at_baseline(model: Any) -> Any:
    """A copy of a fitted estimator that takes the scores of any rows for those of one row at the baseline."""
    probe = copy(model)
    probe.raw_scores = lambda X, base_margin=None: model.ensemble_.baseline[None]
    return probe


def predict_block(X: Any, model: Any, method: str, one: Array) -> Array:
    """What a method of a fitted estimator returns for the rows of a block, if it returns `one` for another row.

    A block may have no rows, which the checks of the estimator refuse.
    """
    return getattr(model, method)(X) if X.shape[0] else one[:0]


def predict_partition(X: Any, model: Any, method: str, one: Array) -> Any:
    """The same as a Series or DataFrame with the index of the partition."""
    values = predict_block(X, model, method, one)
    if values.ndim == 1:
        # The type of text depends on the settings of pandas.
        return pd.Series(values, index=X.index, dtype=pd.Series(one).dtype)
    names = getattr(model, "quantiles", getattr(model, "classes_", range(values.shape[1])))
    return pd.DataFrame(values, index=X.index, columns=list(names))
