"""The features of a fit as a matrix of XGBoost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...core import Round
from ...utils.typing import Array
from .centering import column_center

if TYPE_CHECKING:
    from xgboost import DMatrix

    from ...utils.typing import DesignLike

# Up to this number of rows a plain copy takes less time than quantised bins, and little memory.
MAX_COPIED_ROWS = 3_000


def center_columns(X: Array) -> tuple[Array | None, Array]:
    """The offsets to subtract from columns, (d,) or None, and the centred features, (n, d)."""
    center = column_center(X)
    return center, X if center is None else X - center


def bin_features(round: Round, X: Array, max_bin: int) -> DMatrix:
    """The features of a fit, (n, d), as a matrix; with few rows boosters compute the same bins themselves."""
    from xgboost import DMatrix, QuantileDMatrix

    # Rows of weight 0 are left out of this round only.
    positive = round.weight[round.weight > 0.0]
    largest = np.finfo(np.float32).max
    if positive.max() > largest:
        raise ValueError(
            f"tree: sample_weight must be at most {largest:.1e}, as in XGBoost, got {positive.max():g}"
        )
    weight = None if (positive == positive[0]).all() else round.weight
    design = round.design
    options = {"weight": weight, "feature_types": feature_types(design), "nthread": design.n_jobs}
    if len(X) <= MAX_COPIED_ROWS:
        return DMatrix(X, enable_categorical=True, **options)
    return QuantileDMatrix(X, max_bin=max_bin, enable_categorical=True, **options)


def feature_types(design: DesignLike) -> list[str] | None:
    """XGBoost's types of columns, "c" for categories and "q" for numbers; None without categories."""
    expansion = design.feature_map.expansion
    if expansion is None or not len(expansion.categorical):
        return None
    coded = set(expansion.categorical.tolist())
    return ["c" if column in coded else "q" for column in range(design.original.shape[1])]


def require_single_precision(X: Array) -> None:
    """Raise a ValueError if a value is beyond the range of float32, the precision of XGBoost's features."""
    largest = np.finfo(np.float32).max
    if X.dtype == np.float32 or (np.fmax.reduce(X, None) <= largest and np.fmin.reduce(X, None) >= -largest):
        return
    beyond = np.argwhere(np.abs(X) > largest)
    if not len(beyond):
        # All values are missing.
        return
    row, column = beyond[0]
    raise ValueError(
        f"tree: X must be within the range of float32, {largest:.1e}, the precision of XGBoost's features; "
        f"got {X[row, column]:g} in column {column}"
    )
