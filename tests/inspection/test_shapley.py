"""Shapley values are those of the definition, by all coalitions, and add up, as importances do."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from rffboost_ext import Cosines, Ensemble, RFFBoostClassifier, RFFBoostRegressor, load_model
from rffboost_ext.inspection.shapley import shapley_values

from ..cases import each_learner, make_data, make_estimator
from ..oracles.shapley import by_definition, owen_integral
from ..terms.test_terms import TERMS, D


@pytest.mark.parametrize("name", TERMS)
def test_terms(name):
    rng = np.random.default_rng(0)
    term, X, background = TERMS[name](rng), 2.0 * rng.standard_normal((6, D)), rng.standard_normal((5, D))
    X[0, 1], background[0] = background[1, 1], X[2]
    np.testing.assert_allclose(term.shapley(X, background), by_definition(term, X, background), rtol=0, atol=1e-12)


@each_learner
def test_every_learner(loss, learner):
    X, y = make_data(loss, d=4)
    model = make_estimator(loss, learner).fit(X, y)
    ensemble, shares = model.ensemble_, model.feature_importances_
    assert shares.shape == (4,)
    assert (shares >= 0.0).all()
    assert shares.sum() == pytest.approx(1.0)
    values = shapley_values(ensemble, X[:5], X[20:28])
    np.testing.assert_allclose(
        values, by_definition(ensemble.raw, X[:5], X[20:28]), rtol=0, atol=1e-9 * np.abs(values).max()
    )


@pytest.mark.parametrize("learner", ["rff_1", "tree", "mixture"])
def test_they_add_up_with_many_features(learner):
    X, y = make_friedman1(120, n_features=31, random_state=0)
    model = RFFBoostRegressor(learner=learner, n_estimators=10, early_stopping=False, random_state=0).fit(X, y)
    values = model.shap_values(X[:6], X[60:])
    assert values.shape == (6, 31)
    expected = model.predict(X[:6]) - model.predict(X[60:]).mean()
    np.testing.assert_allclose(values.sum(axis=1), expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-4, 0.02, 0.3, 3.0])
def test_values_of_many_columns_are_owens_integral(scale):
    rng = np.random.default_rng(0)
    X, background, source = rng.normal(size=(2, 300)), rng.normal(size=(3, 300)), rng.integers(0, 200, 300)
    omega = scale * rng.standard_normal((2, 300)) * (rng.random((2, 300)) < 0.8)
    term = Cosines(omega, np.array([0.3, -1.0]), np.array([[1.0, 0.5], [-2.0, 1.0]]))
    expected = owen_integral(term, X, background, source, 200)
    np.testing.assert_allclose(term.grouped_shapley(X, background, source, 200), expected, rtol=0, atol=1e-13)


def test_missing_values_go_where_the_tree_sends_them():
    rng = np.random.default_rng(0)
    term, X = TERMS["trees"](rng), rng.standard_normal((6, D))
    X[rng.random(X.shape) < 0.3] = np.nan
    np.testing.assert_allclose(term.shapley(X[:3], X[3:]), by_definition(term, X[:3], X[3:]), rtol=0, atol=1e-12)


def test_rows_beyond_single_precision_are_explained_too():
    rng = np.random.default_rng(0)
    term, X = TERMS["trees"](rng), rng.standard_normal((6, D))
    X[:3] *= 1e300
    np.testing.assert_allclose(term.shapley(X[:3], X[3:]), by_definition(term, X[:3], X[3:]), rtol=0, atol=1e-12)


def test_too_few_columns_for_trees_are_refused():
    rng = np.random.default_rng(0)
    ensemble = Ensemble(np.zeros(1), (TERMS["trees"](rng),), np.ones((1, 2)))
    with pytest.raises(ValueError, match=r"X must have shape \(n, d\) with d >= 4, got \(6, 2\)"):
        shapley_values(ensemble, np.zeros((6, 2)), np.zeros((6, 2)))


def test_trees_agree_with_the_shap_package():
    shap, xgboost = pytest.importorskip("shap"), pytest.importorskip("xgboost")
    from rffboost_ext.interop.xgboost import to_ensemble

    X, y = make_friedman1(150, n_features=7, random_state=0)
    theirs = xgboost.XGBRegressor(n_estimators=15, max_depth=5).fit(X, y)
    values = shap.TreeExplainer(theirs, X[:20], feature_perturbation="interventional").shap_values(X[20:30])
    ours = shapley_values(to_ensemble(theirs), X[20:30], X[:20])
    np.testing.assert_allclose(ours[:, 0], values, rtol=0, atol=1e-4)


@pytest.mark.parametrize("has_categories", [False, True])
def test_the_default_background_is_rows_of_the_fit(has_categories, tmp_path):
    X, y = make_friedman1(150, n_features=5, random_state=0)
    model = RFFBoostClassifier(learner="mixture", n_estimators=5, random_state=0).fit(X, np.digitize(y, [11, 16]))
    if has_categories:
        assert model.feature_importances_.sum() == pytest.approx(1.0)
    values = model.shap_values(X[:4])
    assert values.shape == (4, 5, 3)
    np.testing.assert_allclose(values, model.shap_values(X[:4], X[::2]), rtol=0, atol=1e-12)
    total = model.decision_function(X[:4]) - model.decision_function(X[::2]).mean(axis=0)
    np.testing.assert_allclose(values.sum(axis=1), total, rtol=0, atol=1e-9)
    model.save_model(tmp_path / "model")
    with pytest.raises(ValueError, match=r"background must be given, .* no rows of its fit"):
        load_model(tmp_path / "model").shap_values(X[:4])


@pytest.mark.parametrize("background", [np.zeros((0, 3)), np.full((2, 3), np.inf), np.zeros((2, 2))])
def test_a_background_is_named(background):
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = RFFBoostRegressor(learner="tree", n_estimators=2).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="RFFBoostRegressor: background: "):
        model.shap_values(X[:2], background)
    if np.isfinite(background).all():
        with pytest.raises(ValueError, match=r"background must have shape \(m, 3\)"):
            shapley_values(model.ensemble_, X, background)
