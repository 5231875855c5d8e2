"""Losses and cosines in XGBoost's training loop, and its models as ensembles."""

from __future__ import annotations

try:
    import xgboost  # noqa: F401
except ImportError as error:
    raise ImportError(
        "rffboost_ext.interop.xgboost needs XGBoost, which is not installed: pip install 'xgboost>=3.2'"
    ) from error

from .cosine_objective import CosineObjective
from .models import bind, to_ensemble
from .objectives import attach, intercept, metric, objective
from .xgboost_estimators import XGBClassifier, XGBRegressor

__all__ = [
    "CosineObjective",
    "XGBClassifier",
    "XGBRegressor",
    "attach",
    "bind",
    "intercept",
    "metric",
    "objective",
    "to_ensemble",
]
