"""Estimators for the arrays and tables of a Dask cluster.

The workers read the rows in passes over their blocks and keep a sample, from which the fit is the ordinary one.
Predictions are lazy.
"""

from ..utils.packages import require_packages

require_packages("rffboost_ext.dask", "dask", "distributed")

from .estimators import (  # noqa: E402
    DaskRFFBoostClassifier,
    DaskRFFBoostQuantileRegressor,
    DaskRFFBoostRanker,
    DaskRFFBoostRegressor,
)
from .rows import DaskRows  # noqa: E402

__all__ = [
    "DaskRFFBoostClassifier",
    "DaskRFFBoostQuantileRegressor",
    "DaskRFFBoostRanker",
    "DaskRFFBoostRegressor",
    "DaskRows",
]
