"""Fits on sources of rows."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, sources

rng = np.random.default_rng(0)
X = rng.standard_normal((3000, 4))
MEAN = np.sin(2.0 * X[:, 0]) + X[:, 1]
TARGETS = {RFFBoostRegressor: MEAN, RFFBoostClassifier: np.where(MEAN > 2.5, "rare", np.where(MEAN > 0, "b", "a"))}
WEIGHT = rng.uniform(0.0, 2.0, len(X)) * (rng.random(len(X)) > 0.1)


@pytest.mark.parametrize("estimator", TARGETS)
def test_source_of_few_rows_gives_the_bits_of_a_fit_in_memory(estimator):
    model, y = estimator(n_estimators=20, random_state=0), TARGETS[estimator]
    expected = model.fit(X, y, WEIGHT).predict(X)
    fitted = model.fit(sources.arrays(X, y, WEIGHT))
    assert fitted.n_rows_seen_ == len(X)
    np.testing.assert_array_equal(fitted.predict(X), expected)
