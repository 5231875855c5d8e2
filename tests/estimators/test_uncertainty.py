"""Intervals cover as often as they say, and intervals and quantiles are estimators of scikit-learn's."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import betabinom
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.datasets import load_diabetes, make_friedman3
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from onnx_export import to_onnx, verify_onnx
from rffboost_ext import (
    ConformalRegressor,
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
)
from rffboost_ext.estimators.calibration import calibration_size, margin_rank
from rffboost_ext.losses import Normal

from .test_quantile_regressor import CHEAP, widening

PAIR = RFFBoostQuantileRegressor((0.05, 0.95), "rff_newton", n_estimators=8, early_stopping=False, random_state=0)
SEEDS = 16


SETS = {
    "diabetes": lambda seed: load_diabetes(return_X_y=True),
    "friedman3": lambda seed: make_friedman3(600, noise=0.3, random_state=seed),
    "noise that grows": lambda seed: widening(600, seed),
}


def covered(intervals, y):
    """Which targets lie within their intervals."""
    return (intervals[:, 0] <= y) & (y <= intervals[:, 1])


@pytest.mark.parametrize(
    "estimator", [CHEAP, pytest.param(PAIR, marks=pytest.mark.slow)], ids=["mean", "quantiles"]
)
@pytest.mark.parametrize("make", SETS.values(), ids=SETS)
def test_coverage_is_as_stated(estimator, make):
    shares = []
    for seed in range(SEEDS):
        X, y = make(seed)
        X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, random_state=seed)
        model = ConformalRegressor(estimator, alpha=0.1, calibration_fraction=0.5, random_state=seed).fit(X, y)
        shares.append(covered(model.predict_interval(X_test), y_test).mean())
    # The number of rows covered is beta-binomial: the margin is an order statistic of the calibration scores.
    m, n = calibration_size("", model.alpha, model.calibration_fraction, len(y)), len(y_test)
    rank, _ = margin_rank(0.1, np.ones(m))
    deviation = betabinom(n, rank, m + 1 - rank).std() / n / np.sqrt(SEEDS)
    assert model.coverage_ == rank / (m + 1)
    assert 0.9 <= model.coverage_ <= 0.9 + 1.0 / (m + 1)
    assert abs(np.mean(shares) - model.coverage_) < 4.0 * deviation
    assert abs(np.mean(shares) - 0.9) < 0.02


class Bounds(RegressorMixin, BaseEstimator):
    """Predicts given columns, whatever it was fitted to."""

    def __init__(self, columns):
        self.columns = columns

    def fit(self, X, y):
        self.quantiles = np.linspace(0.1, 0.9, len(self.columns))
        return self

    def predict(self, X):
        return np.tile(self.columns, (len(X), 1)).astype(float)


@pytest.mark.parametrize("columns", [(-1.0, 1.0), (-1.0, 0.3, 1.0), (-50.0, 0.0, 10.0, 50.0)])
def test_margins_by_hand(columns):
    y = np.random.default_rng(0).standard_normal(400)
    X = np.arange(400.0)[:, None]
    model = ConformalRegressor(Bounds(columns), alpha=0.2, random_state=1).fit(X, y)
    held = train_test_split(X, y, test_size=100, random_state=np.random.RandomState(1))[3]
    scores = sorted(max(columns[0] - value, value - columns[-1]) for value in held)
    assert model.margin_ == pytest.approx(scores[80])
    low, high = model.predict_interval(X[:1])[0]
    assert (low, high) == pytest.approx((columns[0] - scores[80], columns[-1] + scores[80]))
    assert model.predict(X[:1]) == pytest.approx(np.median(columns))


class Pair(Normal):
    """A loss of two columns that do not make one prediction."""

    def prediction(self, response):
        return response


WRAPPED = {
    "alone": lambda regressor: regressor,
    "pipeline": lambda regressor: make_pipeline(StandardScaler(), regressor),
    "search": lambda regressor: GridSearchCV(regressor, {"learning_rate": [0.3]}, cv=2),
}


@pytest.mark.parametrize(
    ("loss", "wrap"),
    [
        ("normal", WRAPPED["pipeline"]),
        ("lognormal", WRAPPED["search"]),
        ("zero_inflated_poisson", WRAPPED["alone"]),
    ],
    ids=["pipeline", "search", "alone"],
)
def test_parameters_of_a_distribution_are_no_quantiles(loss, wrap):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 2))
    y = rng.poisson(np.exp(2.0 * X[:, 0])) + (0.0 if loss == "zero_inflated_poisson" else 1.0)
    given = {"learner": "tree", "n_estimators": 5, "early_stopping": False, "random_state": 0}
    wide, mean = RFFBoostRegressor(loss=loss, **given), RFFBoostDistribution(loss, **given)
    found, wanted = (ConformalRegressor(wrap(one), random_state=0).fit(X, y) for one in (wide, mean))
    np.testing.assert_allclose(found.predict_interval(X), wanted.predict_interval(X))
    np.testing.assert_allclose(found.predict(X), wanted.predict(X))
    verify_onnx(found, to_onnx(found), X, raise_on_mismatch=True)


def test_columns_that_make_no_prediction_are_refused():
    regressor = RFFBoostRegressor(loss=Pair(), learner="tree", n_estimators=2)
    with pytest.raises(TypeError, match=r"one number for each row.*got 2 columns of loss Pair.*prediction"):
        ConformalRegressor(regressor).fit(np.zeros((60, 1)), np.arange(60.0))


def test_quantiles_that_others_say():
    X, y = widening(400, 0)
    xgboost = pytest.importorskip("xgboost")
    given = {"objective": "reg:quantileerror", "n_estimators": 20, "n_jobs": 1}
    model = ConformalRegressor(xgboost.XGBRegressor(quantile_alpha=[0.1, 0.9], **given), random_state=0).fit(X, y)
    assert np.ptp(np.diff(model.predict_interval(X))) > 0.5
    with pytest.raises(TypeError, match="increasing levels"):
        ConformalRegressor(xgboost.XGBRegressor(quantile_alpha=[0.9, 0.1], **given)).fit(X, y)
    plain, turned = (
        ConformalRegressor(TransformedTargetRegressor(PAIR, func=f, inverse_func=f), random_state=0).fit(X, y)
        for f in (lambda y: 1.0 * y, np.negative)
    )
    for one in (plain, turned):
        low, high = one.predict_interval(X).T
        assert 0.85 < ((low <= y) & (y <= high)).mean() < 0.97


def test_ends_that_would_cross_meet_in_the_middle():
    """Where intervals are far too wide on most rows, the margin is more than half of a narrow one."""
    model = ConformalRegressor(Bounds((-10.0, 10.0)), alpha=0.5, random_state=0)
    model.fit(np.zeros((100, 1)), np.linspace(-0.1, 0.1, 100))
    assert model.margin_ < -9.0
    found = model.add_margin(np.array([[-10.0, 10.0], [-0.1, 0.3], [1.0, -1.0]]))
    np.testing.assert_allclose(found[0], [-10.0 - model.margin_, 10.0 + model.margin_])
    np.testing.assert_allclose(found[1:], [[0.1, 0.1], [0.0, 0.0]])


def test_as_many_rows_as_calibration_takes_are_too_few():
    with pytest.raises(ValueError, match="ConformalRegressor"):
        ConformalRegressor(Bounds((0.0, 1.0)), alpha=0.1).fit(np.zeros((9, 1)), np.zeros(9))
    ConformalRegressor(Bounds((0.0, 1.0)), alpha=0.1).fit(np.zeros((10, 1)), np.zeros(10))


def test_it_wraps_any_regressor_and_keeps_columns():
    pd = pytest.importorskip("pandas")
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = ConformalRegressor(LinearRegression(), random_state=0).fit(X, y)
    assert list(model.estimator_.feature_names_in_) == list(X.columns)
    assert model.predict(X).shape == (len(X),)
    with pytest.raises(ValueError, match="feature names"):
        model.predict_interval(pd.DataFrame(X.to_numpy(), columns=list("abcdefghij")))


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"estimator": RFFBoostClassifier()}, TypeError, "estimator must be a regressor"),
        ({"alpha": 0.01}, ValueError, "more than the 99 rows"),
    ],
)
def test_bad_input_is_named(params, error, message):
    with pytest.raises(error, match=f"ConformalRegressor: .*{message}"):
        ConformalRegressor(**params).fit(np.arange(30.0)[:, None], np.arange(30.0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_ties_are_within_their_interval(dtype):
    class Middle(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            self.middle_ = dtype(np.median(y))
            return self

        def predict(self, X):
            return np.full(len(X), self.middle_, dtype=dtype)

    found = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y, X = rng.choice([0.3, 1.1], 500), np.zeros((500, 1))
        model = ConformalRegressor(Middle(), random_state=0).fit(X[:100], y[:100])
        low, high = model.predict_interval(X[100:]).T
        found.append(((low <= y[100:]) & (y[100:] <= high)).mean())
        assert high[0] - low[0] == pytest.approx(2 * model.margin_)
        assert model.margin_ == pytest.approx(np.abs(y - model.predict(X)).max(), rel=1e-5)
    assert np.mean(found) > 0.97


class Given(RegressorMixin, BaseEstimator):
    """Predictions of a kind."""

    def __init__(self, kind="list"):
        self.kind = kind

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        values = 100.0 + np.zeros(len(X))
        kinds = {
            "list": values.tolist(),
            "series": pd.Series(values, index=np.arange(len(X)) + 5),
            "frame": pd.DataFrame({"mean": values}),
            "pair": pd.DataFrame({"low": values - 1.0, "high": values + 1.0}),
            "small": values.astype(np.uint8),
            "nan": values * np.nan,
            "text": ["much"] * len(X),
            "cube": values[:, None, None],
        }
        return kinds[self.kind]


@pytest.mark.parametrize("kind", ["list", "series", "frame", "small"])
def test_whatever_holds_predictions_is_taken(kind):
    X, y = np.zeros((60, 1)), np.linspace(0, 255, 60).astype(np.uint8)
    model = ConformalRegressor(Given(kind), random_state=0).fit(X, y)
    assert 60.0 < model.margin_ < 160.0
    assert model.predict_interval(X).shape == (60, 2)
    np.testing.assert_allclose(model.predict(X), 100.0)


@pytest.mark.parametrize(
    ("kind", "error", "message"),
    [
        ("nan", ValueError, "estimator must predict finite numbers"),
        ("text", TypeError, "estimator must predict numbers"),
        (
            "pair",
            TypeError,
            r"estimator must predict one number for each row, or say .* quantiles.*, got 2 columns",
        ),
        ("cube", ValueError, r"estimator must predict shape \(15,\) or \(15, Q\), got \(15, 1, 1\)"),
    ],
)
def test_predictions_that_are_none_are_named(kind, error, message):
    with pytest.raises(error, match=f"ConformalRegressor: {message}"):
        ConformalRegressor(Given(kind), random_state=0).fit(np.zeros((60, 1)), np.arange(60.0))
    with pytest.raises(TypeError, match="estimator must be a regressor with fit and predict, got <class"):
        ConformalRegressor(Given).fit(np.zeros((60, 1)), np.arange(60.0))
