"""Early stopping where a class has a single row, and in a warm start."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification

from rffboost_ext import RFFBoostClassifier


@pytest.mark.parametrize("params", [{}, {"n_folds": 1, "refit": False}, {"quality": "high"}])
@pytest.mark.parametrize("alone", [1, 2])
def test_the_only_row_of_a_class_is_not_held_out(params, alone: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 4)), np.zeros(200, dtype=int)
    y[:alone] = 1 + np.arange(alone)
    share = RFFBoostClassifier(random_state=0, **params).fit(X, y).predict_proba(X).mean(axis=0)[1:]
    # By a model that has not seen it, it would be one in 1e15.
    assert (share > 1e-3).all()


@pytest.mark.parametrize("n_folds", [1, 2])
def test_where_all_rows_are_alone_some_are_held_out(n_folds: int) -> None:
    X, y = np.arange(4.0)[:, None], np.arange(4)
    model = RFFBoostClassifier(learner="mixture", n_folds=n_folds, n_estimators=3, random_state=0).fit(X, y)
    assert model.predict_proba(X).shape == (4, 4)


def test_a_warm_start_counts_the_rounds_of_one_model() -> None:
    X, y = make_classification(300, random_state=0)
    model = RFFBoostClassifier(warm_start=True, early_stopping=True, random_state=0)
    for n in (5, 5, 12):
        model.set_params(n_estimators=n).fit(X, y)
        assert model.n_estimators_ == n
    watched = RFFBoostClassifier(warm_start=True, random_state=0)
    for n in (5, 10):
        watched.set_params(n_estimators=n).fit(X, y, eval_set=(X + 0.1, y))
        assert watched.n_estimators_ == n
