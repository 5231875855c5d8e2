"""The same seed gives the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

from ..cases import LOSS_NAMED, PAIRS, make_data, make_estimator
from ..tables import of_cosines


def scores(model, X):
    return np.stack(list(model.ensemble_.staged(X)))


@pytest.mark.parametrize(
    ("loss", "params"),
    [
        ("log_loss of 3 classes", {"n_estimators": 12}),
        ("squared_error of 2 targets", {"learner": "rff_newton", "n_estimators": 4}),
    ],
)
def test_threads_do_not_change_bits_of_many_rows(loss, params):
    # So many that passes are shared out.
    X, y = make_data(LOSS_NAMED[loss], n=30_000)
    made = RFFBoostClassifier if "log" in loss else RFFBoostRegressor
    one, two = (made(random_state=0, early_stopping=False, n_jobs=n, **params).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.ensemble_.raw(X), two.ensemble_.raw(X))


@of_cosines
def test_the_seed_matters(loss, learner):
    if learner.name in ("lasso", "ridge"):
        pytest.skip("draws nothing")
    X, y = make_data(loss)
    one, two = (make_estimator(loss, learner, random_state=seed).fit(X, y) for seed in (1, 2))
    assert np.abs(scores(one, X) - scores(two, X)).max() > 1e-3


def test_a_random_state_object_moves_on():
    loss, learner = PAIRS[0]
    X, y = make_data(loss)
    random = np.random.RandomState(0)
    one, two = (make_estimator(loss, learner, random_state=random).fit(X, y) for _ in range(2))
    assert np.abs(scores(one, X) - scores(two, X)).max() > 1e-3
