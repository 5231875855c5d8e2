"""Where XGBoost starts from: its ``base_score``."""

from __future__ import annotations

from typing import Any

from ..core import Array
from ..losses.margin import sigmoid


def base_score_of(baseline: Array, objective: str) -> Any:
    """The ``base_score`` that starts XGBoost at raw scores `baseline` (C,), under one of its objectives."""
    if len(baseline) == 1:
        return float((sigmoid(baseline) if objective == "binary:logistic" else baseline)[0])
    if (baseline == baseline[0]).all():
        return float(baseline[0])
    return [float(value) for value in baseline]
