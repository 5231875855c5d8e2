"""The ranker: queries, weights, evaluation sets, scikit-learn's tools, files and graphs."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import ndcg_score as ndcg_of_query
from sklearn.model_selection import GridSearchCV, GroupKFold, cross_val_score

from rffboost_ext import RFFBoostRanker
from rffboost_ext.metrics import ndcg_score

QUICK = {"n_estimators": 15, "learning_rate": 0.3, "random_state": 0}
TREES = QUICK | {"learner": "tree", "early_stopping": False}


def rows(seed=0, n_queries=40):
    """Rows of queries of 2 to 12 rows, mixed, and their relevance."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(2, 13, n_queries)))
    X = rng.standard_normal((len(qid), 4)) + rng.standard_normal((n_queries, 4))[qid]
    signal = X[:, 0] + np.sin(2.0 * X[:, 1]) + 0.3 * rng.standard_normal(len(qid))
    return X, np.digitize(signal, [0.5, 1.5, 2.5]), qid


X, Y, QID = rows()
X_NEW, Y_NEW, QID_NEW = rows(1)


@pytest.fixture(scope="module")
def model():
    return RFFBoostRanker(**QUICK).fit(X, Y, qid=QID)


def test_the_score_is_the_mean_over_queries_with_a_relevant_row(model):
    scores = model.predict(X_NEW)
    of_queries = [
        ndcg_of_query(2.0 ** Y_NEW[i][None] - 1.0, scores[i][None], k=5)
        for i in (q == QID_NEW for q in np.unique(QID_NEW))
        if Y_NEW[i].any()
    ]
    assert model.score(X_NEW, Y_NEW, qid=QID_NEW, k=5) == pytest.approx(np.mean(of_queries), rel=1e-12)
    assert len(of_queries) < len(np.unique(QID_NEW)), "some queries are left out"
    assert np.mean(of_queries) > 0.9


@pytest.mark.parametrize(
    ("loss", "params"), [("pairwise", QUICK), ("lambdarank", TREES)], ids=["pairwise", "lambdarank"]
)
def test_labels_of_queries_may_be_anything_hashable(loss, params):
    named = [("query", int(q)) if q % 2 else f"query {q}" for q in QID]
    one, two = (RFFBoostRanker(loss, **params).fit(X, Y, qid=labels) for labels in (QID, named))
    np.testing.assert_array_equal(one.predict(X), two.predict(X))
    assert one.score(X_NEW, Y_NEW, qid=QID_NEW) > 0.85


def test_rows_may_be_in_any_order():
    order = np.argsort(QID, kind="stable")
    one, two = (RFFBoostRanker(**TREES).fit(X[i], Y[i], qid=QID[i]) for i in (slice(None), order))
    np.testing.assert_allclose(one.predict(X_NEW), two.predict(X_NEW), atol=1e-4)


def test_weights_are_of_queries():
    weight = (QID % 3).astype(float)
    twice = np.flatnonzero(weight == 2.0)
    index, labels = (
        np.concatenate([np.flatnonzero(weight), twice]),
        np.concatenate([QID[weight > 0], QID[twice] + 100]),
    )
    weighted = RFFBoostRanker(**TREES).fit(X, Y, weight, qid=QID)
    repeated = RFFBoostRanker(**TREES).fit(X[index], Y[index], qid=labels)
    np.testing.assert_allclose(weighted.predict(X_NEW), repeated.predict(X_NEW), atol=1e-4)
    assert weighted.score(X, Y, weight, qid=QID) == pytest.approx(weighted.score(X[index], Y[index], qid=labels))


def test_evaluation_sets_and_metrics():
    held = X_NEW, Y_NEW
    forms = [
        {"eval_set": held, "eval_qid": QID_NEW.tolist()},
        {"eval_set": [held], "eval_qid": [QID_NEW]},
        {"eval_set": {"validation_0": held}, "eval_qid": {"validation_0": QID_NEW.astype(str)}},
    ]
    given = RFFBoostRanker(eval_metric=["pairwise", "ndcg@5", "ndcg"], **QUICK)
    models = [clone(given).fit(X, Y, qid=QID, **form) for form in forms]
    first = models[0]
    assert all(one.evals_result_ == first.evals_result_ for one in models)
    curves = first.evals_result_["validation_0"]
    stages = list(first.staged_predict(X_NEW))
    for name, k in (("ndcg", None), ("ndcg@5", 5)):
        np.testing.assert_allclose(curves[name], [ndcg_score(Y_NEW, s, QID_NEW, k=k) for s in stages])
    assert first.best_score_ == max(curves["ndcg"])
    np.testing.assert_allclose(stages[-1], first.predict(X_NEW))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": Y - 1}, "relevance between 0 and 31, got -1"),
        ({"y": Y + 40}, "relevance between 0 and 31, got 4"),
        ({"y": np.column_stack([Y, QID])}, "y should be a 1d array"),
        ({"qid": QID[:-1]}, "qid must have a label for each"),
        ({"qid": np.where(QID == 3, np.nan, QID)}, "qid must hold labels, got .*nan"),
        ({"sample_weight": np.arange(1.0, len(Y) + 1.0)}, "constant within a query"),
        ({"sample_weight": np.ones(40)}, "for each of 40 queries: pass weight"),
        ({"eval_set": [(X_NEW, Y_NEW)]}, "eval_qid must be for the sets"),
        ({"eval_set": [(X_NEW, Y_NEW)], "eval_qid": [QID_NEW, QID_NEW]}, "eval_qid must be a list with an entry"),
        ({"eval_set": [(X_NEW, -Y_NEW)], "eval_qid": [QID_NEW]}, "'validation_0'.*relevance between 0 and 31"),
    ],
)
def test_refused(change, message):
    given = {"X": X, "y": Y, "qid": QID} | change
    with pytest.raises(ValueError, match=message):
        RFFBoostRanker(**QUICK).fit(**given)


def test_losses_that_rank_nothing_are_refused():
    with pytest.raises(ValueError, match="loss must have one score"):
        RFFBoostRanker("squared_error", **QUICK).fit(X, Y, qid=QID)


def test_without_queries_all_rows_are_of_one():
    with pytest.warns(UserWarning, match="without qid all rows are of one query"):
        model = RFFBoostRanker(**QUICK).fit(X, Y)
    one = RFFBoostRanker(**QUICK).fit(X, Y, qid=np.zeros(len(Y)))
    np.testing.assert_array_equal(model.predict(X), one.predict(X))
    with pytest.warns(UserWarning, match="without qid score takes all rows for one query"):
        assert model.score(X, Y) == one.score(X, Y, qid=np.zeros(len(Y)))
    assert model.n_estimators_ == 15, "a single query is not divided for early stopping"


def test_searches_route_queries():
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = RFFBoostRanker(**TREES).set_fit_request(qid=True).set_score_request(qid=True)
        search = GridSearchCV(ranker, {"learner__max_depth": [1, 3]}, cv=GroupKFold(3))
        search.fit(X, Y, qid=QID, groups=QID)
        scores = cross_val_score(
            search.best_estimator_, X, Y, cv=GroupKFold(3), params={"qid": QID, "groups": QID}
        )
    assert scores.mean() == pytest.approx(search.best_score_)
