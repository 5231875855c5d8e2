"""What the estimators of both hosts have in common: the loss as a parameter, where they start, failed fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import Quantile

from .interop_cases import BINARY, SIGNAL, X

lgb = pytest.importorskip("lightgbm")
from rffboost_ext.interop import lightgbm as rlgb  # noqa: E402

OWN = {
    "xgboost": {"max_depth": 3, "n_jobs": 1, "n_estimators": 30},
    "lightgbm": {"num_leaves": 7, "n_jobs": 1, "n_estimators": 30, "verbose": -1},
}
REGRESSORS = {"xgboost": rxgb.XGBRegressor, "lightgbm": rlgb.LGBMRegressor}
CLASSIFIERS = {"xgboost": rxgb.XGBClassifier, "lightgbm": rlgb.LGBMClassifier}
hosts = pytest.mark.parametrize("host", OWN)


def regressor(host, loss="squared_error", **params):
    return REGRESSORS[host](loss=loss, **OWN[host] | params)


@hosts
@pytest.mark.parametrize("given", ["quantile", Quantile()], ids=["name", "instance"])
def test_parameters_of_the_loss_are_set(host, given):
    model = regressor(host, clone(given, safe=False)).set_params(loss__quantile=0.9, n_estimators=20)
    assert model.get_params()["loss__quantile"] == 0.9
    assert model.get_params()["n_estimators"] == 20
    wanted = regressor(host, Quantile(0.9), n_estimators=20).fit(X, SIGNAL).predict(X)
    for each in (model, clone(model)):
        np.testing.assert_array_equal(each.fit(X, SIGNAL).predict(X), wanted)
    assert np.mean(wanted >= SIGNAL) > 0.85


@hosts
def test_parameters_of_the_loss_are_searched(host):
    search = GridSearchCV(regressor(host, "quantile"), {"loss__quantile": [0.1, 0.9]}, cv=2, error_score="raise")
    search.fit(X, SIGNAL)
    assert len(set(search.cv_results_["mean_test_score"])) == 2
    assert search.best_estimator_.loss_.quantile == search.best_params_["loss__quantile"]


@hosts
def test_parameters_that_a_loss_does_not_have_are_named(host):
    model = regressor(host, "quantile")
    with pytest.raises(ValueError, match="'alpha' for estimator Quantile"):
        model.set_params(loss__alpha=0.9, n_estimators=7)
    assert model.get_params()["n_estimators"] == 30


def test_what_xgboost_would_pass_over_is_named():
    with pytest.raises(ValueError, match="loss__quantile is set by set_params"):
        regressor("xgboost", "quantile", loss__quantile=0.9).fit(X, SIGNAL)


@hosts
@pytest.mark.parametrize(
    ("weight", "words"),
    [
        (np.zeros(400), "sample_weight must not sum to zero"),
        (np.ones(3), r"sample_weight must have one entry per row, shape \(400,\)"),
        (-np.ones(400), "sample_weight must not be negative, got -1"),
        (np.full(400, np.nan), "sample_weight must be finite"),
    ],
)
def test_weights_that_cannot_be_are_named(host, weight, words):
    for model, y in ((regressor(host), SIGNAL), (CLASSIFIERS[host](**OWN[host]), BINARY)):
        with pytest.raises(ValueError, match=words):
            model.fit(X, y, sample_weight=weight)
