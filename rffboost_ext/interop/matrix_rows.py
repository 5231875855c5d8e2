"""Targets and sample weights of the rows of a host's matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import Loss
from ..utils.typing import Array
from .attachments import has_attached_target, is_unbinned
from .score_conversion import as_columns


def read_targets(matrix: Any, loss: Loss) -> Array:
    """The targets of a matrix, (n, K) in float64; those of a loss of groups end with the host's queries, if any.

    Raises
    ------
    ValueError, TypeError
        If the matrix has no labels, or is none.
    """
    if not hasattr(matrix, "get_label"):
        raise TypeError(
            f"the objective and metric are for train(), which passes a matrix; got {type(matrix).__name__}. "
            f"For the scikit-learn interface use XGBClassifier, XGBRegressor, LGBMClassifier or LGBMRegressor of "
            f"rffboost_ext.interop with loss=..."
        )
    labels = matrix.get_label()
    if labels is None or not len(labels):
        labels = read_bounds(matrix)
    y, codes = as_columns(labels), None
    if loss.rows == "groups" and not has_attached_target(matrix):
        codes = query_codes(matrix)
    if codes is None:
        return y
    y = np.column_stack([y, codes])
    require_groups_of_queries(loss, y)
    return y


def require_groups_of_queries(loss: Loss, y: Array) -> None:
    """Raise a ValueError unless the groups of a loss are the last column of y, where the host's queries are."""
    try:
        same = np.array_equal(loss.groups(y), y[:, -1])
    except IndexError:
        same = False
    if not same:
        raise ValueError(
            f"loss {loss!r}: groups must be the last column of y, where queries of qid or group are. Without "
            f"these, all columns are in the y of an estimator, or given by attach(matrix, y=...)"
        )


def read_bounds(matrix: Any) -> Array:
    """The bounds of the labels of a matrix of XGBoost, (n, 2), or a ValueError if it has none."""
    names = "label_lower_bound", "label_upper_bound"
    bounds = [matrix.get_float_info(name) for name in names] if hasattr(matrix, "get_float_info") else [[], []]
    if not all(map(len, bounds)):
        raise ValueError("the matrix has no labels, which the objective and metric need")
    return np.column_stack(bounds)


def query_codes(matrix: Any) -> Array | None:
    """The number of the query of each row, (n,), by the host's own ``qid`` or ``group``; None without any."""
    if getattr(matrix, "used_indices", None) is not None:
        codes = query_codes(matrix.reference)
        return None if codes is None else codes[matrix.used_indices]
    if hasattr(matrix, "get_uint_info"):
        sizes = np.diff(matrix.get_uint_info("group_ptr").astype(np.int64))
    else:
        # get_group() of a Dataset fails before its data are binned.
        sizes = matrix.group if is_unbinned(matrix) else matrix.get_group()
    if sizes is None or not len(sizes):
        return None
    return np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.int64))


def require_whole_groups(loss: Loss, y: Array, matrix: Any) -> None:
    """Raise a ValueError if a matrix is a slice, with the target y (n, K), that divides groups of coupled rows."""
    whole = getattr(matrix, "sliced_target", None)
    if whole is None and getattr(matrix, "used_indices", None) is not None:
        whole = read_targets(matrix.reference, loss)
    if whole is None or loss.rows != "groups":
        return
    found, counts = np.unique(loss.groups(y), return_counts=True)
    groups, sizes = np.unique(loss.groups(whole), return_counts=True)
    divided = int((counts < sizes[np.searchsorted(groups, found)]).sum())
    if divided:
        raise ValueError(
            f"loss {loss!r} couples the rows of a group, but a slice of the matrix divides {divided} of its "
            f"{len(found)} groups: pass folds of whole groups, such as folds=GroupKFold(5).split(X, y, groups)"
        )


def read_weights(matrix: Any, n_samples: int) -> Array:
    """The sample weights of a matrix, (n,), 1 if it has none."""
    # get_weight() of a Dataset fails before its data are binned, which train() does with its parameters.
    weight = matrix.weight if is_unbinned(matrix) else matrix.get_weight()
    # XGBoost has a weight for each query if a matrix has queries.
    codes = query_codes(matrix) if hasattr(matrix, "get_uint_info") else None
    if codes is not None and weight is not None and len(weight) == codes[-1] + 1:
        weight = weight[codes]
    weight = float_weights(weight if weight is not None and len(weight) else None, n_samples)
    if not np.any(weight):
        raise ValueError("the weights of the matrix must not all be 0")
    return weight


def float_weights(weight: Array | None, n_samples: int) -> Array:
    """Sample weights in float64, 1 by default."""
    return np.ones(n_samples) if weight is None else np.asarray(weight, dtype=np.float64)


def times_class_factors(weight: Array, y: Array, factors: Array | None) -> Array:
    """Sample weights (n,) times factors by class, (K,), of class indices (n, 1)."""
    return weight if factors is None else weight * factors[y[:, 0].astype(np.intp)]


def rows_of_weight(weight: Array, *arrays: Array) -> tuple[Array, ...]:
    """The rows of arrays whose weight is positive: others are left out of a loss."""
    counts = weight > 0.0
    return arrays if counts.all() else tuple(array[counts] for array in arrays)
