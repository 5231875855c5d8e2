"""Targets and sample weights of the rows of a host's matrix."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np

from ..core import Loss, Observations
from ..preprocessing.tables import number_array
from ..utils.typing import Array
from .host import Host, host_of
from .score_conversion import as_columns, float_weights

NO_MATRIX = (
    "the objective and metric are for train(), which passes a matrix; for the scikit-learn interface use "
    "XGBClassifier, XGBRegressor, LGBMClassifier or LGBMRegressor of rffboost_ext.interop with loss=..."
)
"""Error message for other objects than a matrix."""


def attach(matrix: Any, *, y: Any) -> None:
    """Keep a target of several columns with a matrix, whose labels hold one column.

    ``matrix.get_label()`` then returns the target, and slices of the matrix, as in the host's ``cv``, keep that of
    their rows. A loss of groups of rows, such as queries, refuses a slice that divides a group. The labels in the
    host's own memory become the first column, finite and in float32. A call of ``matrix.set_label`` after that has
    no effect on the loss.

    Parameters
    ----------
    matrix : xgboost.DMatrix or lightgbm.Dataset
        For training or for evaluation.
    y : array-like of shape (n,) or (n, K)
        The target in the columns that the loss takes, such as costs, bounds, events or queries, in float64.

    Raises
    ------
    ValueError
        If y is not numbers, or has another number of rows than the matrix.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, relevance, query = np.arange(6.0)[:, None], np.array([2, 1, 0, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
    >>> matrix = xgboost.DMatrix(X)
    >>> rxgb.attach(matrix, y=np.column_stack([relevance, query]))
    >>> params = rxgb.intercept("pairwise", matrix)
    >>> booster = xgboost.train(params, matrix, 3, obj=rxgb.objective("pairwise"))
    """
    target, name = as_columns(number_array(y)), matrix_host(matrix).slicing
    n_samples = matrix.num_row() if hasattr(matrix, "num_row") else len(target)
    if n_samples != len(target):
        raise ValueError(f"attach: y must have shape ({n_samples}, K), got {target.shape}")
    # LightGBM compares the numbers of rows itself, once it has binned them.
    matrix.set_label(host_labels(target))
    matrix.get_label = lambda: target
    owner = ref(matrix)

    def part(rows: Any, *args: Any, **kwargs: Any) -> Any:
        whole = owner()
        found = getattr(type(whole), name)(whole, rows, *args, **kwargs)
        # A Dataset sorts them.
        attach(found, y=target[getattr(found, "used_indices", rows)])
        found.sliced_target = target
        return found

    setattr(matrix, name, part)


def matrix_host(matrix: Any) -> Host:
    """The adapter of the host of a matrix, or a TypeError."""
    return host_of(matrix, NO_MATRIX)


def host_labels(y: Array) -> Array:
    """The first column of a target, (n,), finite in float32."""
    limit = float(np.finfo(np.float32).max)
    return np.clip(y[:, 0], -limit, limit)


def read_rows(matrix: Any, loss: Loss) -> Observations:
    """The targets and the sample weights of a matrix, 1 if it has none, as a loss takes them.

    Raises
    ------
    ValueError, TypeError
        If the matrix has no labels, all weights are 0, or it is no matrix.
    """
    y, weight = read_targets(matrix, loss), matrix_host(matrix).weights(matrix)
    weight = float_weights(weight if weight is not None and len(weight) else None, len(y))
    if not np.any(weight):
        raise ValueError("the weights of the matrix must not all be 0")
    return Observations(y, weight)


def read_targets(matrix: Any, loss: Loss) -> Array:
    """The targets of a matrix, (n, K) in float64; those of a loss of groups end with the queries, if any."""
    host = matrix_host(matrix)
    if "get_label" in vars(matrix):
        return as_columns(matrix.get_label())
    labels = host.labels(matrix)
    if labels is None or not len(labels):
        raise ValueError("the matrix has no labels, which the objective and metric need")
    y, codes = as_columns(labels), host.queries(matrix) if loss.rows == "groups" else None
    return y if codes is None else np.column_stack([y, codes])


def require_whole_groups(loss: Loss, y: Array, matrix: Any) -> None:
    """Raise a ValueError if a matrix is a slice, with the target y (n, K), that divides groups of coupled rows."""
    if loss.rows != "groups":
        return
    whole, parent = getattr(matrix, "sliced_target", None), matrix_host(matrix).whole(matrix)
    if whole is None and parent is not None:
        whole = read_targets(parent, loss)
    if whole is None:
        return
    found, counts = np.unique(loss.groups(y), return_counts=True)
    groups, sizes = np.unique(loss.groups(whole), return_counts=True)
    divided = int((counts < sizes[np.searchsorted(groups, found)]).sum())
    if divided:
        raise ValueError(
            f"loss {loss!r} couples the rows of a group, but a slice of the matrix divides {divided} of its "
            f"{len(found)} groups: pass folds of whole groups, such as folds=GroupKFold(5).split(X, y, groups)"
        )
