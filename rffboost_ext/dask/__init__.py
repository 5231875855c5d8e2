"""Estimators for the arrays and tables of a Dask cluster.

The workers read the rows in passes over their blocks and keep a sample, from which the fit is the ordinary one.
Predictions are lazy.
"""

try:
    import dask.array
    import dask.dataframe  # noqa: F401
except ImportError as error:
    raise ImportError("rffboost_ext.dask needs dask: pip install 'rffboost-ext[dask]'") from error

from .estimators import (
    DaskRFFBoostClassifier,
    DaskRFFBoostQuantileRegressor,
    DaskRFFBoostRanker,
    DaskRFFBoostRegressor,
)
from .rows import DaskRows

__all__ = [
    "DaskRFFBoostClassifier",
    "DaskRFFBoostQuantileRegressor",
    "DaskRFFBoostRanker",
    "DaskRFFBoostRegressor",
    "DaskRows",
]
