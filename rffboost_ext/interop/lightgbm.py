"""Losses and cosines in LightGBM's training loop, and its models as ensembles."""

from __future__ import annotations

from ..utils.packages import require_packages

require_packages("rffboost_ext.interop.lightgbm", "lightgbm")

from .cosine_objective import CosineObjective  # noqa: E402
from .lightgbm_estimators import LGBMClassifier, LGBMRegressor  # noqa: E402
from .models import bind, to_ensemble  # noqa: E402
from .objectives import attach, intercept, objective  # noqa: E402

__all__ = [
    "CosineObjective",
    "LGBMClassifier",
    "LGBMRegressor",
    "attach",
    "bind",
    "intercept",
    "objective",
    "to_ensemble",
]
