"""Tables, unbalanced classes, intervals and forecasts."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score

from .jobs import classes, classifier, job, numbers, regressor


@job("unbalanced classes", "imbalanced-learn", "see [unbalanced classes](unbalanced.md)")
def imbalanced_pipeline(folder):
    """Samplers in a pipeline, and a balanced bagging."""
    from imblearn.ensemble import BalancedBaggingClassifier
    from imblearn.pipeline import make_pipeline
    from imblearn.under_sampling import RandomUnderSampler
    from sklearn.datasets import make_classification

    X, y = make_classification(800, 10, weights=[0.9], class_sep=1.5, random_state=0)
    for model in (
        make_pipeline(RandomUnderSampler(random_state=0), classifier()),
        BalancedBaggingClassifier(classifier(), n_estimators=3, random_state=0),
    ):
        assert cross_val_score(model, X, y, cv=3, scoring="balanced_accuracy").mean() > 0.85


@job("tables", "skrub", "text and dates are encoded by its `TableVectorizer`")
def skrub_pipeline(folder):
    """`tabular_pipeline` of a table with text, dates and gaps."""
    import skrub

    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=300), "day": pd.date_range("2024-01-01", periods=300)})
    X["town"] = rng.choice(["Lyon", "Nantes", "Paris"], 300)
    y = X["size"] + 2.0 * (X["town"] == "Lyon")
    X.loc[::10, ["size", "town"]] = None
    assert cross_val_score(skrub.tabular_pipeline(regressor()), X, y, cv=3).mean() > 0.6


@job("tables", "polars")
def polars_frames(folder):
    """Frames with categories and missing values, alone and behind a `ColumnTransformer`."""
    import polars as pl
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    rng = np.random.default_rng(0)
    towns = rng.choice(["Lyon", "Nantes", None], 300)
    X = pl.DataFrame({"size": rng.normal(size=300), "town": pl.Series(towns.tolist(), dtype=pl.Categorical)})
    y = X["size"].to_numpy() + (towns == "Lyon")
    scaled = make_column_transformer((StandardScaler(), ["size"]), remainder="passthrough")
    pipeline = make_pipeline(scaled.set_output(transform="polars"), regressor())
    assert regressor().fit(X, y).score(X, y) > 0.95
    assert pipeline.fit(X, y).score(X, y) > 0.95


@job("intervals", "mapie", "`ConformalRegressor` needs no other package")
def mapie_intervals(folder):
    """Split conformal regression, and conformal sets of classes."""
    from mapie.classification import SplitConformalClassifier
    from mapie.regression import SplitConformalRegressor

    X, X_test, y, y_test = numbers()
    fit, held = slice(0, 200), slice(200, None)
    model = SplitConformalRegressor(regressor().fit(X[fit], y[fit]), confidence_level=0.8, prefit=True)
    _, intervals = model.conformalize(X[held], y[held]).predict_interval(X_test)
    low, high = intervals[:, :, 0].T
    assert 0.7 < ((low <= y_test) & (y_test <= high)).mean() < 0.95
    X, X_test, y, y_test = classes()
    sets = SplitConformalClassifier(classifier().fit(X[:300], y[:300]), confidence_level=0.9, prefit=True)
    _, found = sets.conformalize(X[300:], y[300:]).predict_set(X_test)
    assert found[np.arange(len(y_test)), y_test, 0].mean() > 0.85


def seasonal_series() -> pd.Series:
    """A series with a period of 12 and little noise."""
    rng, t = np.random.default_rng(0), np.arange(144)
    values = 10.0 + 3.0 * np.sin(2.0 * np.pi * t / 12.0) + 0.1 * rng.normal(size=len(t))
    return pd.Series(values, index=pd.date_range("2012-01-01", periods=len(t), freq="MS"), name="y")


def expected_season() -> np.ndarray:
    """The 12 values after the series, without noise."""
    return 10.0 + 3.0 * np.sin(2.0 * np.pi * np.arange(144, 156) / 12.0)


@job("forecasting", "skforecast")
def skforecast_recursive(folder):
    """A recursive forecaster on lags."""
    from skforecast.recursive import ForecasterRecursive

    forecaster = ForecasterRecursive(regressor(), lags=12)
    forecaster.fit(y=seasonal_series())
    np.testing.assert_allclose(forecaster.predict(steps=12), expected_season(), atol=0.7)


@job("forecasting", "sktime")
def sktime_reduction(folder):
    """Reduction to regression on a window."""
    from sktime.forecasting.compose import make_reduction

    series = seasonal_series().to_period("M")
    forecaster = make_reduction(regressor(), window_length=12, strategy="recursive")
    found = forecaster.fit(series, fh=np.arange(1, 13)).predict()
    np.testing.assert_allclose(found, expected_season(), atol=0.7)


@job("forecasting", "mlforecast")
def mlforecast_lags(folder):
    """Lags and date features of several series."""
    from mlforecast import MLForecast

    series = seasonal_series()
    parts = {"a": series, "b": 2.0 * series}
    rows = [pd.DataFrame({"unique_id": name, "ds": part.index, "y": part}) for name, part in parts.items()]
    forecast = MLForecast({"ours": regressor()}, freq="MS", lags=[1, 12]).fit(pd.concat(rows))
    found = forecast.predict(12).pivot(index="ds", columns="unique_id", values="ours")
    np.testing.assert_allclose(found["a"], expected_season(), atol=1.0)
    np.testing.assert_allclose(found["b"], 2.0 * expected_season(), atol=2.0)
