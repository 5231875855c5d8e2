"""Several targets in one fit, whatever units they come in."""

import numpy as np
import pytest

from rffboost_ext import RFFBoostRegressor, Tree
from rffboost_ext.losses import SquaredError

UNITS = [np.array([1.0, 0.01, 1.0]), np.array([1e3, 1.0, 1e-4])]
TRAIN, TEST = slice(400), slice(400, None)


def smooth_and_jagged():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 5))
    Y = np.column_stack([X[:, 0] * X[:, 1] + X[:, 2], np.sin(2.0 * X[:, 3]) + X[:, 4], np.sign(X[:, 0]) + X[:, 3]])
    return X, Y + 0.3 * rng.normal(size=Y.shape)


X, Y = smooth_and_jagged()


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_without_penalties_it_is_the_fit_of_standardized_targets(unit):
    plain = {"learner": Tree(reg_lambda=0.0, min_child_weight=0.0, max_depth=3), "n_estimators": 20}
    center, spread = Y[TRAIN].mean(axis=0), Y[TRAIN].std(axis=0)
    expected = RFFBoostRegressor(**plain).fit(X[TRAIN], (Y[TRAIN] - center) / spread).predict(X[TEST])
    prediction = RFFBoostRegressor(**plain).fit(X[TRAIN], Y[TRAIN] * unit).predict(X[TEST])
    np.testing.assert_allclose((prediction / unit - center) / spread, expected, atol=1e-3)


def test_balanced_weights_are_ratios_of_variances():
    weight = np.random.default_rng(1).uniform(0.5, 2.0, len(Y))
    targets = Y * UNITS[1]
    variance = np.diag(np.cov(targets.T, aweights=weight, ddof=0))
    weights = SquaredError().prepared(targets, weight).output_weights
    np.testing.assert_array_equal(np.log2(weights), np.round(np.log2(variance.max() / variance)))


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e6])
def test_a_target_that_does_not_vary_counts_once(constant):
    targets = np.column_stack([Y[:, 0], np.full(len(Y), constant)])
    assert SquaredError().prepared(targets, np.ones(len(Y))).output_weights is None
    model = RFFBoostRegressor(n_estimators=8, quality="fast", random_state=0).fit(X[TRAIN], targets[TRAIN])
    np.testing.assert_allclose(model.predict(X[TEST])[:, 1], constant, atol=1e-6 * constant)


def test_weights_of_the_user_are_minimised():
    weights = np.array([1.0, 4.0, 0.5])
    loss = SquaredError(weights.tolist()).prepared(Y, np.ones(len(Y)))
    expected = 0.5 * (np.square(1.0 - Y) * weights).sum(axis=1)
    np.testing.assert_allclose(loss.value(Y, np.ones_like(Y)), expected)
    plain = SquaredError(None).prepared(Y, np.ones(len(Y)))
    np.testing.assert_allclose(plain.value(Y, np.ones_like(Y)), 0.5 * np.square(1.0 - Y).sum(axis=1))


def test_the_number_of_weights_is_that_of_targets():
    with pytest.raises(ValueError, match=r"output_weights must be a number for each of 3 targets, got 2"):
        RFFBoostRegressor(loss=SquaredError((1.0, 2.0))).fit(X, Y)
