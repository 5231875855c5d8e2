"""Queries and bounds as the hosts keep them are columns of the targets of our losses."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest
import sklearn
import xgboost as xgb
from sklearn.model_selection import GroupKFold, cross_val_score

from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.metrics import ndcg_score

RNG = np.random.default_rng(0)
QUERY, X = np.repeat(np.arange(24), 10), RNG.standard_normal((240, 3))
RELEVANCE = np.digitize(X[:, 0] + RNG.standard_normal(240), [0, 1, 2])
Y, SIZES = np.column_stack([RELEVANCE, QUERY]), np.bincount(QUERY)
A, B = slice(0, 160), slice(160, None)
LIGHTGBM = {"verbose": -1, "metric": "none", "num_threads": 1, "objective": rlgb.objective("lambdarank")}


def xgboost_curve(matrix, evaluated, **parts):
    found = {}
    params = {"nthread": 1} | rxgb.intercept("lambdarank", matrix)
    xgb.train(params, matrix, 4, evals=[(evaluated, "e")], evals_result=found, verbose_eval=False, **parts)
    return found["e"]["lambdarank"]


def own_parts():
    return {"obj": rxgb.objective("lambdarank"), "custom_metric": rxgb.objective("lambdarank").metric}


def with_cosines():
    hybrid = rxgb.CosineObjective("lambdarank")
    return {"obj": hybrid, "custom_metric": hybrid.metric}


def quantile_matrix(data, label, qid, ref=None):
    return xgb.QuantileDMatrix(data, label, qid=qid, ref=ref)


def matrix_of(data, label, qid, ref=None):
    return xgb.DMatrix(data, label, qid=qid)


@pytest.mark.parametrize(
    ("made", "parts"), [(matrix_of, own_parts), (matrix_of, with_cosines), (quantile_matrix, own_parts)]
)
def test_queries_of_a_matrix_are_the_last_column(made, parts):
    found = []
    for queries in (True, False):
        train = made(X[A], RELEVANCE[A], QUERY[A] if queries else None)
        evaluated = made(X[B], RELEVANCE[B], QUERY[B] if queries else None, train)
        if not queries:
            rxgb.attach(train, y=Y[A])
            rxgb.attach(evaluated, y=Y[B])
        found.append(xgboost_curve(train, evaluated, **parts()))
    np.testing.assert_array_equal(*found)


def test_groups_of_a_dataset_are_the_last_column():
    found = []
    for queries in (True, False):
        sizes = (SIZES[:16], SIZES[16:].tolist()) if queries else (None, None)
        data = lgb.Dataset(X[A], RELEVANCE[A], group=sizes[0])
        evaluated = data.create_valid(X[B], RELEVANCE[B], group=sizes[1])
        for dataset, part in ((data, A), (evaluated, B)):
            if not queries:
                rlgb.attach(dataset, y=Y[part])
        curve: dict = {}
        rlgb.intercept("lambdarank", data, evaluated)
        callbacks = [lgb.record_evaluation(curve)]
        watched = {"feval": rlgb.objective("lambdarank").metric, "valid_sets": [evaluated], "callbacks": callbacks}
        lgb.train(LIGHTGBM, data, 4, **watched)
        found.append(curve["valid_0"]["lambdarank"])
    np.testing.assert_array_equal(*found)


def test_cross_validation_of_the_hosts_keeps_queries_whole():
    matrix = xgb.DMatrix(X, RELEVANCE, qid=QUERY)
    parts = own_parts() | {"as_pandas": False}
    found = xgb.cv({"nthread": 1} | rxgb.intercept("lambdarank", matrix), matrix, 3, nfold=3, **parts)
    assert np.diff(found["test-lambdarank-mean"]).max() < 0.0
    folds = {"folds": GroupKFold(3)}, {"nfold": 3, "stratified": False}
    feval = rlgb.objective("lambdarank").metric
    found = lgb.cv(LIGHTGBM, lgb.Dataset(X, RELEVANCE, group=SIZES), 3, feval=feval, **folds[0])
    assert np.diff(found["valid lambdarank-mean"]).max() < 0.0
    with pytest.raises(ValueError, match="divides 24 of its 24 groups"):
        lgb.cv(LIGHTGBM, lgb.Dataset(X, RELEVANCE, group=SIZES), 3, feval=feval, **folds[1])


def test_bounds_of_a_matrix_are_its_target():
    time = np.exp(X[:, 0] + RNG.standard_normal(240))
    bounds = np.column_stack([time, np.where(X[:, 1] > 0.0, time, np.inf)])
    own = xgb.DMatrix(X, label_lower_bound=bounds[:, 0], label_upper_bound=bounds[:, 1])
    attached = xgb.DMatrix(X)
    rxgb.attach(attached, y=bounds.astype(np.float32))
    found = [
        xgb.train(
            {"nthread": 1} | rxgb.intercept("aft_normal", matrix), matrix, 3, obj=rxgb.objective("aft_normal")
        ).predict(attached)
        for matrix in (own, attached)
    ]
    np.testing.assert_array_equal(*found)
    with pytest.raises(ValueError, match="the matrix has no labels"):
        rxgb.intercept("aft_normal", xgb.DMatrix(X))


def fitted(host, **queries):
    model = {
        "xgboost": rxgb.XGBRegressor(loss="lambdarank", n_estimators=4, n_jobs=1, eval_metric="ndcg@5"),
        "lightgbm": rlgb.LGBMRegressor(loss="lambdarank", n_estimators=4, n_jobs=1, verbose=-1),
    }[host]
    own = {"verbose": False} if host == "xgboost" else {"eval_metric": "ndcg@5"}
    if not queries:
        return model.fit(X[A], Y[A], eval_set=[(X[B], Y[B])], **own)
    return model.fit(X[A], RELEVANCE[A], eval_set=[(X[B], RELEVANCE[B])], **own, **queries)


@pytest.mark.parametrize("host", ["xgboost", "lightgbm"])
def test_estimators_take_queries_as_the_hosts_rankers(host):
    wanted = fitted(host)
    curve = wanted.evals_result() if host == "xgboost" else wanted.evals_result_
    ((name, values),) = next(iter(curve.values())).items()
    assert name == "ndcg@5"
    assert values[-1] == pytest.approx(ndcg_score(RELEVANCE[B], wanted.predict(X[B]), QUERY[B], k=5), abs=1e-6)
    model = fitted(host, qid=[f"q{query}" for query in QUERY[A]], eval_qid=[QUERY[B]])
    np.testing.assert_array_equal(model.predict(X), wanted.predict(X))
    assert (model.evals_result() if host == "xgboost" else model.evals_result_) == curve
    assert model.score(X[B], RELEVANCE[B], qid=QUERY[B]) == model.score(X[B], Y[B])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"qid": QUERY[A]}, r"eval_qid must be for the sets \['validation_0'\], got it for \[\]"),
        ({"qid": QUERY[A], "eval_qid": [QUERY[B]] * 2}, "eval_qid must be a list with an entry for each .* got 2"),
        ({"eval_qid": [QUERY[B]]}, "eval_qid must be None, as the fit has none"),
        ({"qid": QUERY[B], "eval_qid": [QUERY[B]]}, "qid must have .* 160 rows"),
        ({"qid": QUERY[A], "sample_weight": np.ones(16)}, "sample_weight must have an entry for each of 160 rows"),
    ],
)
def test_queries_that_do_not_suit_the_rows_are_named(options, words):
    with pytest.raises((TypeError, ValueError), match=words):
        fitted("xgboost", **options)


@pytest.mark.parametrize("made", [rxgb.XGBRegressor, rlgb.LGBMRegressor, rxgb.XGBClassifier, rlgb.LGBMClassifier])
def test_queries_are_for_losses_of_groups(made):
    with pytest.raises(ValueError, match="qid is for losses of groups of rows, such as 'lambdarank', got loss"):
        made().fit(X, RELEVANCE, qid=QUERY)


def test_searches_hand_on_queries_and_offsets():
    with sklearn.config_context(enable_metadata_routing=True):
        for made in (rxgb.XGBRegressor, rlgb.LGBMRegressor):
            model = made(loss="lambdarank", n_estimators=2, n_jobs=1)
            model.set_fit_request(qid=True).set_score_request(qid=True)
            given = {"qid": QUERY, "groups": QUERY}
            found = cross_val_score(model, X, RELEVANCE, cv=GroupKFold(3), params=given)
            assert np.isfinite(found).all()
        model = rxgb.XGBRegressor(n_estimators=2, n_jobs=1)
        model.set_fit_request(base_margin=True).set_score_request(base_margin=True)
        offset = 100.0 * X[:, 1]
        found = cross_val_score(model, X, X[:, 0] + offset, cv=3, params={"base_margin": offset})
        assert found.min() > 0.999
