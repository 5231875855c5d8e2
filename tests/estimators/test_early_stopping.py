"""Early stopping of the estimators: how long a fit goes on, and by which rows."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import RFFBoostClassifier, Tree

from ..cases import LOSS_CASES, make_data

BINARY = LOSS_CASES[0]


def test_rounds_without_a_number():
    X, y = make_data(BINARY, n=40)
    assert RFFBoostClassifier(learner=Tree(max_depth=1), random_state=0).fit(X, y).n_estimators_ == 100
    seen = []
    params = {"n_iter_no_change": 1, "n_folds": 1, "callbacks": [lambda p: seen.append(p.n_estimators)]}
    RFFBoostClassifier(learner=Tree(max_depth=1), early_stopping=True, random_state=0, **params).fit(X, y)
    assert set(seen) == {2000}


def test_early_stopping_watches_held_out_rows():
    # The scores can be had again from the rounds and the rows that training left out.
    X, y = make_data(BINARY, n=200)
    seen = []
    params = {"n_estimators": 8, "n_iter_no_change": 8, "n_folds": 1, "refit": False, "validation_fraction": 0.25}
    callbacks = [lambda progress: seen.append(progress.round.design.original)]
    model = RFFBoostClassifier(learner="rff_1", early_stopping=True, callbacks=callbacks, random_state=0, **params)
    model.fit(X, y)
    trained = {tuple(row) for row in seen[0]}
    held_out = np.array([tuple(row) not in trained for row in X])
    assert held_out.sum() == 50
    assert y[held_out].mean() == pytest.approx(y.mean(), abs=0.02), "stratified"
    loss = [model.loss_.value(y[held_out, None], raw).mean() for raw in model.ensemble_.staged(X[held_out])]
    np.testing.assert_allclose(loss, model.validation_scores_[: len(loss)], rtol=1e-10)
