"""Queries and bounds as the hosts keep them are columns of the targets of our losses."""

from __future__ import annotations

from functools import partial

import lightgbm as lgb
import numpy as np
import pytest
import sklearn
import xgboost as xgb
from sklearn.model_selection import GroupKFold, cross_val_score

from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.metrics import ndcg_score

from .interop_cases import LIGHTGBM, XGBOOST, hosts

RNG = np.random.default_rng(0)
QUERY, X = np.repeat(np.arange(24), 10), RNG.standard_normal((240, 3))
RELEVANCE = np.digitize(X[:, 0] + RNG.standard_normal(240), [0, 1, 2])
Y, SIZES = np.column_stack([RELEVANCE, QUERY]), np.bincount(QUERY)
A, B = slice(0, 160), slice(160, None)


def with_queries(host, part, are_own, made=xgb.DMatrix):
    """A matrix of some rows, whose queries the host knows, or are a column of the targets that are attached."""
    if host is XGBOOST:
        matrix = made(X[part], RELEVANCE[part], qid=QUERY[part] if are_own else None)
    else:
        groups = SIZES[np.unique(QUERY[part])] if are_own else None
        matrix = lgb.Dataset(X[part], RELEVANCE[part], group=groups, free_raw_data=False)
    if not are_own:
        host.ours.attach(matrix, y=Y[part])
    return matrix


@pytest.mark.filterwarnings("ignore:training starts")
@pytest.mark.parametrize(
    ("host", "kind", "made"),
    [
        (XGBOOST, "objective", xgb.DMatrix),
        (XGBOOST, "CosineObjective", xgb.DMatrix),
        (XGBOOST, "objective", xgb.QuantileDMatrix),
        (LIGHTGBM, "objective", None),
    ],
)
def test_queries_of_a_matrix_are_the_last_column(host, kind, made):
    found = []
    for are_own in (True, False):
        train = with_queries(host, A, are_own, made)
        held = with_queries(host, B, are_own, partial(made, ref=train) if made is xgb.QuantileDMatrix else made)
        if host is LIGHTGBM:
            held.reference = train
        objective = getattr(host.ours, kind)("lambdarank")
        found.append(host.train(train, objective, 4, objective.metric, [held])[1])
    np.testing.assert_array_equal(*found)


def test_cross_validation_of_the_hosts_keeps_queries_whole():
    matrix, objective = xgb.DMatrix(X, RELEVANCE, qid=QUERY), rxgb.objective("lambdarank")
    parts = {"obj": objective, "custom_metric": objective.metric, "as_pandas": False}
    found = xgb.cv({"nthread": 1} | rxgb.intercept("lambdarank", matrix), matrix, 3, nfold=3, **parts)
    assert np.diff(found["test-lambdarank-mean"]).max() < 0.0
    folds = {"folds": GroupKFold(3)}, {"nfold": 3, "stratified": False}
    params = LIGHTGBM.native | {"objective": rlgb.objective("lambdarank")}
    feval = params["objective"].metric
    found = lgb.cv(params, lgb.Dataset(X, RELEVANCE, group=SIZES), 3, feval=feval, **folds[0])
    assert np.diff(found["valid lambdarank-mean"]).max() < 0.0
    with pytest.raises(ValueError, match="divides 24 of its 24 groups"):
        lgb.cv(params, lgb.Dataset(X, RELEVANCE, group=SIZES), 3, feval=feval, **folds[1])


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
    in_model, in_fit = ({"eval_metric": "ndcg@5"}, {})[:: 1 if host is XGBOOST else -1]
    model, y = host.estimator("lambdarank", **in_model), RELEVANCE if queries else Y
    return model.fit(X[A], y[A], **host.watch(X[B], y[B]), **in_fit, **queries)


@hosts
def test_estimators_take_queries_as_the_hosts_rankers(host):
    wanted = fitted(host)
    ((name, values),) = host.curve(wanted).items()
    assert name == "ndcg@5"
    assert values[-1] == pytest.approx(ndcg_score(RELEVANCE[B], wanted.predict(X[B]), QUERY[B], k=5), abs=1e-6)
    model = fitted(host, qid=[f"q{query}" for query in QUERY[A]], eval_qid=[QUERY[B]])
    np.testing.assert_array_equal(model.predict(X), wanted.predict(X))
    assert host.curve(model) == host.curve(wanted)
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
        fitted(XGBOOST, **options)


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
