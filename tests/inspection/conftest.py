"""A model of the shared data, and figures that are closed after each test."""

from __future__ import annotations

import sys

import pytest

from rffboost_ext import RFFBoostRegressor

from .display_cases import X, Y


@pytest.fixture(scope="session")
def model():
    return RFFBoostRegressor(n_estimators=30, early_stopping=True, n_folds=1, random_state=0).fit(X, Y)


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        pyplot.close("all")
