"""Sample weights and arguments of the regressor's fit in a conformal regressor."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.datasets import load_diabetes
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import cross_validate
from sklearn.neighbors import KNeighborsRegressor

from rffboost_ext import ConformalRegressor, RFFBoostQuantileRegressor, RFFBoostRegressor
from rffboost_ext.estimators.calibration import margin_rank

X, y = load_diabetes(return_X_y=True)
WEIGHT = np.random.default_rng(0).random(len(y)) + 0.5
BOOSTER = RFFBoostRegressor(learner="tree", n_estimators=5, early_stopping=False, random_state=0)
QUANTILES = RFFBoostQuantileRegressor(learner="tree", n_estimators=5, early_stopping=False, random_state=0)


class Recorder(RegressorMixin, BaseEstimator):
    """Predicts 0, and keeps the arguments of its fit."""

    def fit(self, X, y, sample_weight=None, row=None, eval_set=None):
        self.given_ = {"X": X, "sample_weight": sample_weight, "row": row, "eval_set": eval_set}
        return self

    def predict(self, X):
        return np.zeros(len(X))


def test_margin_is_the_smallest_score_of_enough_weight():
    rng = np.random.default_rng(0)
    for alpha in (0.05, 0.1, 0.5, 0.77):
        weight = rng.random(60) + 0.2
        rank, coverage = margin_rank(alpha, weight)
        total = weight.sum() + weight.max()
        shares = [weight[:k].sum() / total for k in range(len(weight) + 1)]
        assert shares[rank] >= 1.0 - alpha > shares[rank - 1]
        assert coverage == pytest.approx(shares[rank])


@pytest.mark.parametrize("scale", [1.0, 1e-3, 7.3])
def test_equal_weights_are_none(scale):
    weighted, plain = (ConformalRegressor(Recorder(), random_state=0) for _ in range(2))
    weighted.fit(X, y, sample_weight=np.full(len(y), scale))
    assert weighted.margin_ == plain.fit(X, y).margin_
    assert weighted.coverage_ == plain.coverage_


def test_rows_of_weight_zero_are_left_out():
    weight = WEIGHT * (np.arange(len(y)) % 3 > 0)
    whole, part = (ConformalRegressor(BOOSTER, random_state=0) for _ in range(2))
    whole.fit(X, y, sample_weight=weight)
    part.fit(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
    assert whole.margin_ == part.margin_
    np.testing.assert_array_equal(whole.predict(X), part.predict(X))


def test_weighted_intervals_cover_a_shifted_population():
    """Noise grows with x: without weights the intervals are too narrow where new rows lie."""
    rng, covered = np.random.default_rng(0), {"weighted": [], "plain": []}
    for seed in range(40):
        x = rng.random(500)
        # New rows have the density 2 x.
        new = np.sqrt(rng.random(500))
        y, target = x * rng.standard_normal(500), new * rng.standard_normal(500)
        for name, weight in {"weighted": 2.0 * x, "plain": None}.items():
            model = ConformalRegressor(Recorder(), random_state=seed).fit(x[:, None], y, sample_weight=weight)
            low, high = model.predict_interval(new[:, None]).T
            covered[name].append(((low <= target) & (target <= high)).mean())
            assert model.coverage_ >= 0.9
    assert np.mean(covered["plain"]) < 0.86
    assert 0.895 < np.mean(covered["weighted"]) < 0.93


@pytest.mark.parametrize("routing", [False, True])
def test_regressor_gets_the_arguments_of_its_rows(routing):
    rows = np.arange(len(y))
    with sklearn.config_context(enable_metadata_routing=routing):
        inner = Recorder()
        if routing:
            inner.set_fit_request(sample_weight=True, row=True, eval_set=True)
        model = ConformalRegressor(inner, random_state=0)
        model.fit(X, y, sample_weight=WEIGHT, row=rows, eval_set=[(X, y)])
    given = model.estimator_.given_
    np.testing.assert_array_equal(given["X"], X[given["row"]])
    np.testing.assert_array_equal(given["sample_weight"], WEIGHT[given["row"]])
    assert len(given["eval_set"]) == 1


@pytest.mark.parametrize("inner", [BOOSTER, QUANTILES, Ridge()], ids=repr)
def test_weights_reach_the_regressor(inner):
    model = ConformalRegressor(inner, random_state=0)
    weighted = model.fit(X, y, sample_weight=WEIGHT * np.where(y > 150, 3.0, 1.0)).predict(X)
    assert weighted.mean() > model.fit(X, y).predict(X).mean() + 5.0


def test_weights_are_routed_through_a_cross_validation():
    with sklearn.config_context(enable_metadata_routing=True):
        model = ConformalRegressor(Ridge().set_fit_request(sample_weight=True), random_state=0)
        model.set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        found = cross_validate(model, X, y, cv=3, params={"sample_weight": WEIGHT}, return_estimator=True)
        again = found["estimator"][0].margin_
        plain = cross_validate(model, X, y, cv=3, return_estimator=True)["estimator"][0].margin_
        assert again != plain
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            ConformalRegressor(LinearRegression()).fit(X, y, sample_weight=WEIGHT)
        assert ConformalRegressor(random_state=0).fit(X[:80], y[:80], sample_weight=WEIGHT[:80]).margin_ > 0.0


def test_regressor_without_weights_warns_once():
    model = ConformalRegressor(KNeighborsRegressor(), random_state=0)
    with pytest.warns(UserWarning, match=r"KNeighborsRegressor.fit takes no sample_weight"):
        weighted = model.fit(X, y, sample_weight=np.where(y > 200, 3.0, 1.0)).margin_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert model.fit(X, y).margin_ != weighted


def test_a_row_of_too_large_a_share_is_refused():
    weight = np.ones(len(y))
    weight[::5] = 1e4
    with pytest.raises(ValueError, match=r"alpha=0\.01 of the weight"):
        ConformalRegressor(Recorder(), alpha=0.01, random_state=0).fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("weight", [np.ones(3), -np.ones(len(y)), np.zeros(len(y)), ["a"] * len(y)], ids=str)
def test_invalid_weights_are_refused_before_the_fit(weight):
    with pytest.raises((ValueError, TypeError), match="sample_weight"):
        ConformalRegressor(BOOSTER).fit(X, y, sample_weight=weight)
