"""Losses and cosines in the training loops of XGBoost and LightGBM, and their models as ensembles.

    from rffboost_ext.interop import xgboost as rxgb, lightgbm as rlgb

Each module imports the library of its name.
"""

from __future__ import annotations

from typing import Any

from ..estimators.init_model import READERS, InitModel
from .host import HOSTS


def read_host_model(model: Any) -> InitModel:
    """The model of a host as an initial model, by a module that is imported when there is one."""
    from .models import init_model

    return init_model(model)


READERS |= dict.fromkeys(HOSTS, read_host_model)
