"""Targets of several columns beside a host's labels, which hold one column in float32."""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np

from ..preprocessing.tables import number_array
from ..utils.typing import Array
from .score_conversion import as_columns


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
    target = as_columns(number_array(y))
    n_samples = len(target) if is_unbinned(matrix) else n_rows(matrix)
    if n_samples != len(target):
        raise ValueError(f"attach: y must have shape ({n_samples}, K), got {target.shape}")
    matrix.set_label(host_labels(target))
    matrix.get_label = lambda: target
    name, owner = "slice" if hasattr(matrix, "slice") else "subset", ref(matrix)

    def part(rows: Any, *args: Any, **kwargs: Any) -> Any:
        whole = owner()
        found = getattr(type(whole), name)(whole, rows, *args, **kwargs)
        # A Dataset sorts them.
        attach(found, y=target[getattr(found, "used_indices", rows)])
        found.sliced_target = target
        return found

    setattr(matrix, name, part)


def has_attached_target(matrix: Any) -> bool:
    """Whether the target of a matrix was given by :func:`attach`."""
    return "get_label" in vars(matrix)


def n_rows(matrix: Any) -> int:
    """The number of rows of a DMatrix, or of a constructed Dataset."""
    return int(matrix.num_row() if hasattr(matrix, "num_row") else matrix.num_data())


def is_unbinned(matrix: Any) -> bool:
    """Whether a matrix is a Dataset of LightGBM before its construction."""
    return getattr(matrix, "_handle", matrix) is None


def host_labels(y: Array) -> Array:
    """The first column of a target, (n,), finite in float32."""
    limit = float(np.finfo(np.float32).max)
    return np.clip(y[:, 0], -limit, limit)
