"""Mean, scale and range of the columns that learners are fitted to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..terms import ClipAndLog, ImputeAndEncode
from ..terms.expanded import one_hot_rows
from ..utils.typing import Array
from .column_statistics import column_ranges, mean_and_scale
from .feature_expansion import NO_COLUMNS

# Scale of missing indicators: uninformative ones at full size would blur the numbers.
INDICATOR_SCALE = 2.0
# Maximum number of rows for the mean and scale of log-transformed columns.
MAX_LOG_ROWS = 2**17


def fit_scaling(
    X: Array, weight: Array, expansion: ImputeAndEncode | None, clipping: ClipAndLog | None = None
) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of each expanded column, log-transformed by `clipping`, (e,) each.

    One-hot columns are not scaled: the distance of two categories is then the mean distance of two rows in a
    number, also for rare categories. Missing indicators have a scale of their own. That of constant columns, which
    carry no information, is infinite.
    """
    numeric = X if expansion is None else without_categories(expansion)(X)
    center, scale = mean_and_scale(numeric, weight, np.inf)
    if clipping is not None and clipping.log_scale is not None:
        rows, columns = slice(None, None, -(-len(X) // MAX_LOG_ROWS)), clipping.log_columns[0]
        logs = clipping.head(len(center))(numeric[rows].astype(np.float64))
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


def fit_clipping(X: Array, expansion: ImputeAndEncode | None = None) -> ClipAndLog:
    """The training range of each expanded column, and its mean if means are all that is imputed.

    One-hot columns are unbounded.
    """
    if expansion is None:
        return ClipAndLog(*column_ranges(X))
    low, high = column_ranges(without_categories(expansion)(X))
    unbounded = np.full(expansion.n_expanded - len(low), np.inf)
    low, high = np.append(low, -unbounded), np.append(high, unbounded)
    return ClipAndLog(low, high, means=expansion.means if expansion.only_imputes_means else None)


def without_categories(expansion: ImputeAndEncode) -> ImputeAndEncode:
    """The imputation and the missing indicators of an expansion."""
    return replace(expansion, categorical=NO_COLUMNS, one_hot=())
