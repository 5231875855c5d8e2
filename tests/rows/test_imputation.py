"""What fills a gap: a linear prediction from the row's other numbers, learned in training."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.rows.feature_expansion import (
    MAX_REGRESSION_COLUMNS,
    MAX_REGRESSION_ROWS,
    fit_feature_expansion,
    imputation_regressions,
)
from rffboost_ext.terms import Mapped

from ..oracles import gaps as oracle
from ..oracles.shapley import by_definition
from ..tables import gapped

RNG = np.random.default_rng(4)
# Five numbers of which two things decide, in units far apart.
UNITS, ORIGIN = 10.0 ** np.arange(-2, 3), np.array([0.0, 5.0, -40.0, 1e4, 3.0])
WHOLE = (RNG.standard_normal((300, 2)) @ RNG.standard_normal((2, 5)) + 0.2 * RNG.standard_normal((300, 5))) * UNITS
WHOLE = WHOLE + ORIGIN
X = gapped(WHOLE, columns=[0, 1, 2, 3])
Y = (WHOLE[:, 0] / UNITS[0] * (WHOLE[:, 3] - ORIGIN[3]) / UNITS[3] > 0.1).astype(int)


def expansion(X, weight=None, imputes_new=False):
    """What learners would see of X."""
    weight = np.ones(len(X)) if weight is None else weight
    return fit_feature_expansion(X, weight, [], np.isnan(X).any(axis=0), imputes_new)


def test_gaps_hold_what_a_regression_predicts():
    weight = RNG.uniform(0.5, 2.0, len(X))
    new = gapped(WHOLE, seed=9)
    for weights in (None, weight):
        fitted = expansion(X, weights)
        p = X.shape[1]
        np.testing.assert_allclose(fitted(X)[:, :p], oracle.filled(X, weights), rtol=1e-9)
        # The last column, too, which has no gap in training.
        np.testing.assert_allclose(fitted(new)[:, :p], oracle.filled(X, weights, new), rtol=1e-9)


def test_where_there_is_nothing_to_predict():
    ones = np.ones(len(X))
    assert imputation_regressions(WHOLE, ones, WHOLE.mean(axis=0)) == ()
    assert expansion(X[:, :1]).regressions == ()
    wide = gapped(RNG.standard_normal((30, MAX_REGRESSION_COLUMNS + 1)))
    assert expansion(wide).regressions == ()
    assert len(expansion(wide[:, 1:]).regressions) == 2
    assert expansion(WHOLE, imputes_new=True).regressions == ()


def test_columns_without_values_or_of_one_value():
    odd = np.column_stack([X, np.full(len(X), np.nan), np.where(np.isnan(X[:, 0]), 7.0, np.nan)])
    filled = expansion(odd)(odd)
    assert np.mean(((filled[:, :5] - oracle.filled(X)) / UNITS) ** 2) < 0.01
    assert (filled[:, 5] == 0.0).all()
    np.testing.assert_allclose(filled[:, 6], 7.0, rtol=1e-12)


def test_many_rows_are_learned_from_some_of_them():
    long, fill = np.tile(X, (2 * MAX_REGRESSION_ROWS // len(X), 1)), np.nanmean(X, axis=0)
    weight = RNG.uniform(0.5, 2.0, len(long))
    filled, expected = (
        imputation_regressions(long, weight, fill),
        imputation_regressions(long[::2], weight[::2], fill),
    )
    np.testing.assert_array_equal(filled, expected)


@pytest.mark.parametrize("learner", ["rff_1", "rff_newton", "mixture"])
def test_explanations(learner):
    model = RFFBoostClassifier(learner=learner, n_estimators=8, early_stopping=False, random_state=0).fit(X, Y)
    rows, others = X[:6], X[6:20]
    expected = np.zeros((len(rows), X.shape[1]))
    for block in model.ensemble_.compact().terms:
        # What fills a gap counts as the column's own value.
        imputation = block.feature_map.expansion if isinstance(block, Mapped) else None
        expected += by_definition(*function_and_rows(block, imputation, rows, others))[:, 0]
    np.testing.assert_allclose(model.shap_values(rows, others), expected, atol=1e-9)
    total = model.decision_function(rows) - model.decision_function(others).mean()
    np.testing.assert_allclose(expected.sum(axis=1), total, atol=1e-9)


def function_and_rows(block, imputation, rows, others):
    """A function of one value per column, and its arguments: with an expansion, which row a column comes from."""
    if imputation is None:
        return block, rows, others
    every = imputation(np.vstack([rows, others]))
    numbers = np.arange(len(every), dtype=float)[:, None] * np.ones(imputation.n_features)

    def function(which):
        return block.term(every[which[:, imputation.source].astype(int), np.arange(imputation.n_expanded)])

    return function, numbers[: len(rows)], numbers[len(rows) :]


def test_slopes_reach_through_what_is_filled():
    model = RFFBoostRegressor(learner="rff_newton", n_estimators=8, random_state=0).fit(X, WHOLE[:, 1] / UNITS[1])
    rows = X[np.isnan(X).any(axis=1)][:8]
    slopes = model.gradient(rows)
    for j in range(X.shape[1]):
        step = 1e-5 * UNITS[j] * (np.arange(X.shape[1]) == j)
        expected = (model.predict(rows + step) - model.predict(rows - step)) / (2e-5 * UNITS[j])
        np.testing.assert_allclose(slopes[:, j] * UNITS[j], expected * UNITS[j], atol=1e-6)
    assert (slopes[np.isnan(rows)] == 0.0).all()
    assert (slopes[~np.isnan(rows)] != 0.0).any()
