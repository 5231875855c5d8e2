"""Differences and products of features in symmetric trees, beside trees that get them as columns."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from rffboost_ext import RFFBoostRegressor, SymmetricTree, load_model
from rffboost_ext.utils.coalitions import shapley_by_evaluation

RNG = np.random.default_rng(0)
N = 400
X = RNG.standard_normal((N, 3)).round(2)
Y = np.sign(X[:, 0] - X[:, 1]) + X[:, 1] * X[:, 2] + 0.1 * RNG.standard_normal(N)
GAPS = np.where(RNG.random((N, 3)) < 0.1, np.nan, X)
PAIRS = list(combinations(range(3), 2))
leaves = pytest.mark.parametrize("leaf", ["constant", "linear"])


def wide(rows: np.ndarray) -> np.ndarray:
    """The features, and the differences and products of all pairs."""
    differences = [rows[:, i] - rows[:, j] for i, j in PAIRS]
    return np.column_stack([rows, *differences, *(rows[:, i] * rows[:, j] for i, j in PAIRS)])


def fitted(rows: np.ndarray, leaf: str, crosses: int, **params: Any) -> RFFBoostRegressor:
    learner = SymmetricTree(4, leaf, crosses=crosses)
    defaults = {"n_estimators": 15, "early_stopping": False, "random_state": 0}
    return RFFBoostRegressor(learner=learner, **defaults | params).fit(rows, Y)


@leaves
@pytest.mark.parametrize("params", [{}, {"early_stopping": True, "n_folds": 1, "n_jobs": 2}], ids=["", "refit"])
def test_trees_are_those_of_columns_that_are_given(leaf, params):
    model, expected = fitted(GAPS, leaf, 3, **params), fitted(wide(GAPS), leaf, 0, **params)
    for rows in (GAPS, X[::-1].astype(np.float32)):
        columns = wide(rows.astype(np.float64))
        np.testing.assert_allclose(model.predict(rows), expected.predict(columns), rtol=0, atol=1e-12)


def test_each_parent_has_half_of_the_importance():
    model, expected = fitted(X, "constant", 3), fitted(wide(X), "constant", 0).feature_importances_
    shares = expected[:3].copy()
    for k, pair in enumerate(2 * PAIRS):
        shares[list(pair)] += 0.5 * expected[3 + k]
    np.testing.assert_allclose(model.feature_importances_, shares, atol=1e-12)


@leaves
def test_shapley_values_are_those_of_the_features(leaf):
    model, background = fitted(GAPS, leaf, 3), GAPS[100:110]
    raw = model.ensemble_.raw
    expected = shapley_by_evaluation(raw, GAPS[:20], background, np.arange(3), 3)[:, 0]
    np.testing.assert_allclose(model.shap_values(GAPS[:20], background), expected, atol=1e-12)


def test_the_gradient_is_what_differences_approach():
    model, step = fitted(X, "linear", 3), 1e-6 * np.eye(3)
    raw = model.ensemble_.raw
    expected = np.stack([(raw(X + s) - raw(X - s))[:, 0] / 2e-6 for s in step], axis=1)
    found = model.ensemble_.gradient(X)[:, 0]
    # Steps over a threshold, or out of a range, are few.
    assert np.mean(np.abs(found - expected).max(axis=1) < 1e-6) > 0.8
    assert np.isfinite(model.ensemble_.gradient(GAPS)).all()


@leaves
def test_they_are_stored(leaf, tmp_path):
    model = fitted(GAPS, leaf, 3)
    model.save_model(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(GAPS), model.predict(GAPS))


def crossed(model: RFFBoostRegressor) -> set[int]:
    """The features in crosses."""
    (term,) = model.ensemble_.compact().terms
    return set(np.unique([term.feature[term.other >= 0], term.other[term.other >= 0]]).tolist())


def test_the_most_important_features_are_crossed():
    noise = RNG.standard_normal((N, 5))
    assert crossed(fitted(np.hstack([noise, X]), "constant", 3)) == {5, 6, 7}


def test_constrained_features_are_not_crossed():
    learner = SymmetricTree(4, monotone_constraints=(0, 0, 1), crosses=3)
    model = RFFBoostRegressor(learner=learner, n_estimators=15, early_stopping=False, random_state=0).fit(X, Y)
    assert crossed(model) == {0, 1}
    assert (np.diff(model.predict(np.insert(np.zeros((50, 2)), 2, np.linspace(-3, 3, 50), axis=1))) >= 0).all()
