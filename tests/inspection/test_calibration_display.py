"""The calibration of distributions: uniform transforms on the diagonal, counts without random numbers."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")
import numpy as np
import pytest
from scipy import stats

from rffboost_ext import RFFBoostDistribution, RFFBoostRegressor
from rffboost_ext.displays import CalibrationDisplay

RNG = np.random.default_rng(0)
CASES = [(stats.norm(2.0, 3.0), "normal"), (stats.poisson(3.0), "counts"), (stats.poisson(0.1), "rare counts")]


@pytest.mark.parametrize("frozen", [frozen for frozen, _ in CASES], ids=[name for _, name in CASES])
def test_right_distributions_are_on_the_diagonal(frozen):
    display = CalibrationDisplay.from_predictions(frozen.rvs(20_000, random_state=0), frozen)
    np.testing.assert_allclose(display.shares, display.levels, atol=0.015)
    assert display.ax_.get_ylabel() == "share of targets below"


def test_narrow_distributions_have_many_targets_in_their_tails():
    y = stats.norm().rvs(5_000, random_state=0)
    display = CalibrationDisplay.from_predictions(y, stats.norm(0.0, 0.5), kind="pit", n_bins=4)
    heights = [bar.get_height() for bar in display.ax_.patches]
    assert np.mean(heights) == pytest.approx(1.0)
    assert heights[0] == pytest.approx(4.0 * stats.norm.cdf(0.5 * stats.norm.ppf(0.25)), abs=0.1)
    assert heights[0] > 1.2 > 0.8 > heights[1]


def test_shares_are_weighted():
    y, weight = np.array([-1.0, 1.0]), [3.0, 1.0]
    display = CalibrationDisplay.from_predictions(y, stats.norm(), sample_weight=weight)
    assert display.shares[display.levels == 0.5].tolist() == [0.75]


def test_estimators_are_checked():
    X, y = RNG.standard_normal((60, 2)), RNG.standard_normal(60)
    model = RFFBoostDistribution(learner="tree", n_estimators=3).fit(X, y)
    assert CalibrationDisplay.from_estimator(model, X, y, kind="pit").n_samples == 60
    with pytest.raises(TypeError, match="estimator must be an RFFBoostDistribution, got RFFBoostRegressor"):
        CalibrationDisplay.from_estimator(RFFBoostRegressor(learner="tree", n_estimators=3).fit(X, y), X, y)
    with pytest.raises(ValueError, match="kind must be"):
        CalibrationDisplay.from_estimator(model, X, y, kind="curve")
