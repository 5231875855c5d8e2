"""Trees that users make by hand: they act on what learners see, in fits and in predictions."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import Learner, RFFBoostRegressor, Trees

RNG = np.random.default_rng(0)
X = 3.0 + 2.0 * RNG.standard_normal((150, 2))
Y = np.cos(X[:, 0]) ** 2 + 0.1 * X[:, 1]


class Stump(Learner):
    """The mean residuals on both sides of a quantile of a random column, of what learners see."""

    def fit(self, round):
        column = round.rng.integers(round.design.n_features)
        values, residual = round.design.X[:, column], round.residual[:, 0]
        threshold = np.quantile(values, round.rng.uniform(0.1, 0.9))
        means = [
            [residual[side].mean()] if side.any() else [0.0] for side in (values < threshold, values >= threshold)
        ]
        return Trees(
            roots=np.array([0]),
            left=np.array([1, -1, -1]),
            right=np.array([2, -1, -1]),
            feature=np.full(3, column),
            threshold=np.full(3, threshold),
            missing_left=np.zeros(3, dtype=bool),
            value=np.array([[0.0], *means]),
        )


def table(gaps):
    """Two numbers, of which some are missing, and a category."""
    data = np.column_stack([X, np.arange(len(X)) % 4])
    if gaps:
        data[::7, 0] = np.nan
    return data, Y + (data[:, 2] == 1)


@pytest.mark.parametrize(("standardize", "gaps"), [(True, True), (False, False)])
def test_trees_by_hand_act_on_what_learners_see(standardize, gaps):
    data, y = table(gaps)
    params = {"standardize": standardize, "categorical_features": [2], "early_stopping": False, "random_state": 0}
    model = RFFBoostRegressor("auto", Stump(), step="newton", n_estimators=150, learning_rate=0.5, **params)
    model.fit(data, y)
    assert model.score(data, y) > 0.7
    *_, last = model.staged_predict(data)
    np.testing.assert_allclose(model.predict(data), last, atol=1e-12)
