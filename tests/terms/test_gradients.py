"""``gradient(X)`` is the derivative of the raw score, whatever loss and learner it comes from."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import Ensemble, RFFBoostClassifier, Trees
from rffboost_ext.terms.cosines import CHUNK_ENTRIES

from ..cases import PAIRS, make_data, make_estimator, over_pairs
from ..own_parts import Linear
from .test_terms import STANDARD, D, cosines

# Far below the length of any cosine, and far above what rounding makes of a difference.
STEP = 1e-5
SMOOTH = [pair for pair in PAIRS if "tree" not in pair[1].name]


def differences(function, X):
    """Central differences (n, C, d) of a function of X that yields (n, C)."""
    steps = STEP * np.eye(X.shape[1])
    return np.stack([(function(X + step) - function(X - step)) / (2.0 * STEP) for step in steps], axis=-1)


def jumps(ensemble, X):
    """Where (n, 1, d) a threshold of a tree lies within a step of a row."""
    flat = [term for term in ensemble.terms if isinstance(term, Trees)]
    if not flat:
        return np.zeros((len(X), 1, X.shape[1]), dtype=bool)
    moved = differences(lambda Z: np.hstack([tree(Z) for tree in flat]), X)
    return (moved != 0.0).any(axis=1, keepdims=True)


@over_pairs(SMOOTH)
def test_it_is_what_central_differences_approach(loss, learner):
    X, y = make_data(loss, d=4)
    model = make_estimator(loss, learner, n_estimators=12).fit(X, y)
    # Off the ends of the range, where there are two slopes.
    X = np.where(np.isin(X, [X.min(axis=0), X.max(axis=0)]), 1.1 * X, X)
    slopes = model.ensemble_.gradient(X)
    expected = differences(model.ensemble_.raw, X)
    there = np.broadcast_to(jumps(model.ensemble_, X), slopes.shape)
    assert there.mean() < 0.2
    error = np.where(there, 0.0, slopes - expected)
    assert slopes.shape == (len(X), model.ensemble_.n_outputs, 4)
    assert np.abs(slopes).max() > 0.0
    assert np.abs(error).max() <= 1e-5 * np.abs(slopes).max()


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_it_is_per_unit_of_the_users_features(unit):
    X, y = make_data(PAIRS[0][0])

    def model(factor):
        return RFFBoostClassifier(learner="rff_newton", n_estimators=20, random_state=0).fit(factor * X, y)

    np.testing.assert_allclose(model(unit).gradient(unit * X) * unit, model(1.0).gradient(X), rtol=1e-3, atol=1e-3)


def test_the_estimators_drop_the_axis_of_a_single_output():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    binary = RFFBoostClassifier(learner="rff_newton", n_estimators=5).fit(X, X[:, 0] > 0)
    multiclass = RFFBoostClassifier(learner="rff_newton", n_estimators=5).fit(X, np.digitize(X[:, 0], [-0.4, 0.4]))
    assert binary.gradient(X).shape == (60, 3)
    assert multiclass.gradient(X).shape == (60, 3, 3)
    assert binary.shap_values(X[:2], X).shape == (2, 3)
    assert multiclass.shap_values(X[:2], X).shape == (2, 3, 3)
    np.testing.assert_array_equal(multiclass.gradient(X), multiclass.ensemble_.gradient(X))


@pytest.mark.parametrize("outputs", [1, 3])
@pytest.mark.parametrize("rows", [0, 1, 2 * CHUNK_ENTRIES // 3 + 1])
def test_blocks_of_rows_join(outputs, rows):
    rng = np.random.default_rng(0)
    term, X = cosines(rng, outputs, centered=True), rng.standard_normal((rows, D))
    slopes = term.gradient(X)
    some = slice(max(0, rows - 5), rows)
    assert slopes.shape == (rows, outputs, D)
    np.testing.assert_allclose(slopes[some], differences(term, X[some]), rtol=1e-6, atol=1e-6)


def test_ensembles_of_any_moves_and_their_sums():
    rng = np.random.default_rng(0)
    moves = np.array([[0.8, 0.5], [0.9, 2.0]])
    X = rng.standard_normal((20, D))
    a, b = (Ensemble(np.ones(1), (cosines(rng), cosines(rng)), moves) for _ in "ab")
    for made in (a, a + b, a + -3.0 * b):
        np.testing.assert_allclose(made.gradient(X), differences(made.raw, X), rtol=0, atol=1e-6)


def test_single_precision_features_lose_nothing():
    X, y = make_data(PAIRS[0][0])
    X = X.astype(np.float32)
    model = RFFBoostClassifier(learner="rff_newton", n_estimators=5).fit(X, y)
    np.testing.assert_allclose(model.gradient(X), model.gradient(X.astype(np.float64)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("wrap", [lambda term: term, STANDARD.around])
def test_a_users_term_without_a_derivative_is_named(wrap):
    ensemble = Ensemble(np.zeros(2), (wrap(Linear(np.ones((D, 2)))),), np.ones((1, 2)))
    with pytest.raises(TypeError, match="Linear must have a method gradient"):
        ensemble.gradient(np.zeros((3, D)))


def test_a_users_term_can_have_a_derivative():
    class Slope(Linear):
        """A term with a derivative."""

        def gradient(self, X):
            return np.tile(self.slope.T, (len(X), 1, 1))

    rng = np.random.default_rng(0)
    X, slope = rng.standard_normal((5, D)), rng.standard_normal((D, 2))
    for term in (Slope(slope), STANDARD.around(Slope(slope))):
        ensemble = Ensemble(np.zeros(2), (term,), np.ones((1, 2)))
        np.testing.assert_allclose(ensemble.gradient(X), differences(ensemble.raw, X), rtol=1e-8)
