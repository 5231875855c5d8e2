"""Mean, scale and range of the columns that learners see."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..terms import ClipAndLog, ImputeAndEncode
from ..terms.expanded import positions
from ..utils.typing import Array
from .column_statistics import clip_to_range, mean_and_scale
from .feature_expansion import NONE

# Scale of missing indicators. Where values are missing at random an indicator is uninformative, and indicators of
# full size would blur the numbers; where missingness is informative, half a unit is enough to learn from.
OF_GAPS = 2.0
# Rows that tell the mean and deviation of a logarithm.
SCALED = 2**17


def column_scaling(
    X: Array, weight: Array, expansion: ImputeAndEncode | None, clipping: ClipAndLog | None = None
) -> tuple[Array, Array]:
    """Weighted mean and standard deviation of each column that learners see, (d,) or (e,) each.

    Of bent columns where `clipping` has bends, on rows evenly spaced if there are many.

    One-hot columns are not scaled: two different categories are then as far apart as two rows are on average in a
    number, and rare ones no further. Indicators have a scale of their own. Constant columns carry no information:
    they are divided by infinity.
    """
    numeric = X if expansion is None else replace(expansion, coded=NONE, tables=())(X)
    center, scale = mean_and_scale(numeric, weight, np.inf)
    if clipping is not None and clipping.bend is not None:
        some, bent = slice(None, None, -(-len(X) // SCALED)), clipping.bent[0]
        moved = mean_and_scale(clipping.first(len(center))(numeric[some].astype(np.float64)), weight[some], np.inf)
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


def column_ranges(X: Array, expansion: ImputeAndEncode | None) -> ClipAndLog:
    """The range of each column that learners see, after imputation; categories are unbounded."""
    if expansion is None:
        return clip_to_range(X)
    seen = clip_to_range(replace(expansion, coded=NONE, tables=())(X))
    coded = np.full(expansion.n_expanded - len(seen.low), np.inf)
    return ClipAndLog(np.append(seen.low, -coded), np.append(seen.high, coded))
