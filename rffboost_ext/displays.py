"""Plots of fitted models as scikit-learn displays: ``SomeDisplay.from_estimator(model, ...)``; need matplotlib."""

from .inspection.calibration_display import DistributionCalibrationDisplay
from .inspection.history_display import HistoryDisplay
from .inspection.importance_display import ImportanceDisplay

__all__ = [
    "DistributionCalibrationDisplay",
    "HistoryDisplay",
    "ImportanceDisplay",
]
