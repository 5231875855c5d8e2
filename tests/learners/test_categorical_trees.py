"""Categories in trees: sets as in XGBoost."""

from __future__ import annotations

import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xgboost

from rffboost_ext import RFFBoostRegressor, Tree, Trees
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.learners.trees.xgboost_model import parse_model, read_rounds


@pytest.mark.parametrize(("depth", "n_levels"), [(1, 2), (3, 3), (1, 30), (6, 30)])
def test_trees_split_categories_as_xgboost_does(depth, n_levels):
    rng = np.random.default_rng(n_levels)
    codes = rng.integers(0, n_levels, 400).astype(float)
    codes[rng.random(400) < 0.1] = np.nan
    number = rng.standard_normal(400)
    y = np.isin(codes, [1, 4, 9, 16, 25]) * 1.0 + np.where(np.isnan(codes), 2.0, number)
    table = pd.DataFrame({"code": pd.Categorical(codes), "number": number})
    learner = Tree(max_depth=depth)
    model = RFFBoostRegressor(learner=learner, n_estimators=15, random_state=0).fit(table, y)
    known = {"feature_types": ["c", "q"], "enable_categorical": True}
    _, coded = np.unique(codes[~np.isnan(codes)], return_inverse=True)
    codes[~np.isnan(codes)] = coded
    data = xgboost.QuantileDMatrix(np.column_stack([codes, number]), y, **known)
    params = {"max_depth": depth, "eta": 0.1, "base_score": float(y.mean()), "nthread": 1, "tree_method": "hist"}
    theirs = xgboost.train(params, data, 15).predict(data)
    np.testing.assert_allclose(model.predict(table), theirs, rtol=0, atol=1e-5)
    assert model.ensemble_.compact().terms[0].subset is not None


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("max_cat_to_onehot", [1, 100])
def test_stored_sets_predict_as_xgboost_does(outputs, max_cat_to_onehot):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 40, 500), rng.standard_normal(500), rng.integers(0, 3, 500)]).astype(
        float
    )
    X[rng.random(X.shape) < 0.15] = np.nan
    signal = np.isin(X[:, 0], range(0, 40, 3)) + np.nan_to_num(X[:, 1]) * (X[:, 2] == 1)
    y = np.digitize(signal, [0.0, 0.7]) if outputs > 1 else signal
    many = {"objective": "multi:softprob", "num_class": 3} if outputs > 1 else {}
    known = {"feature_types": ["c", "q", "c"], "enable_categorical": True}
    params = {"base_score": 0.0, "max_depth": 5, "nthread": 1, "max_cat_to_onehot": max_cat_to_onehot} | many
    booster = xgboost.train(params, xgboost.DMatrix(X, y, **known), 6)
    trees = Trees.stack(read_rounds(parse_model(booster)))
    odd = X.copy()
    # Codes that no row had, beyond the table and before it.
    odd[::3, 0] = rng.choice([40.0, 63.0, 64.0, 1000.0, -1.0], len(odd[::3]))
    for rows in (X, odd):
        theirs = booster.inplace_predict(rows, predict_type="margin").reshape(len(X), -1)
        np.testing.assert_allclose(trees(rows), theirs, rtol=0, atol=1e-5)
        np.testing.assert_allclose(rxgb.to_ensemble(booster).raw(rows), theirs, rtol=0, atol=1e-5)


def test_trees_with_and_without_sets_are_stacked():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 20, 300), rng.standard_normal(300)]).astype(float)
    parts = []
    for kinds in (["c", "q"], ["q", "q"], ["c", "q"]):
        data = xgboost.DMatrix(
            X, np.isin(X[:, 0], [2, 3, 17]) + X[:, 1], feature_types=kinds, enable_categorical=True
        )
        parts += read_rounds(parse_model(xgboost.train({"max_depth": 3, "nthread": 1}, data, 2)))
    # A set that reaches further than those of the others.
    narrow = replace(parts[0], members=parts[0].members[:, :1])
    stacked = Trees.stack([narrow, *parts])
    np.testing.assert_allclose(stacked(X), narrow(X) + sum(part(X) for part in parts), atol=1e-12)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(stacked))(X), stacked(X), rtol=0)
    assert Trees.stack(parts[2:4]).subset is None


def test_trees_of_wide_categories_are_extracted_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    code = rng.integers(0, 5_000, 3_000)
    table = pd.DataFrame({"code": pd.Categorical(code), "number": rng.standard_normal(3_000)})
    y = rng.standard_normal(5_000)[code] + table["number"]

    def fit():
        return RFFBoostRegressor(learner="tree", n_estimators=12, early_stopping=False).fit(table, y)

    tracemalloc.start()
    model = fit()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # As lists of Python's integers the fit took 14 MB.
    assert peak < 10e6
    monkeypatch.setattr("rffboost_ext.learners.trees.incremental_forest.MAX_CATEGORIES", 1)
    np.testing.assert_array_equal(fit().predict(table), model.predict(table))
