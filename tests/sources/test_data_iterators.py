"""Iterators of XGBoost as sources."""

from __future__ import annotations

import numpy as np
import pytest
import xgboost as xgb
from scipy.sparse import csr_matrix

from rffboost_ext import RFFBoostRegressor, sources

rng = np.random.default_rng(0)
X = rng.standard_normal((200, 3))
Y, WEIGHT = np.sin(X[:, 0]), rng.uniform(0.5, 2.0, 200)


class Blocks(xgb.DataIter):
    """Rows in blocks of 70."""

    def __init__(self, X=X, **other):
        self.at, self.X, self.other = 0, X, other
        super().__init__()

    def reset(self):
        self.at = 0

    def next(self, input_data):
        rows = slice(self.at, self.at + 70)
        if self.at >= len(X):
            return False
        self.at += 70
        input_data(data=self.X[rows], label=Y[rows], weight=WEIGHT[rows], **self.other)
        return True


@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_an_iterator_gives_the_bits_of_a_fit_in_memory(kind):
    model = RFFBoostRegressor(learner="tree", n_estimators=5, random_state=0)
    expected = model.fit(X, Y, WEIGHT).predict(X)
    np.testing.assert_array_equal(model.fit(sources.data_iter(Blocks(kind(X)))).predict(X), expected)


def test_what_a_fit_does_not_take_is_refused():
    with pytest.raises(TypeError, match=r"iterator.*DataIter.*list"):
        sources.data_iter([X])
    source = sources.data_iter(Blocks(base_margin=Y))
    with pytest.raises(ValueError, match="base_margin"):
        RFFBoostRegressor().fit(source)
