"""Recipes and plans of fits, without fitting anything."""

from __future__ import annotations

from typing import Any

import numpy as np

from rffboost_ext.boosting.plan import Plan, Start
from rffboost_ext.estimators.planning import compose, plan_fit, recipe_of
from rffboost_ext.recipes import Recipe
from rffboost_ext.rows.dataset import Dataset
from rffboost_ext.rows.feature_encoder import FeatureEncoder


def rows_of(n: int, d: int = 3, n_classes: int = 2) -> Dataset:
    """So many rows, of some classes or values."""
    y = (np.arange(n) % n_classes).astype(float)[:, None]
    return Dataset(np.zeros((n, d)), y, np.ones(n))


def recipe_for(model: Any, rows: Dataset, monitored: bool = False, n_splits: int = 0) -> Recipe:
    """The recipe of a fit with early stopping, with rows of the user for it or with a splitter."""
    model.encoder_ = FeatureEncoder("", None, "auto")
    return recipe_of(model, compose(model), rows, monitored, True, Start(), n_splits)


def planned(model: Any, n: int, d: int = 3, n_classes: int = 2) -> Plan:
    """The plan of a fit with early stopping on so many rows."""
    rows = rows_of(n, d, n_classes)
    return plan_fit(model, recipe_for(model, rows), compose(model), rows, Start())
