"""Predictions and scores on the rows of a source."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import LinearRegression, LogisticRegression

from rffboost_ext import (
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostQuantileRegressor,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
    sources,
)

from .cut_rows import CutRows

N = 1000
rng = np.random.default_rng(0)
X = rng.standard_normal((N, 3))
Y = X[:, 0] + 0.3 * rng.standard_normal(N)
LABEL = np.where(Y > 0.5, "yes", "no")
WEIGHT = rng.uniform(0.0, 2.0, N) * (rng.random(N) > 0.1)
FEW = {"learner": "tree", "n_estimators": 10, "random_state": 0}
MODELS = [
    (RFFBoostRegressor(**FEW), Y),
    (RFFBoostRegressor(**FEW), np.column_stack([Y, X[:, 1]])),
    (RFFBoostRegressor("quantile", **FEW), Y),
    (RFFBoostDistribution(**FEW), Y),
    (RFFBoostClassifier(**FEW), LABEL),
    (LinearRegression(), Y),
    (LogisticRegression(), LABEL),
    (RFFBoostQuantileRegressor(**FEW), Y),
    (RFFBoostSurvival(**FEW), np.exp(Y)),
]


FORMS = [*((*one, np.asarray) for one in MODELS), (*MODELS[0], csr_matrix), (LinearRegression(), Y, csr_matrix)]


@pytest.mark.parametrize(("model", "y", "form"), FORMS, ids=lambda one: type(one).__name__)
def test_score_and_predictions_are_those_of_all_rows(model, y, form):
    model.fit(X, y)
    rows = CutRows(form(X), y, WEIGHT, cuts=[0, 400], size=128)
    assert sources.score(model, rows) == pytest.approx(model.score(X, y, WEIGHT), rel=1e-9)
    parts = list(sources.predict(model, CutRows(form(X), cuts=[0, 400], size=128)))
    assert max(map(len, parts)) == 128
    expected, predicted = model.predict(X), np.concatenate(parts)
    assert (predicted == expected).all() if predicted.dtype.kind == "U" else np.allclose(predicted, expected)


def test_score_of_a_ranker_is_of_whole_queries():
    query, relevance = np.repeat(np.arange(100), 10), np.digitize(Y, [0.0, 1.0])
    model = RFFBoostRanker(**FEW).fit(X, relevance, qid=query)
    rows = {"y": relevance, "group": query}
    assert sources.score(model, CutRows(X, **rows, size=99)) == model.score(X, relevance, qid=query)
    some = sources.score(model, CutRows(X, **rows, size=99, max_rows=500))
    assert some == pytest.approx(model.score(X, relevance, qid=query), abs=0.05)


def test_method_may_be_another():
    model = RFFBoostClassifier(**FEW).fit(X, LABEL)
    parts = sources.predict(model, CutRows(X, size=300), method="predict_proba")
    np.testing.assert_allclose(np.vstack(list(parts)), model.predict_proba(X), rtol=1e-6)
    with pytest.raises(ValueError, match="method"):
        sources.predict(model, CutRows(X), method="decide")
    with pytest.raises(TypeError, match="rows must be a source"):
        sources.predict(model, X)
