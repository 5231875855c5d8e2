"""Missing values: learned by trees as by XGBoost, filled and marked for cosines, named where they are new."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import xgboost

from rffboost_ext import (
    LEARNERS,
    Design,
    RFFBoostClassifier,
    RFFBoostRegressor,
    RFFNewton,
    SymmetricTrees,
    Tree,
    Trees,
    boost,
)
from rffboost_ext.rows.dataset import Dataset, merge_duplicates
from rffboost_ext.terms import FeatureMap, ImputeAndEncode, Mapped
from rffboost_ext.terms.batch_evaluation import outputs_of_each

from ..cases import make_data, make_estimator
from ..oracles.gaps import filled
from ..tables import gapped, make_gapped, of_cosines, of_each_kind, scores

RNG = np.random.default_rng(0)
X = RNG.standard_normal((120, 3))
Y = (X[:, 0] + np.sin(2.0 * X[:, 1]) > 0).astype(int)
HOLES = gapped(X, columns=[0, 1])


@of_cosines
def test_cosines_see_what_the_others_tell_and_an_indicator(loss, learner):
    # The same fit on columns that are made by hand, not standardised, so that all numbers are the same to the bit.
    X, y = make_gapped(loss)
    gaps, model = np.isnan(X), make_estimator(loss, learner, standardize=False).fit(X, y)
    imputed = model.encoder_.expansion(X)[:, :3]
    np.testing.assert_allclose(imputed, filled(X), rtol=1e-9)
    hand = np.hstack([imputed, gaps[:, :2]])
    plain = make_estimator(loss, learner, standardize=False).fit(hand, y)
    np.testing.assert_allclose(scores(model, X), scores(plain, hand), rtol=1e-9, atol=1e-9)
    assert all(isinstance(term, Mapped) for term in model.ensemble_.terms)


@of_each_kind
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_complete_data_know_nothing_of_gaps(loss, learner, dtype):
    # By default the terms are ready to fill gaps. Where there are none, not a bit changes.
    X, y = make_data(loss)
    X = X.astype(dtype)
    plain = make_estimator(loss, learner, missing="error").fit(X, y)
    ready = make_estimator(loss, learner).fit(X, y)
    np.testing.assert_array_equal(scores(ready, X), scores(plain, X))
    assert plain.encoder_.expansion is None
    assert not any(isinstance(term, Mapped) for term in ready.ensemble_.terms)


@of_each_kind
def test_a_new_gap_is_predicted_or_an_error(loss, learner):
    X, y = make_data(loss)
    model = make_estimator(loss, learner, missing="error").fit(X, y)
    hole = X.copy()
    hole[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in column 1, which had no missing values in fit"):
        model.predict(hole)
    with pytest.raises(ValueError, match="column 1"):
        # What counts is what the fit was told.
        model.set_params(missing="auto").predict(hole)
    ready = make_estimator(loss, learner).fit(X, y)
    filled = X.copy()
    filled[3, 1] = X[:, 1].mean()
    for term in ready.ensemble_.compact().terms:
        if not isinstance(term, Trees | SymmetricTrees):
            np.testing.assert_allclose(term(hole), term(filled), rtol=1e-9, atol=1e-9)
    assert np.isfinite(scores(ready, hole)).all()


@pytest.mark.parametrize("learner", ["rff_1", "tree", "mixture"])
def test_columns_are_named(learner):
    table = pd.DataFrame(HOLES, columns=["age", "height", "weight"])
    params = {"n_estimators": 3, "random_state": 0, "early_stopping": False, "missing": "error"}
    model = RFFBoostClassifier(learner=learner, **params).fit(table, Y)
    model.predict(table)
    for method in (model.predict, model.gradient, lambda X: model.shap_values(X, table)):
        with pytest.raises(ValueError, match="NaN in column 'weight', which had no missing"):
            method(table.assign(weight=np.nan))
    with pytest.raises(ValueError, match="infinity"):
        model.predict(table.assign(age=np.inf))
    with pytest.raises(ValueError, match="'weight'"):
        model.set_params(warm_start=True, n_estimators=5).fit(table.assign(weight=np.nan), Y)


@pytest.mark.parametrize("learner", LEARNERS.names())
def test_where_all_is_missing_the_baseline_is_left(learner):
    X, y = np.full((60, 2), np.nan), np.arange(60.0)
    model = RFFBoostRegressor(learner=learner, n_estimators=3, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.mean(y), rtol=0.05)


def test_rows_with_the_same_gaps_are_equal():
    rows = gapped(RNG.standard_normal((50, 3)))
    # NaN of other bits, and a zero of the other sign.
    other = np.where(np.isnan(rows), -np.float64("nan"), rows)
    order = RNG.permutation(100)
    both, y = np.vstack([rows, other])[order], np.zeros((100, 1))
    merged = merge_duplicates(Dataset(both, y, np.ones(100)))
    assert len(merged) == len(np.unique(np.nan_to_num(rows, nan=99.0), axis=0))
    assert merged.weight.sum() == 100


@pytest.mark.parametrize("learner", ["auto", "tree"])
def test_early_stopping_folds_and_eval_sets(learner):
    model = RFFBoostClassifier(learner=learner, early_stopping=True, n_estimators=20, random_state=0)
    assert np.isfinite(model.fit(HOLES, Y).decision_function(HOLES)).all()
    # The models of all folds are one block of cosines, one of trees and one linear function.
    assert len(model.ensemble_.compact()) <= 3
    held = [(gapped(X, seed=9), Y)]
    assert np.isfinite(model.fit(HOLES, Y, eval_set=held).validation_scores_).all()
    with pytest.raises(ValueError, match="column 2"):
        model.set_params(missing="error").fit(HOLES, Y, eval_set=held)


def test_init_models_that_know_no_gaps_are_refused():
    plain = RFFBoostClassifier(learner="rff_1", n_estimators=3, random_state=0, missing="error").fit(X, Y)
    model = RFFBoostClassifier(learner="rff_1", n_estimators=3, random_state=0)
    with pytest.raises(ValueError, match=r"init_model has cosines without a rule for missing values.*column 0"):
        model.fit(HOLES, Y, init_model=plain)
    ready = RFFBoostClassifier(learner="rff_1", n_estimators=3, random_state=0).fit(X, Y)
    assert len(model.fit(HOLES, Y, init_model=ready).ensemble_) == 6
    booster = xgboost.XGBClassifier(n_estimators=4).fit(HOLES, Y)
    assert len(model.fit(HOLES, Y, init_model=booster).ensemble_) == 7


def test_a_design_expands():
    every = np.arange(2)
    expansion = ImputeAndEncode(2, every, np.array([5.0, np.nan]), every[:1], every[:0], ())
    rows = np.array([[1.0, 2.0], [np.nan, 3.0]])
    design = Design(rows, FeatureMap(expansion, None, np.zeros(3), np.array([1.0, 1.0, 2.0])))
    np.testing.assert_array_equal(design.X, [[1.0, 2.0, 0.0], [5.0, 3.0, 0.5]])
    assert design.n_features == 3
    np.testing.assert_array_equal(design.tiles.blocks[0, :, :2].T, design.X)


@pytest.mark.parametrize("watched", [False, True])
def test_a_gap_of_weight_zero_is_no_gap(watched):
    holes, weight = X.copy(), np.ones(len(X))
    holes[5, 1], weight[5] = np.nan, 0.0
    params = {"n_estimators": 10, "early_stopping": True, "random_state": 0, "missing": "error"}
    model = RFFBoostClassifier(learner="mixture", **params)
    evaluation = {"eval_set": [(X[:40], Y[:40])]} if watched else {}
    scores = model.fit(holes, Y, sample_weight=weight, **evaluation).validation_scores_
    assert np.isfinite(scores).all()
    rest = np.delete(X, 5, axis=0), np.delete(Y, 5)
    np.testing.assert_array_equal(scores, model.fit(*rest, **evaluation).validation_scores_)
    with pytest.raises(ValueError, match="X contains NaN in column 1"):
        model.predict(holes)


def test_each_expansion_is_made_once_for_all_terms(monkeypatch):
    """Terms from a file have equal ones of their own."""
    every, rng, made = np.arange(2), np.random.default_rng(5), []
    expansion = ImputeAndEncode(2, every, np.array([5.0, 1.0]), every[:1], every[:0], ())
    learners = [RFFNewton(), Tree(2)] * 3
    design = Design(np.where(rng.random((40, 2)) < 0.2, np.nan, rng.random((40, 2))), FeatureMap(expansion))
    y = rng.standard_normal((40, 1))
    terms = [boost(design, y, loss="squared_error", learner=one, n_estimators=1).terms[0] for one in learners]
    terms[2:4] = pickle.loads(pickle.dumps(terms[2:4]))
    expected, call = [term(design.original) for term in terms], ImputeAndEncode.__call__
    monkeypatch.setattr(ImputeAndEncode, "__call__", lambda self, X: made.append(self.key) or call(self, X))
    np.testing.assert_allclose(outputs_of_each(terms, design.original), expected, atol=1e-12)
    assert len(made) == 1
