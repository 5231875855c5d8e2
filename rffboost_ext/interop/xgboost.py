"""Losses and cosines in XGBoost's training loop, and its models as ensembles."""

from __future__ import annotations

from .cosine_objective import CosineObjective
from .models import bind, to_ensemble
from .objectives import attach, intercept, objective
from .xgboost_estimators import XGBClassifier, XGBRegressor

__all__ = [
    "CosineObjective",
    "XGBClassifier",
    "XGBRegressor",
    "attach",
    "bind",
    "intercept",
    "objective",
    "to_ensemble",
]
