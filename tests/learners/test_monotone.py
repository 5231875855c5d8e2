"""Monotone constraints are promises on predictions, with any loss that accepts them."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import (
    DISTRIBUTIONS,
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostRegressor,
    RFFBoostSurvival,
    SymmetricTree,
    Tree,
)
from rffboost_ext.interop.xgboost import XGBRegressor

from ..cases import SAMPLES

N, FEW = 300, {"n_estimators": 15, "learning_rate": 0.5, "early_stopping": False, "random_state": 0}
RNG = np.random.default_rng(0)
X, GRID = RNG.uniform(0.0, 1.0, (N, 2)), np.column_stack([np.linspace(0.0, 1.0, 60), np.full(60, 0.5)])
EVENT = {
    "squared_error": RFFBoostRegressor,
    "absolute_error": RFFBoostRegressor,
    "huber": RFFBoostRegressor,
    "quantile": RFFBoostRegressor,
    "poisson": RFFBoostRegressor,
    "gamma": RFFBoostRegressor,
    "log_loss": RFFBoostClassifier,
    "exponential": RFFBoostClassifier,
} | dict.fromkeys(("cox", "aft_normal", "aft_logistic", "aft_extreme"), RFFBoostSurvival)
SIGN = {Tree: 1, SymmetricTree: -1}
trees = pytest.mark.parametrize("tree", SIGN)


def steps(model):
    """Differences of predictions along the first feature."""
    found = model.predict_proba(GRID)[:, 1] if hasattr(model, "predict_proba") else model.predict(GRID)
    return np.diff(found) / np.abs(found).max()


@trees
@pytest.mark.parametrize("loss", EVENT)
def test_predictions_of_one_score_are_monotone(loss, tree):
    y = np.exp(np.sin(9.0 * X[:, 0]) + 0.3 * RNG.standard_normal(N))
    y = (y > 1.0).astype(int) if EVENT[loss] is RFFBoostClassifier else y
    sign = SIGN[tree]
    model = EVENT[loss](loss, tree(monotone_constraints=(sign, 0)), **FEW).fit(X, y)
    assert (sign * steps(model)).min() > -1e-6
    assert np.abs(steps(model)).max() > 1e-4


@trees
@pytest.mark.parametrize("name", DISTRIBUTIONS.names())
def test_means_of_distributions_are_monotone_and_other_scores_free(name, tree):
    loss = DISTRIBUTIONS.create(name)
    # Both the size and the spread of the target rise and fall.
    low, high = (np.sort(SAMPLES[name](np.random.default_rng(seed), N)[:, 0]) for seed in (0, 1))
    y = np.where(np.sin(9.0 * X[:, 0]) > 0.0, RNG.permutation(low), RNG.permutation(high[: N // 2].repeat(2)))
    model = RFFBoostDistribution(name, tree(monotone_constraints=(SIGN[tree], 0)), **FEW)
    if tree is Tree and 0 in loss.monotone:
        with pytest.raises(ValueError, match="Tree: monotone_constraints bind all scores, but predictions of"):
            model.fit(X, y)
        return
    assert (SIGN[tree] * steps(model.fit(X, y))).min() > -1e-6
    for score, bound in zip(np.diff(model.raw_scores(GRID), axis=0).T, loss.monotone, strict=True):
        assert bound != 0 or score.min() < 0.0 < score.max()


def test_hosts_refuse_constraints_of_free_scores():
    with pytest.raises(ValueError, match=r"monotone_constraints binds all scores and must be unset, got \(1, 0\)"):
        XGBRegressor(loss="normal", n_estimators=2, monotone_constraints=(1, 0)).fit(X, X[:, 0])
