"""Losses and cosines in LightGBM's training loop, and its models as ensembles."""

from __future__ import annotations

try:
    import lightgbm  # noqa: F401
except ImportError as error:
    raise ImportError(
        "rffboost_ext.interop.lightgbm needs LightGBM, which is not installed: pip install 'rffboost-ext[peers]'"
    ) from error

from .cosine_objective import CosineObjective
from .lightgbm_estimators import LGBMClassifier, LGBMRegressor
from .models import bind, to_ensemble
from .objectives import attach, intercept, metric, objective

__all__ = [
    "CosineObjective",
    "LGBMClassifier",
    "LGBMRegressor",
    "attach",
    "bind",
    "intercept",
    "metric",
    "objective",
    "to_ensemble",
]
