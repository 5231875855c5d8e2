"""Which rows and tables a conformal regressor takes, and how it parts rows with gaps."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit, train_test_split
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from rffboost_ext import ConformalRegressor, RFFBoostRegressor
from rffboost_ext.estimators.calibration import margin_rank


def test_a_single_gap_is_in_the_part_that_is_fitted_whatever_the_seed() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=120)
    X[5, 1] = np.nan
    for seed in range(12):
        booster = RFFBoostRegressor("squared_error", "rff_newton", n_estimators=2)
        model = ConformalRegressor(booster, random_state=seed)
        assert model.fit(X, y).predict_interval(X).shape == (120, 2)


def test_the_rank_is_that_of_exact_numbers():
    """Also where (m + 1) (1 - alpha) is whole but for rounding."""
    for percent, m in itertools.product(range(1, 100), range(1, 200)):
        exact = math.ceil((m + 1) * (1 - Fraction(percent, 100)))
        rank, coverage = margin_rank(percent / 100, np.full(m, 0.3))
        assert rank == exact
        assert rank > m or abs(coverage - rank / (m + 1)) < 1e-12


class Echo(RegressorMixin, BaseEstimator):
    """Predicts the first feature, in some precision."""

    def __init__(self, dtype=np.float32):
        self.dtype = dtype

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return X[:, 0].astype(self.dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [1e6, -1e9])
def test_rows_beyond_the_rank_do_not_widen_intervals(dtype, far):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2, 400, 1))
    y = y[:, 0]
    model = ConformalRegressor(Echo(dtype), alpha=0.2, random_state=1)
    margin = model.fit(X, y).margin_
    _, held = train_test_split(np.arange(400), test_size=100, random_state=1)
    errors = np.abs(y - X[:, 0])
    beyond = held[errors[held] > margin]
    assert margin == pytest.approx(np.sort(errors[held])[80], rel=1e-5)
    assert len(beyond) == 19
    y[beyond] = far
    assert model.fit(X, y).margin_ == margin
    # Now rows of large numbers that are predicted well.
    X[beyond, 0] = y[beyond] = far * np.arange(1, 20)
    assert model.fit(X, y).margin_ <= margin


@pytest.mark.parametrize("rows", [5, 10])
def test_a_regressor_may_be_fitted_to_a_single_row(rows):
    X, y = np.random.default_rng(0).standard_normal((2, rows, 1))
    model = ConformalRegressor(alpha=1.0 / rows, random_state=0)
    with pytest.raises(ValueError, match=r"n_samples ?= ?1|1 sample|1 row"):
        model.fit(X, y[:, 0])
    single = RFFBoostRegressor(learner="tree", n_estimators=2, early_stopping=False)
    assert model.set_params(estimator=single).fit(X, y[:, 0]).predict_interval(X).shape == (rows, 2)


@pytest.mark.parametrize("kinds", ["truth values", "gaps", "text"])
def test_tables_of_columns_of_several_kinds_are_taken(kinds):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.standard_normal(120), "new": rng.random(120) > 0.5})
    table["town"] = pd.Categorical(rng.choice(["a", "b"], 120))
    if kinds == "gaps":
        table["count"] = pd.array(rng.integers(0, 5, 120), dtype="Int64")
        table.loc[::3, ["count", "town"]] = None
    if kinds == "text":
        table["town"] = table["town"].astype(str)
    y = table["x"] + table["new"]
    columns = ["x", "new"] if kinds == "text" else list(table)
    chosen = ColumnTransformer([("chosen", "passthrough", columns)]).set_output(transform="pandas")
    model = ConformalRegressor(make_pipeline(chosen, RFFBoostRegressor(learner="tree", n_estimators=5)))
    assert list(model.fit(table, y).feature_names_in_) == list(table)
    assert model.predict_interval(table).shape == (120, 2)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(table, y[1:])


class Remembering(RegressorMixin, BaseEstimator):
    """Predicts the target of the nearest row of its fit, and keeps what it was given."""

    def fit(self, X, y, groups=None):
        self.rows_, self.groups_, self.nearest_ = X, groups, KNeighborsRegressor(1).fit(X, y)
        return self

    def predict(self, X):
        return self.nearest_.predict(X)


def test_groups_are_not_divided_by_the_calibration() -> None:
    rng = np.random.default_rng(0)
    X, y, group = rng.standard_normal((200, 2)), rng.standard_normal(200), rng.integers(0, 20, 200)
    weight = rng.integers(0, 2, 200)
    model = ConformalRegressor(Remembering(), random_state=0).fit(X, y, groups=[f"g{g}" for g in group])
    fitted = (X[:, None] == model.estimator_.rows_).all(axis=2).any(axis=1)
    assert not set(group[fitted]) & set(group[~fitted])
    assert 50 <= (~fitted).sum() <= 50 + np.bincount(group).max()
    assert set(model.estimator_.groups_) == {f"g{g}" for g in group[fitted]}
    with pytest.warns(UserWarning, match="takes no sample_weight"):
        ConformalRegressor(Remembering(), random_state=0).fit(X, y, sample_weight=weight, groups=group)
    with pytest.raises(ValueError, match="groups must leave rows to fit"):
        ConformalRegressor(Remembering()).fit(X, y, groups=np.ones(200))
    with pytest.raises(ValueError, match="ConformalRegressor: groups must have a label for each of the 200 rows"):
        ConformalRegressor(Remembering()).fit(X, y, groups=group[:-1])


SPLITTERS = {
    "calibration": TimeSeriesSplit(3),
    "calibration_fraction": PredefinedSplit(np.repeat([-1, 0], [150, 50])),
}


@pytest.mark.parametrize(("name", "splitter"), SPLITTERS.items(), ids=SPLITTERS)
def test_later_rows_calibrate(name, splitter):
    class Recording(KNeighborsRegressor):
        def fit(self, X, y):
            self.seen_ = X[:, 0]
            return super().fit(X, y)

    X, y = np.arange(200.0)[:, None], np.random.default_rng(0).standard_normal(200)
    weight = np.ones(200)
    weight[[0, 199]] = 0.0
    model = ConformalRegressor(Recording(1), alpha=0.2, **{name: splitter}).fit(X, y, sample_weight=weight)
    kept, held = (part[weight[part] > 0.0] for part in list(splitter.split(X))[-1])
    assert model.estimator_.seen_.tolist() == kept.tolist()
    scores = np.sort(np.abs(y[held] - model.predict(X[held])))
    assert model.margin_ == pytest.approx(scores[math.ceil(0.8 * (len(held) + 1)) - 1])


class Everything(TimeSeriesSplit):
    """Fits to the rows that it holds out."""

    def split(self, X, y=None, groups=None):
        yield np.arange(len(X)), np.arange(len(X))


REFUSED = {
    "must hold out at least 99 rows for alpha=0.01, got 50": {"alpha": 0.01, "calibration": TimeSeriesSplit(3)},
    "calibration must have other rows": {"calibration": Everything()},
    "calibration must be a splitter": {"calibration": 0.3},
}


@pytest.mark.parametrize("message", REFUSED)
def test_splitters_that_do_not_suit(message):
    given = REFUSED[message]
    with pytest.raises((ValueError, TypeError), match=message):
        ConformalRegressor(KNeighborsRegressor(), **given).fit(np.arange(200.0)[:, None], np.arange(200.0))
    model = ConformalRegressor(KNeighborsRegressor(), calibration=TimeSeriesSplit(3))
    with pytest.raises(ValueError, match="calibration must have other rows, and groups"):
        model.fit(np.arange(200.0)[:, None], np.arange(200.0), groups=np.arange(200) % 9)
