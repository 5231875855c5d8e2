"""Plans of fits, without fitting anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from rffboost_ext.boosting.plan import Plan, Start
from rffboost_ext.data.dataset import Dataset
from rffboost_ext.estimators.planning import compose, plan_fit
from rffboost_ext.preprocessing.feature_encoder import FeatureEncoder


def planned(model: Any, n: int, d: int = 3, n_classes: int = 2) -> Plan:
    """The plan of a fit with early stopping on so many rows, of some classes or values."""
    y = (np.arange(n) % n_classes).astype(float)[:, None]
    return planned_on(model, Dataset(np.zeros((n, d)), y, np.ones(n)))


def planned_on(model: Any, rows: Dataset) -> Plan:
    """The plan of a fit with early stopping."""
    model.encoder_ = FeatureEncoder("", None, "auto")
    return plan_fit(model, compose(model), rows, None, True, Start())
