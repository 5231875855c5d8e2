"""Models with offsets are continued, stored, combined, explained and searched as others are."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.ensemble import BaggingRegressor
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from rffboost_ext import ConformalRegressor, RFFBoostQuantileRegressor, RFFBoostRegressor, average

N = 160
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
OFFSET = 1.5 * RNG.standard_normal(N)
COUNTS = RNG.poisson(np.exp(np.sin(2.0 * X[:, 0]) + OFFSET))
PLAIN = RFFBoostRegressor("poisson", "rff_newton", n_estimators=8, early_stopping=False, random_state=0)
NEEDED = "base_margin must be given"


@pytest.fixture(scope="module")
def model():
    """A model with an offset."""
    return clone(PLAIN).fit(X, COUNTS, base_margin=OFFSET)


def test_a_warm_start_goes_on_with_the_offset(model):
    grown = clone(PLAIN).set_params(n_estimators=4, warm_start=True).fit(X, COUNTS, base_margin=OFFSET)
    with pytest.raises(ValueError, match=NEEDED):
        grown.set_params(n_estimators=8).fit(X, COUNTS)
    grown.fit(X, COUNTS, base_margin=OFFSET)
    np.testing.assert_array_equal(grown.predict(X, OFFSET), model.predict(X, OFFSET))


def test_a_fit_from_a_model_has_an_offset_as_that_has(model):
    longer = clone(PLAIN).fit(X, COUNTS, init_model=model, base_margin=OFFSET)
    assert longer.score(X, COUNTS, base_margin=OFFSET) > model.score(X, COUNTS, base_margin=OFFSET)
    with pytest.raises(ValueError, match="init_model was fitted with base_margin"):
        clone(PLAIN).fit(X, COUNTS, init_model=model)
    with pytest.raises(ValueError, match="init_model was fitted without base_margin"):
        clone(PLAIN).fit(X, COUNTS, init_model=clone(PLAIN).fit(X, COUNTS), base_margin=OFFSET)


def test_intervals_and_quantiles_move_with_the_offset():
    y = np.sin(2.0 * X[:, 0]) + 5.0 * OFFSET + 0.3 * RNG.standard_normal(N)
    given = {"learner": "rff_newton", "n_estimators": 30, "random_state": 0}
    quantiles, interval = RFFBoostQuantileRegressor((0.1, 0.9), **given), RFFBoostRegressor(**given)
    for estimator, width in ((quantiles, 2), (ConformalRegressor(interval, random_state=0), 1)):
        offset = np.repeat(5.0 * OFFSET[:, None], width, axis=1)
        fitted = clone(estimator).fit(X, y, base_margin=offset)
        without = clone(estimator).fit(X, y)
        assert fitted.score(X, y, base_margin=offset) > without.score(X, y) + 0.05
    low, high = fitted.predict_interval(X, 5.0 * OFFSET).T
    assert ((low <= y) & (y <= high)).mean() > 0.85
    assert (high - low).max() < 4.0


def test_averages_need_the_offset(model):
    other = clone(PLAIN).set_params(random_state=1).fit(X, COUNTS, base_margin=OFFSET)
    mean = average([model, other])
    wanted = 0.5 * (model.raw_scores(X, OFFSET) + other.raw_scores(X, OFFSET))
    np.testing.assert_allclose(mean.raw_scores(X, OFFSET), wanted, atol=1e-12)
    with pytest.raises(ValueError, match="uses of base_margin of models must agree"):
        average([model, clone(PLAIN).fit(X, COUNTS)])


def test_explanations_are_of_the_scores_without_the_offset(model):
    scores = model.ensemble_.raw(X)[:, 0]
    values = model.shap_values(X[:10], X[10:40])
    np.testing.assert_allclose(values.sum(axis=1), scores[:10] - scores[10:40].mean(), atol=1e-10)
    assert model.feature_importances_.argmax() == 0


def test_searches_and_ensembles_route_the_offset():
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(PLAIN).set_fit_request(base_margin=True).set_score_request(base_margin=True)
        routed.set_predict_request(base_margin=True)
        given = {"base_margin": OFFSET}
        for estimator in (routed, make_pipeline(StandardScaler(), routed)):
            found = cross_validate(estimator, X, COUNTS, params=given, cv=2)["test_score"]
            assert (found > cross_validate(PLAIN, X, COUNTS, cv=2)["test_score"]).all()
        search = GridSearchCV(routed, {"learning_rate": [0.01, 0.5]}, cv=2).fit(X, COUNTS, **given)
        assert search.best_params_ == {"learning_rate": 0.5}
        # The search itself takes no arguments in predict.
        assert search.best_estimator_.predict(X, **given).shape == (N,)
        bagging = BaggingRegressor(routed, n_estimators=2, random_state=0).fit(X, COUNTS, **given)
        assert bagging.predict(X, **given).shape == (N,)
        interval = ConformalRegressor(routed, random_state=0).fit(X, COUNTS, **given)
        assert interval.predict_interval(X, OFFSET).shape == (N, 2)
