"""Quantiles never cross, and are near the true ones."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import QuantileRegressor
from sklearn.metrics import mean_pinball_loss

from rffboost_ext import RFFBoostQuantileRegressor, RFFBoostRegressor, SymmetricTree, Tree
from rffboost_ext.losses import Quantile, Quantiles

CHEAP = RFFBoostRegressor(learner="rff_1", n_estimators=20, learning_rate=0.4, random_state=0)


def widening(n, seed):
    """Noise that grows with the second feature."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 3))
    return X, np.sin(2.0 * X[:, 0]) + (0.1 + np.abs(X[:, 1])) * rng.standard_normal(n)


@pytest.mark.parametrize("levels", [(0.1, 0.3, 0.5, 0.7, 0.9), np.array([0.2, 0.8]), [0.7]], ids=str)
def test_the_loss_is_the_sum_of_pinball_losses(levels):
    rng, (_, y) = np.random.default_rng(1), widening(60, 0)
    loss = Quantiles(levels).prepared(y[:, None], np.ones(60))
    assert loss.baseline(y[:, None], np.ones(60)) == pytest.approx(
        np.quantile(y, levels, method="averaged_inverted_cdf")
    )
    raw = y[:, None] + rng.standard_normal((60, len(levels)))
    of_levels = [mean_pinball_loss(y, column, alpha=q) for q, column in zip(levels, raw.T, strict=True)]
    assert loss.value(y[:, None], raw).mean() == pytest.approx(sum(of_levels))
    response = loss.link.inverse(raw)
    assert (np.diff(response, axis=1) >= 0.0).all()
    # Chernozhukov et al.: rearranging never adds to the loss over all levels.
    assert (loss.value(y[:, None], response) <= loss.value(y[:, None], raw) + 1e-12).all()
    single = [Quantile(float(q), unit) for q, unit in zip(levels, loss.unit, strict=True)]
    found = [one.derivatives(y[:, None], column[:, None]) for one, column in zip(single, raw.T, strict=True)]
    for ours, theirs in zip(loss.derivatives(y[:, None], raw), zip(*found, strict=True), strict=True):
        np.testing.assert_array_equal(ours, np.hstack(theirs))


@pytest.mark.parametrize("learner", ["rff_newton", "symmetric_tree", "tree"])
def test_predictions_are_in_order_and_move_with_the_target(learner):
    X, y = widening(300, 0)
    given = {"learning_rate": 0.8, "n_estimators": 20, "early_stopping": False, "random_state": 0}
    levels = (0.499, 0.5, 0.501)
    here, there = (
        RFFBoostQuantileRegressor(levels, learner, **given).fit(X, target) for target in (y, 1000.0 * y + 500.0)
    )
    assert (np.diff(here.raw_scores(X), axis=1) < 0.0).any(), "nothing crosses: the test does not test"
    found = here.predict(X)
    assert (np.diff(found, axis=1) >= 0.0).all()
    np.testing.assert_allclose(there.predict(X), 1000.0 * found + 500.0, rtol=1e-4, atol=2.0)


@pytest.mark.parametrize("kind", [Tree, SymmetricTree])
def test_every_quantile_is_monotone(kind):
    X, y = widening(300, 0)
    learner = kind(3, monotone_constraints=[1, 0, 0])
    model = RFFBoostQuantileRegressor((0.3, 0.5, 0.7), learner, n_estimators=20, early_stopping=False)
    rows = np.repeat(X[:20, None], 30, axis=1)
    rows[..., 0] = np.linspace(-2.0, 2.0, 30)
    found = model.fit(X, y).predict(rows.reshape(-1, 3)).reshape(20, 30, 3)
    assert (np.diff(found, axis=1) >= 0.0).all()
    assert np.ptp(found, axis=1).max() > 0.1


def test_quantiles_are_near_the_true_ones():
    X, y = widening(3000, 0)
    levels = (0.1, 0.5, 0.9)
    model = RFFBoostQuantileRegressor(levels, n_estimators=60, early_stopping=False, random_state=0).fit(X, y)
    X_test, y_test = widening(3000, 1)
    found = model.predict(X_test)
    shares = (y_test[:, None] <= found).mean(axis=0)
    np.testing.assert_allclose(shares, levels, atol=0.04)
    linear = [QuantileRegressor(quantile=q, alpha=0.0).fit(X[:500], y[:500]).predict(X_test) for q in levels]
    for column, rival, level in zip(found.T, linear, levels, strict=True):
        assert mean_pinball_loss(y_test, column, alpha=level) < mean_pinball_loss(y_test, rival, alpha=level)
    assert 0.0 < model.score(X_test, y_test) < 1.0


def test_one_level_is_a_column():
    X, y = widening(100, 0)
    given = {"learner": "rff_newton", "n_estimators": 5, "random_state": 0}
    model = RFFBoostQuantileRegressor([0.7], **given).fit(X, y)
    assert model.predict(X).shape == (100,)
    same = RFFBoostRegressor(Quantile(0.7), **given).fit(X, y)
    np.testing.assert_allclose(model.predict(X), same.predict(X), rtol=1e-4)


@pytest.mark.parametrize("levels", [(), (0.5, 0.5), (0.9, 0.1), (0.0, 0.5), np.array([0.5, np.nan]), 0.5, "ab"])
def test_levels_that_are_none_are_named(levels):
    with pytest.raises((ValueError, TypeError), match="quantiles must be an increasing sequence"):
        RFFBoostQuantileRegressor(levels).fit(np.arange(30.0)[:, None], np.arange(30.0))
