"""The same values in float32 and in float64 give the same fit, with and without missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

from ..cases import above_median
from ..tables import gapped

RNG = np.random.default_rng(6)
# All values are float32 numbers, some skewed.
X = np.exp(RNG.standard_normal((150, 4)) * [0.1, 0.1, 1.0, 1.5]).astype(np.float32).astype(np.float64)
Y = (np.sin(2.0 * X[:, 0]) + X[:, 1]).astype(np.float32).astype(np.float64)
WEIGHT = RNG.uniform(0.5, 2.0, len(X)).astype(np.float32).astype(np.float64)
GAPS = gapped(X, columns=[0, 2])


def single(values):
    return values.astype(np.float32)


def table(values):
    return pd.DataFrame(values).astype({0: "float32", 2: "Float32"})


@pytest.mark.parametrize(("estimator", "rows"), [(RFFBoostRegressor, GAPS), (RFFBoostClassifier, X)])
def test_predictions_of_a_default_fit(estimator, rows):
    y = Y if estimator is RFFBoostRegressor else above_median(Y)
    wide, narrow = (estimator(n_estimators=15, random_state=0).fit(Z, y) for Z in (rows, single(rows)))
    scores = wide.raw_scores(rows)
    size = np.abs(scores).max()
    np.testing.assert_allclose(narrow.raw_scores(rows), scores, rtol=0, atol=1e-6 * size)
    np.testing.assert_allclose(wide.raw_scores(single(rows)), scores, rtol=0, atol=1e-5 * size)


@pytest.mark.parametrize("of_X", [single, table, lambda Z: np.asfortranarray(single(Z))])
def test_bits_of_a_fit_with_gaps(of_X):
    model = RFFBoostRegressor(n_estimators=10, random_state=0)
    held = gapped(2.0 * X, seed=3, columns=[0, 2])
    expected = model.fit(GAPS, Y, sample_weight=WEIGHT, eval_set=[(held, Y)]).predict(GAPS)
    model.fit(of_X(GAPS), single(Y), sample_weight=single(WEIGHT), eval_set=[(held, single(Y))])
    np.testing.assert_array_equal(model.predict(GAPS), expected)
    # Float32 rows of an eval_set are evaluated in float32.
    model.fit(GAPS, Y, sample_weight=WEIGHT, eval_set=[(of_X(held), Y)])
    np.testing.assert_allclose(model.predict(GAPS), expected, rtol=0, atol=1e-6)


def test_a_warm_start_imputes_in_double_precision():
    model = RFFBoostRegressor(learner="rff_newton", n_estimators=5, random_state=0, warm_start=True)
    predictions = []
    for rows in (GAPS, single(GAPS)):
        model.__dict__.pop("ensemble_", None)
        model.set_params(n_estimators=5).fit(GAPS, Y).set_params(n_estimators=10).fit(rows, Y)
        predictions.append(model.predict(GAPS))
    np.testing.assert_array_equal(predictions[1], predictions[0])
