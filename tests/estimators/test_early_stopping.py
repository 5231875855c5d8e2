"""Early stopping of the estimators: how long a fit goes on, and by which rows."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, Tree

from ..cases import LOSS_CASES, make_data

BINARY = LOSS_CASES[0]


@pytest.mark.parametrize("shell", [RFFBoostClassifier, RFFBoostRegressor])
def test_early_stopping_truncates_to_the_best_round(shell):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    y = (X[:, 0] > 0).astype(int) ^ (rng.uniform(size=400) < 0.2)
    params = {"n_estimators": 500, "n_iter_no_change": 5, "tol": 0.0, "learning_rate": 0.5, "random_state": 0}
    single = {"early_stopping": True, "n_folds": 1, "refit": False}
    model = shell(learner=Tree(max_depth=3), **single, **params).fit(X, y)
    scores = model.validation_scores_
    assert 1 < model.n_estimators_ == len(model.ensemble_) < 500
    assert len(scores) == model.n_estimators_ + 1 + 5
    assert scores.argmin() == model.n_estimators_
    assert np.isfinite(scores).all()


def parted(**params):
    """A fit whose held-out loss falls for long, in ever smaller parts."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2.0, 2.0, (300, 2))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1]
    given = {"n_estimators": 150, "n_iter_no_change": 3, "n_folds": 1, "refit": False, "random_state": 0}
    return RFFBoostRegressor(learner=Tree(max_depth=3), early_stopping=True, **(given | params)), X, y


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_tol_is_a_share_of_the_loss_before_the_first_round(unit):
    model, X, y = parted(tol=0.01)
    lengths = [len(model.fit(X, factor * y).validation_scores_) for factor in (1.0, unit)]
    assert lengths[0] == lengths[1] < 150
    # The fit has gone on just as long as it beat the best loss by that share of the first within three rounds.
    scores, best, waited = model.validation_scores_, np.inf, 0
    for score in scores:
        waited = 0 if score < best - 0.01 * scores[0] else waited + 1
        best = min(best, score) if waited == 0 else best
    assert waited == 3


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
