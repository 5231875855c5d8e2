"""Quantiles never cross, and are those of single fits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.linear_model import LinearRegression, QuantileRegressor
from sklearn.metrics import mean_pinball_loss

from rffboost_ext import (
    RFFBoostDistribution,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
)

CHEAP = RFFBoostRegressor(learner="rff_1", n_estimators=20, learning_rate=0.4, random_state=0)


def widening(n, seed):
    """Noise that grows with the second feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 3))
    return X, np.sin(2.0 * X[:, 0]) + (0.1 + np.abs(X[:, 1])) * rng.standard_normal(n)


def test_quantiles_are_those_of_single_fits_in_order():
    X, y = widening(300, 0)
    levels = (0.1, 0.3, 0.5, 0.7, 0.9)
    model = RFFBoostQuantileRegressor(levels, CHEAP).fit(X, y)
    single = [
        RFFBoostRegressor(**CHEAP.get_params(deep=False)).set_params(loss="quantile", loss__quantile=q)
        for q in levels
    ]
    columns = np.column_stack([booster.fit(X, y).predict(X) for booster in single])
    found = model.predict(X)
    assert (np.diff(columns, axis=1) < 0.0).any(), "nothing crosses: the test does not test"
    assert (np.diff(found, axis=1) >= 0.0).all()
    np.testing.assert_array_equal(found, np.sort(columns, axis=1))
    # Chernozhukov et al.: rearranging never adds to the loss over all levels.
    losses = [
        sum(mean_pinball_loss(y, c, alpha=q) for q, c in zip(levels, at.T, strict=True)) for at in (found, columns)
    ]
    assert losses[0] <= losses[1] + 1e-12


def test_names_of_columns_are_those_of_the_last_fit():
    pd = pytest.importorskip("pandas")
    X, y = make_friedman1(60, random_state=0)
    model = RFFBoostQuantileRegressor([0.5], RFFBoostRegressor(learner="tree", n_estimators=2))
    model.fit(pd.DataFrame(X, columns=list("abcdefghij")), y)
    assert list(model.feature_names_in_) == list("abcdefghij")
    assert not hasattr(model.fit(X, y), "feature_names_in_")


def test_quantiles_are_near_the_true_ones():
    X, y = widening(3000, 0)
    booster = RFFBoostRegressor(n_estimators=60, early_stopping=False, random_state=0)
    levels = (0.1, 0.5, 0.9)
    model = RFFBoostQuantileRegressor(levels, booster).fit(X, y)
    X_test, y_test = widening(3000, 1)
    found = model.predict(X_test)
    shares = (y_test[:, None] <= found).mean(axis=0)
    np.testing.assert_allclose(shares, levels, atol=0.04)
    linear = [QuantileRegressor(quantile=q, alpha=0.0).fit(X[:500], y[:500]).predict(X_test) for q in levels]
    for column, rival, level in zip(found.T, linear, levels, strict=True):
        assert mean_pinball_loss(y_test, column, alpha=level) < mean_pinball_loss(y_test, rival, alpha=level)
    assert 0.0 < model.score(X_test, y_test) < 1.0


def test_one_level_is_a_column_and_a_seed_is_passed_on():
    X, y = widening(100, 0)
    booster = RFFBoostRegressor(learner="rff_1", n_estimators=5)
    one, two, other = (
        RFFBoostQuantileRegressor([0.5], booster, random_state=s).fit(X, y).predict(X) for s in (0, 0, 1)
    )
    assert one.shape == (100,)
    np.testing.assert_array_equal(one, two)
    assert (one != other).any()


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"quantiles": ()}, ValueError, "quantiles must be an increasing sequence"),
        ({"quantiles": (0.5, 0.5)}, ValueError, "quantiles must be an increasing sequence"),
        ({"quantiles": (0.9, 0.1)}, ValueError, "quantiles must be an increasing sequence"),
        ({"quantiles": (0.0, 0.5)}, ValueError, "quantiles must be an increasing sequence"),
        ({"quantiles": np.array([0.5, np.nan])}, ValueError, "quantiles must be an increasing sequence"),
        ({"quantiles": 0.5}, TypeError, "quantiles must be an increasing sequence"),
        ({"quantiles": "ab"}, TypeError, "quantiles must be an increasing sequence"),
        ({"estimator": LinearRegression()}, TypeError, "estimator must be"),
        ({"estimator": RFFBoostDistribution()}, TypeError, "RFFBoostDistribution.*has no parameter loss"),
        ({"estimator": RFFBoostRegressor(loss="huber")}, ValueError, "loss of estimator must be 'auto'"),
    ],
)
def test_bad_parameters_of_quantiles_are_named(params, error, message):
    with pytest.raises(error, match=f"RFFBoostQuantileRegressor: .*{message}"):
        RFFBoostQuantileRegressor(**params).fit(np.arange(30.0)[:, None], np.arange(30.0))


@pytest.mark.parametrize("given", [None, 3, np.random.RandomState(3)], ids=str)
@pytest.mark.parametrize("inner", [None, 5, np.random.RandomState(5)], ids=str)
def test_all_levels_have_one_seed(given, inner):
    X, y = make_friedman1(60, random_state=0)
    seeds = []
    for _ in range(2):
        booster = clone(CHEAP).set_params(random_state=inner, n_estimators=2)
        model = RFFBoostQuantileRegressor((0.1, 0.5, 0.9), booster, random_state=given).fit(X, y)
        (seed,) = {level._start.seed for level in model.estimators_}
        seeds.append(seed)
    assert (seeds[0] == seeds[1]) == (isinstance(given, int) or (given is None and inner is not None))
