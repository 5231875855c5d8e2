"""Where XGBoost starts from: its ``base_score``."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from ..core import Array
from ..losses.margin import sigmoid


def base_score_of(baseline: Array, objective: str) -> Any:
    """The ``base_score`` that starts XGBoost at raw scores `baseline` (C,), under one of its objectives.

    Raises
    ------
    ValueError
        If the outputs start from different scores and XGBoost is older than 3.1, which has one for all.
    """
    if len(baseline) == 1:
        return float((sigmoid(baseline) if objective == "binary:logistic" else baseline)[0])
    if (baseline == baseline[0]).all():
        return float(baseline[0])
    version = tuple(int(part) for part in xgboost.__version__.split(".")[:2])
    if version < (3, 1):
        raise ValueError(
            f"XGBoost {xgboost.__version__} starts all outputs from one base_score, the loss wants "
            f"{np.round(baseline, 4).tolist()}: XGBoost 3.1 and newer can"
        )
    return [float(value) for value in baseline]
