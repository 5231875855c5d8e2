"""The rounds of LassoPath follow the path of the lasso, and find few relevant columns of a wide table."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from onnx_export import to_onnx
from rffboost_ext import LassoPath, RFFBoostClassifier, RFFBoostRegressor

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("n", "d"), [(200, 6), (30, 40)])
def test_rounds_of_the_squared_loss_are_the_path_of_the_lasso(n, d):
    X, weight = RNG.standard_normal((n, d)), RNG.uniform(0.5, 2.0, n)
    y = X[:, :3] @ [2.0, -1.0, 0.5] + 0.1 * RNG.standard_normal(n)
    model = RFFBoostRegressor(learner=LassoPath(), n_estimators=4, early_stopping=False, extrapolation="continue")
    model.fit(X, y, sample_weight=weight)
    share = weight / weight.sum()
    scaled = (X - share @ X) / np.sqrt(share @ np.square(X - share @ X))
    penalty = np.abs(scaled.T @ (share * (y - share @ y))).max()
    for stage, found in enumerate(model.staged_predict(X), start=1):
        wanted = Lasso(alpha=0.8**stage * penalty, tol=1e-10).fit(scaled, y, sample_weight=weight).predict(scaled)
        np.testing.assert_allclose(found, wanted, atol=1e-4)


@pytest.mark.parametrize("kind", [RFFBoostRegressor, RFFBoostClassifier])
def test_few_relevant_columns_of_a_wide_table_are_found(kind):
    X = RNG.standard_normal((1_140, 300))
    y = X[:, [3, 70, 150, 200, 299]].sum(axis=1) + 0.3 * RNG.standard_normal(1_140)
    y = y if kind is RFFBoostRegressor else (y > 0.0).astype(int)
    model = kind(learner="lasso", n_estimators=40, n_folds=3, random_state=0).fit(X[:140], y[:140])
    assert model.score(X[140:], y[140:]) > (0.95 if kind is RFFBoostRegressor else 0.85)
    assert set(np.argsort(model.feature_importances_)[-5:]) == {3, 70, 150, 200, 299}
    (columns,) = [tensor for tensor in to_onnx(model).graph.initializer if tensor.name == "t0.columns"]
    assert columns.dims[0] < 150
