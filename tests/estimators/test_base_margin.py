"""Offsets of scores: ``base_margin`` in fits and predictions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor

N = 240
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 3))
OFFSET = 1.5 * RNG.standard_normal(N)
SIGNAL = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1]
LABELS = (RNG.uniform(size=N) < expit(SIGNAL + OFFSET)).astype(int)
COUNTS = RNG.poisson(np.exp(SIGNAL + OFFSET))
PLAIN = {"n_estimators": 12, "random_state": 0}
KINDS = {
    "log_loss": (RFFBoostClassifier, LABELS),
    "exponential": (RFFBoostClassifier, LABELS),
    "poisson": (RFFBoostRegressor, COUNTS),
    "squared_error": (RFFBoostRegressor, SIGNAL + OFFSET),
}
every_loss = pytest.mark.parametrize("loss", KINDS)
every_learner = pytest.mark.parametrize("learner", ["auto", "tree", "rff_newton", "rff_ridge"])


def fitted(loss, base_margin=None, *, learner="rff_newton", rows=slice(None), **params):
    """A model of the rows."""
    cls, y = KINDS[loss]
    given = {} if base_margin is None else {"base_margin": base_margin[rows]}
    return cls(loss, learner, **PLAIN | params).fit(X[rows], y[rows], **given)


@every_loss
@every_learner
def test_an_offset_of_zero_is_none(loss, learner):
    plain, zero = fitted(loss, learner=learner), fitted(loss, np.zeros(N), learner=learner)
    np.testing.assert_allclose(zero.raw_scores(X, np.zeros(N)), plain.raw_scores(X), rtol=0, atol=1e-9)


@every_loss
@every_learner
def test_a_constant_moves_the_baseline_only(loss, learner):
    one, other = (fitted(loss, OFFSET + constant, learner=learner) for constant in (0.0, 5.0))
    np.testing.assert_allclose(other.ensemble_.raw(X) + 5.0, one.ensemble_.raw(X), rtol=0, atol=1e-9)


def test_an_offset_explains_what_it_explains():
    train, test = slice(0, 160), slice(160, None)
    probability = fitted("log_loss", OFFSET, learner="auto", rows=train).predict_proba(X[test], OFFSET[test])
    loss = -np.mean(np.log(probability[np.arange(80), LABELS[test]]))
    entropy = -np.mean(np.log(np.where(LABELS == 1, expit(SIGNAL + OFFSET), expit(-SIGNAL - OFFSET))[test]))
    assert loss < entropy + 0.12
