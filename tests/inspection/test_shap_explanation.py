"""A shap.Explanation holds the exact values, and SHAP's plots draw it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

shap = pytest.importorskip("shap")
FAST = {"n_estimators": 10, "early_stopping": False, "random_state": 0}


@pytest.fixture(scope="module")
def regression():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return RFFBoostRegressor(learner="mixture", **FAST).fit(X, y), X


@pytest.fixture(scope="module")
def multiclass():
    X, y = load_iris(return_X_y=True)
    return RFFBoostClassifier(**FAST).fit(X, np.array(["a", "b", "c"])[y]), X


@pytest.fixture(scope="module")
def categories():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=200), "town": rng.choice(["Lyon", "Nantes"], 200)})
    X = X.astype({"town": "category"})
    y = X["size"] + (X["town"] == "Lyon")
    X.loc[::7, "size"] = np.nan
    return RFFBoostRegressor(**FAST).fit(X, y), X


def test_one_score(regression):
    model, X = regression
    explanation = model.shap_explanation(X[:7], X[30:35])
    np.testing.assert_array_equal(explanation.values, model.shap_values(X[:7], X[30:35]))
    np.testing.assert_allclose(
        explanation.values.sum(axis=1) + explanation.base_values, model.predict(X[:7]), rtol=1e-9
    )
    assert explanation.feature_names == list(X)
    np.testing.assert_array_equal(explanation.data, X[:7])


@pytest.mark.slow  # SHAP compiles its algorithm
def test_values_are_those_of_shap(regression):
    model, X = regression
    explanation = model.shap_explanation(X[:2], X[30:35])
    exact = shap.Explainer(model.predict, X[30:35], algorithm="exact")(X[:2])
    np.testing.assert_allclose(explanation.values, exact.values, rtol=0, atol=1e-6)
    np.testing.assert_allclose(explanation.base_values, exact.base_values)


def test_multiclass_scores(multiclass):
    model, X = multiclass
    explanation = model.shap_explanation(X[::30], X[::15])
    assert explanation.shape == (5, 4, 3)
    assert explanation.output_names == ["a", "b", "c"]
    raw = model.decision_function(X[::30])
    np.testing.assert_allclose(
        explanation[..., 1].values.sum(axis=1) + explanation[..., 1].base_values, raw[:, 1], rtol=1e-9
    )
    assert np.isclose(explanation[2, :, "c"].base_values, explanation.base_values[2, 2])


def test_categories_are_shown_as_in_the_table(categories):
    model, X = categories
    explanation = model.shap_explanation(X[:9], X[:20])
    assert explanation.data.dtype == np.float64
    assert list(explanation.display_data[:, 1]) == list(X["town"][:9])
    np.testing.assert_array_equal(explanation.data[:, 0], X["size"][:9])


@pytest.mark.parametrize("case", ["regression", "multiclass", "categories"])
def test_plots(case, request):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    model, X = request.getfixturevalue(case)
    explanation = model.shap_explanation(X[:15], X[:20])
    explanation = explanation[..., 0] if explanation.values.ndim == 3 else explanation
    for plot, shown in {
        "beeswarm": explanation,
        "bar": explanation,
        "waterfall": explanation[0],
        "scatter": explanation[:, 0],
    }.items():
        getattr(shap.plots, plot)(shown, show=False)
        assert any(axes.has_data() for axes in plt.gcf().axes), plot
        plt.close("all")
