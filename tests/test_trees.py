"""Trees against XGBoost: the stored form predicts as it does, and the loop grows the same trees."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb

from rffboost_ext import Design, Shrunk, Tree, Trees, boost
from rffboost_ext.interop.xgboost_json import parsed, read_rounds
from rffboost_ext.steps import Unit

from .cases import LOSS_CASES, make_data

loss_cases = pytest.mark.parametrize("loss", LOSS_CASES, ids=str)


def random_model(seed, missing, outputs, **params):
    """A model that XGBoost trained by itself, and data that reach every side of its splits."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((300, 5)).astype(np.float32)
    X[rng.uniform(size=X.shape) < missing] = np.nan
    X[:, 4] = rng.integers(0, 3, len(X))
    y = rng.integers(0, outputs, len(X)) if outputs > 1 else rng.standard_normal(len(X))
    many = {"objective": "multi:softprob", "num_class": outputs} if outputs > 1 else {}
    fixed = {"base_score": 0.0, "max_depth": 5, "eta": 0.7, "seed": seed, "nthread": 1}
    return xgb.train(fixed | many | params, xgb.DMatrix(X, y), num_boost_round=7), X


@pytest.mark.parametrize(
    "params", [{}, {"max_depth": 1}, {"grow_policy": "lossguide", "max_leaves": 9}, {"subsample": 0.3}]
)
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("outputs", [1, 3])
def test_stored_trees_predict_as_xgboost_does(outputs, missing, params):
    for seed in range(3):
        booster, X = random_model(seed, missing, outputs, **params)
        theirs = booster.predict(xgb.DMatrix(X), output_margin=True).reshape(len(X), -1)
        ours = Trees.stack(read_rounds(parsed(booster)))
        assert len(ours.roots) == 7 * outputs
        np.testing.assert_allclose(ours(X), theirs, rtol=0, atol=5e-6)
        np.testing.assert_allclose(ours(X.astype(np.float64)), ours(X), rtol=0, atol=0)


def test_a_tree_that_cannot_split_is_a_leaf():
    design = Design(np.zeros((20, 2)))
    y = np.linspace(0.0, 1.0, 20)[:, None]
    fitted = boost(design, y, loss="squared_error", learner="tree", n_estimators=2, random_state=0)
    np.testing.assert_allclose(fitted.raw(design.original), 0.5, atol=1e-6)


@loss_cases
@pytest.mark.parametrize("params", [{"max_depth": 3}, {"max_depth": 5, "reg_alpha": 0.1}])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_loop_grows_the_trees_of_xgboosts_own(loss, params, weighted):
    X, y = make_data(loss, seed=2, n=2000)
    y, made = y[:, None].astype(float), loss.make()
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(X)) if weighted else np.ones(len(X))
    rate, rounds = 0.1, 50
    learner = Tree(**params)
    step = Shrunk(Unit(), rate)
    ours = boost(X, y, loss=made, learner=learner, step=step, n_estimators=rounds, weight=weight, random_state=0)
    baseline = made.baseline(y, weight)

    def objective(margin, matrix):
        gradient, hessian = made.derivatives(y, margin.reshape(-1, 1).astype(float))
        return gradient[:, 0] * weight, hessian[:, 0] * weight

    margin = np.full(len(X), baseline[0])
    matrix = xgb.QuantileDMatrix(X, weight=weight if weighted else None, base_margin=margin, max_bin=256)
    fixed = {"eta": rate, "tree_method": "hist", "base_score": 0.0, "nthread": 1}
    booster = xgb.train(fixed | params, matrix, num_boost_round=rounds, obj=objective)
    theirs = booster.predict(matrix, output_margin=True)
    assert np.ptp(theirs) > 0.5
    np.testing.assert_allclose(ours.raw(X)[:, 0], theirs, rtol=0, atol=1e-4)
    assert all(isinstance(term, Trees) for term in ours.terms)


def test_shares_of_rows_and_columns_make_other_trees():
    loss = LOSS_CASES[0]
    X, y = make_data(loss, n=300)
    fits = [
        boost(X, y[:, None].astype(float), loss="log_loss", learner=Tree(**params), n_estimators=5, random_state=0)
        for params in ({}, {"subsample": 0.5}, {"colsample_bytree": 0.4}, {"max_leaves": 3}, {"max_bin": 4})
    ]
    scores = [fit.raw(X) for fit in fits]
    assert all(np.abs(scores[0] - score).max() > 1e-3 for score in scores[1:])
