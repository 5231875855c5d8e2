"""Warnings name the line of the user that has led to them, however deep in the package they arise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostQuantileRegressor, RFFBoostRegressor, TimeBudget, average

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 2))
Y = X[:, 0] + 0.1 * RNG.standard_normal(60)
PARAMS = {"learner": "rff_newton", "n_estimators": 3, "early_stopping": False}
LETTERS = pd.DataFrame({"a": pd.Categorical(["x", "y"] * 30), "b": X[:, 0]})
OTHERS = pd.DataFrame({"a": pd.Categorical(["u", "v"]), "b": X[:2, 0]})


def light(_):
    RFFBoostRegressor(**PARAMS).fit(X, Y, sample_weight=np.full(60, 1e-3))


def light_classes(_):
    RFFBoostClassifier(**PARAMS).fit(X, Y > 0, sample_weight=np.full(60, 1e-3))


def light_quantiles(_):
    RFFBoostQuantileRegressor([0.5], **PARAMS).fit(X, Y, sample_weight=np.full(60, 1e-3))


def unknown_categories(_):
    RFFBoostRegressor(**PARAMS).fit(LETTERS, Y).predict(OTHERS)


def unknown_categories_of_an_average(_):
    model = average([RFFBoostClassifier(**PARAMS).fit(LETTERS, Y > 0)] * 2)
    model.predict_proba(OTHERS)


def callbacks_left_out(folder):
    RFFBoostRegressor(**PARAMS, callbacks=[TimeBudget(60.0)]).fit(X, Y).save_model(folder / "model")


def fitted_rows(_):
    first = RFFBoostRegressor("squared_error", "rff_newton", n_estimators=200, early_stopping=False).fit(X, Y)
    RFFBoostRegressor("squared_error", "rff_newton").fit(X, Y, init_model=first)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (light, "sample_weight"),
        (light_classes, "sample_weight"),
        (light_quantiles, "sample_weight"),
        (unknown_categories, "none of the categories"),
        (unknown_categories_of_an_average, "none of the categories"),
        (callbacks_left_out, "no part of a model file"),
        (fitted_rows, "may have been fitted to the held-out rows"),
    ],
)
def test_a_warning_names_the_line_of_the_user(call, message, tmp_path):
    with pytest.warns(UserWarning, match=message) as told:
        call(tmp_path)
    assert {one.filename for one in told if message in str(one.message)} == {__file__}
