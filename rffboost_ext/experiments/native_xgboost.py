"""XGBoost's own classifier as experiments run it."""

from __future__ import annotations

import xgboost

from ..interop.xgboost_estimators import DeferInterrupts


class XGBClassifier(DeferInterrupts, xgboost.XGBClassifier):
    """``xgboost.XGBClassifier``, whose fit can be interrupted."""
