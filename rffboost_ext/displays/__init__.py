"""Plots of fitted models as scikit-learn displays: ``SomeDisplay.from_estimator(model, ...)``; need matplotlib."""

from .effect import EffectDisplay
from .frequencies import FrequencyDisplay
from .history import HistoryDisplay
from .importance import ImportanceDisplay
from .landmarks import LandmarkDisplay
from .rounds import RoundsDisplay

__all__ = [
    "EffectDisplay",
    "FrequencyDisplay",
    "HistoryDisplay",
    "ImportanceDisplay",
    "LandmarkDisplay",
    "RoundsDisplay",
]
