"""The same seed gives the same bits."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

from ..cases import LOSS_NAMED, PAIRS, each_learner, make_data, make_estimator


def scores(model, X):
    return np.stack(list(model.ensemble_.staged(X)))


@each_learner
def test_a_second_fit_a_clone_and_a_pickle_give_the_same_bits(loss, learner):
    X, y = make_data(loss)
    model = make_estimator(loss, learner)
    first = scores(model.fit(X, y), X)
    np.testing.assert_array_equal(first, scores(model.fit(X, y), X))
    np.testing.assert_array_equal(first, scores(clone(model).fit(X, y), X))
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(first, scores(twin, X))
    np.testing.assert_array_equal(model.predict(X), twin.predict(X))


@pytest.mark.parametrize("params", [{"n_estimators": 12}, {"learner": "rff_newton", "n_estimators": 6}])
@pytest.mark.parametrize("loss", ["log_loss", "log_loss of 3 classes", "squared_error of 2 targets"])
def test_threads_do_not_change_bits_of_many_rows(loss, params):
    # So many that passes are shared out.
    X, y = make_data(LOSS_NAMED[loss], n=30_000)
    made = RFFBoostClassifier if "log" in loss else RFFBoostRegressor
    one, two = (made(random_state=0, early_stopping=False, n_jobs=n, **params).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.ensemble_.raw(X), two.ensemble_.raw(X))


@pytest.mark.parametrize(
    ("loss", "learner"),
    [p for p in PAIRS if "tree" not in p[1].name and p[1].name not in ("lasso", "ridge")],
    ids=str,
)
def test_the_seed_matters(loss, learner):
    X, y = make_data(loss)
    one, two = (make_estimator(loss, learner, random_state=seed).fit(X, y) for seed in (1, 2))
    assert np.abs(scores(one, X) - scores(two, X)).max() > 1e-3


def test_a_random_state_object_moves_on():
    loss, learner = PAIRS[0]
    X, y = make_data(loss)
    random = np.random.RandomState(0)
    one, two = (make_estimator(loss, learner, random_state=random).fit(X, y) for _ in range(2))
    assert np.abs(scores(one, X) - scores(two, X)).max() > 1e-3
