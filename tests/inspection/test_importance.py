"""Feature importances: what they say, that terms of both kinds count alike, and scikit-learn's own tools."""

from __future__ import annotations

import pickle
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_friedman1
from sklearn.inspection import partial_dependence, permutation_importance

from rffboost_ext import Cosines, Ensemble, RFFBoostClassifier, RFFBoostRegressor, Tree, boost, load_model
from rffboost_ext.inspection.importance import MAX_BACKGROUND, MAX_ROWS, importances
from rffboost_ext.terms import ClipAndLog, FeatureMap

from ..terms.test_terms import CENTER, SCALE, D, cosines, trees

EVEN = np.full(400, 1.0 / 400)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return rng.standard_normal((400, D))


@pytest.mark.parametrize("outputs", [1, 3])
def test_the_parts_of_a_tree_are_the_variance_of_its_output(outputs, rng, X):
    forest = trees(rng, outputs)
    weight = rng.random(400)
    weight /= weight.sum()
    total = 0.0
    for root in forest.roots:
        output = replace(forest, roots=np.array([root]))(X)
        total += (weight @ np.square(output - weight @ output)).sum()
    assert forest.variances(X, weight).sum() == pytest.approx(total, rel=1e-12)


def paired(term, X, feature):
    """Half of the mean squared change of a term's output where a feature takes the value of each row in turn."""
    changes = []
    for value in X[:, feature]:
        moved = X.copy()
        moved[:, feature] = value
        changes.append(np.square(term(moved) - term(X)).sum(axis=1).mean())
    return 0.5 * np.mean(changes)


@pytest.mark.parametrize("outputs", [1, 2])
def test_cosines_divide_the_variance_of_their_sum_by_total_effects(outputs, rng, X):
    term = cosines(rng, outputs=outputs, centered=True)
    variances = term.variances(X, EVEN)
    assert variances.sum() == pytest.approx(term(X).var(axis=0).sum(), rel=1e-9)
    exact = np.array([paired(term, X, feature) for feature in range(D)])
    np.testing.assert_allclose(variances / variances.sum(), exact / exact.sum(), atol=0.05)


def test_what_cancels_among_cosines_does_not_count(rng, X):
    """A feature that every cosine sees and their sum does not, as in a kernel machine."""
    omega = np.array([[1.0, 3.0, 0.0, 0.0], [1.0, -3.0, 0.0, 0.0]])
    waves = Cosines(omega, np.zeros(2), np.ones((2, 1)))
    mirrored = Cosines(omega, np.full(2, np.pi), np.ones((2, 1)))
    kept = Cosines(np.eye(4)[:1], np.zeros(1), np.ones((1, 1)))
    ensemble = Ensemble(np.zeros(1), (waves, mirrored, kept), np.ones((3, 2)))
    np.testing.assert_allclose(importances(ensemble, X), [1.0, 0.0, 0.0, 0.0], atol=1e-12)


def test_the_units_of_targets_do_not_matter(rng):
    X = rng.normal(size=(300, 4))
    shares = [
        RFFBoostRegressor(n_estimators=15, random_state=0).fit(X, X[:, :2] * [1.0, unit]).feature_importances_
        for unit in (1.0, 2.0**10, 2.0**-10)
    ]
    np.testing.assert_allclose(shares[1:], [shares[0]] * 2, atol=1e-6)
    np.testing.assert_allclose(shares[0][:2], 0.5, atol=0.1)


def test_for_the_squared_error_trees_count_with_xgboosts_gain():
    from xgboost import XGBRegressor

    X, y = make_friedman1(500, random_state=0)
    shared = {"max_depth": 4, "reg_lambda": 0.0, "min_child_weight": 1.0}
    rounds = {"n_estimators": 30, "learning_rate": 0.3}
    theirs = XGBRegressor(importance_type="total_gain", base_score=y.mean(), **shared, **rounds).fit(X, y)
    ours = RFFBoostRegressor(learner=Tree(**shared), **rounds).fit(X, y)
    # Splits are XGBoost's; what they gain differs where sums in single precision do.
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=2e-3)


def test_the_same_function_as_cosines_or_as_steps_has_the_same_importances(rng):
    """Additive terms of one feature each: shares are those of the variance, whatever the terms are."""
    X = rng.uniform(-np.pi, np.pi, (1000, 2))
    y = 2.0 * np.cos(X[:, 0]) + np.cos(X[:, 1])
    smooth = Ensemble(np.zeros(1), (Cosines(np.eye(2), np.zeros(2), np.array([[2.0], [1.0]])),), np.ones((1, 2)))
    steps = boost(X, y[:, None], loss="squared_error", learner=Tree(max_depth=1, reg_lambda=0.0), n_estimators=300)
    np.testing.assert_allclose(importances(smooth, X), [0.8, 0.2], atol=0.01)
    np.testing.assert_allclose(importances(steps, X), [0.8, 0.2], atol=0.03)


def test_a_factor_on_a_feature_changes_nothing():
    X, y = make_friedman1(300, random_state=0)
    scale = 2.0 ** np.arange(-5, 5)

    def shares_of(X):
        return (
            RFFBoostRegressor(learner="rff_newton", n_estimators=30, random_state=0).fit(X, y).feature_importances_
        )

    np.testing.assert_allclose(shares_of(X * scale), shares_of(X), atol=1e-3)


def test_they_are_taken_over_rows_of_a_fit_by_its_seed():
    X, y = make_friedman1(2 * MAX_ROWS, random_state=0)
    params = {"learner": "rff_1", "n_estimators": 10}
    one, two, other = (RFFBoostRegressor(random_state=s, **params).fit(X, y) for s in (0, 0, 1))
    np.testing.assert_array_equal(one.feature_importances_, two.feature_importances_)
    assert (one.feature_importances_ != other.feature_importances_).any()
    np.testing.assert_allclose(one.feature_importances_, importances(one.ensemble_, X), atol=0.03)


