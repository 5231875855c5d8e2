"""Plots of fitted models as scikit-learn displays: ``SomeDisplay.from_estimator(model, ...)``; need matplotlib."""

from .inspection.calibration_display import DistributionCalibrationDisplay
from .inspection.frequency_display import FrequencyDisplay
from .inspection.history_display import HistoryDisplay
from .inspection.importance_display import ImportanceDisplay
from .inspection.landmark_display import LandmarkDisplay

__all__ = [
    "DistributionCalibrationDisplay",
    "FrequencyDisplay",
    "HistoryDisplay",
    "ImportanceDisplay",
    "LandmarkDisplay",
]
