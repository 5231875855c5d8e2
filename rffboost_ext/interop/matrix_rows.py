"""Targets and sample weights of the rows of a host's matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..utils.typing import Array
from .attachments import is_unbinned
from .score_conversion import as_columns


def read_targets(matrix: Any) -> Array:
    """The targets of a matrix, (n, K) in float64; a ValueError if it has none, a TypeError if it is no matrix."""
    if not hasattr(matrix, "get_label"):
        raise TypeError(
            f"the objective and metric are for train(), which passes a matrix; got {type(matrix).__name__}. "
            f"For the scikit-learn interface use XGBClassifier, XGBRegressor, LGBMClassifier or LGBMRegressor of "
            f"rffboost_ext.interop with loss=..."
        )
    labels = matrix.get_label()
    if labels is None or not len(labels):
        raise ValueError("the matrix has no labels, which the objective and metric need")
    return as_columns(labels)


def read_weights(matrix: Any, n_samples: int) -> Array:
    """The sample weights of a matrix, (n,), 1 if it has none."""
    # get_weight() of a Dataset fails before its data are binned, which train() does with its parameters.
    weight = matrix.weight if is_unbinned(matrix) else matrix.get_weight()
    # XGBoost has a weight for each query if a matrix has queries.
    starts = matrix.get_uint_info("group_ptr") if hasattr(matrix, "get_uint_info") else np.empty(0)
    if len(starts) and weight is not None and len(weight):
        weight = np.repeat(weight, np.diff(starts.tolist()))
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