@pytest.mark.parametrize(("make", "tol"), [(trees, 1e-12), (cosines, 0.05)], ids=["trees", "cosines"])
def test_weights_count(make, tol, rng, X):
    ensemble = Ensemble(np.zeros(1), (make(rng), make(rng)), np.ones((2, 2)))
    counts = rng.integers(0, 3, 400) * np.where(X[:, 0] > 0.5, 20, 1)
    twice = importances(ensemble, np.repeat(X, counts, axis=0))
    np.testing.assert_allclose(importances(ensemble, X, counts), twice, rtol=0, atol=tol)
    assert np.abs(importances(ensemble, X) - twice).max() > tol


def test_functions_count_by_their_part_in_the_variance_of_the_sum(rng, X):
    wave = Cosines(np.eye(4)[:1], np.zeros(1), np.ones((1, 1)))
    steps = boost(X, np.sin(3.0 * X[:, [1]]), loss="squared_error", learner=Tree(3), n_estimators=1)
    whole = Ensemble(np.zeros(1), (wave, *steps.terms), np.ones((2, 2)))
    first, second = wave(X)[:, 0], steps.terms[0](X)[:, 0]
    together = first + second
    expected = np.cov(first, together, ddof=0)[0, 1] / together.var()
    assert importances(whole, X)[0] == pytest.approx(expected, abs=0.02)


def test_nothing_matters_to_a_constant(X):
    assert not importances(Ensemble(np.ones(1), (), np.empty((0, 2))), X).any()
    model = RFFBoostRegressor(learner="tree", n_estimators=3).fit(X, np.ones(400))
    assert not model.feature_importances_.any()


def test_a_standardised_term_is_measured_in_its_own_coordinates(rng, X):
    term = cosines(rng)
    np.testing.assert_allclose(
        FeatureMap(center=CENTER, scale=SCALE).around(term).variances(X, EVEN),
        term.standardized(CENTER, SCALE).variances(X, EVEN),
        rtol=1e-9,
    )


@pytest.mark.parametrize("n", [300, MAX_ROWS + 500])
def test_importances_are_of_the_rows_of_the_fit_whenever_they_are_asked_for(n):
    X, y = make_friedman1(n, n_features=6, random_state=0)
    model = RFFBoostRegressor(n_estimators=10, early_stopping=False, random_state=0).fit(X, y)
    expected = RFFBoostRegressor(n_estimators=10, early_stopping=False, random_state=0).fit(X, y)
    expected = expected.feature_importances_
    X[:] = 0.0
    for one in (pickle.loads(pickle.dumps(model)), copy(model), model):
        np.testing.assert_array_equal(one.feature_importances_, expected)
        assert len(one._sample.X) <= MAX_BACKGROUND


def test_a_caller_may_change_the_importances(X):
    model = RFFBoostRegressor(learner="tree", n_estimators=3, early_stopping=False).fit(X, X[:, 0])
    shares = model.feature_importances_
    shares *= 100.0
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_pickles_and_files_hold_importances_and_no_rows(monkeypatch, tmp_path):
    X, y = make_friedman1(500, n_features=6, random_state=0)
    model = RFFBoostRegressor(n_estimators=3, early_stopping=False, random_state=0).fit(X, y)
    with monkeypatch.context() as patch:
        patch.setattr("rffboost_ext.inspection.importance.importances", None)
        loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    model.save_model(tmp_path / "model")
    assert max(len(pickle.dumps(loaded)), (tmp_path / "model").stat().st_size) < X.nbytes
    read = load_model(tmp_path / "model")
    np.testing.assert_array_equal(read.feature_importances_, model.feature_importances_)


@pytest.mark.parametrize("clipped", [False, True])
def test_total_effects_are_those_of_moved_columns(clipped, rng, X):
    omega = rng.normal(size=(20, 4)) * (rng.random((20, 4)) < 0.6)
    ranges = ClipAndLog(np.full(4, -0.5), np.full(4, 0.7), np.array([0.0, 0.3, -0.2, 0.0])) if clipped else None
    term = Cosines(omega, rng.normal(size=20), rng.normal(size=(20, 2)), np.full(4, 0.1), ranges)
    other = np.random.default_rng(0).choice(len(X), len(X), p=EVEN)
    for j, effect in enumerate(term.total_effects(X, EVEN)):
        moved = X.copy()
        moved[:, j] = X[other, j]
        assert effect == pytest.approx(0.5 * EVEN @ np.square(term(moved) - term(X)).sum(axis=1), rel=1e-6)


@pytest.mark.parametrize("learner", ["tree", "rff_newton", "mixture"])
def test_scikit_learns_tools_work_as_they_are(learner):
    X, y = make_friedman1(300, n_features=6, random_state=0)
    y = y > np.median(y)
    model = RFFBoostClassifier(learner=learner, n_estimators=30, early_stopping=False, random_state=0).fit(X, y)
    permuted = permutation_importance(model, X, y, n_repeats=3, random_state=0).importances_mean
    assert permuted[[0, 1, 3, 4]].min() > permuted[5]
    assert np.corrcoef(permuted, model.feature_importances_)[0, 1] > 0.7
    curve = partial_dependence(model, X, [3], grid_resolution=10)["average"][0]
    assert curve[-1] > curve[0] + 0.2
    raw = partial_dependence(model, X, [3], grid_resolution=10, response_method="decision_function")
    held = X.copy()
    held[:, 3] = raw["grid_values"][0][4]
    assert raw["average"][0, 4] == pytest.approx(model.decision_function(held).mean())
