"""Fits of the same parts on several sets of rows: what each sees, and what they do not share."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import LEARNERS, LOSSES, STEPS, Shrunk
from rffboost_ext.boosting.early_stopping.patience import Patience
from rffboost_ext.boosting.plan import Member, Plan
from rffboost_ext.boosting.training import Trainer
from rffboost_ext.rows.dataset import Dataset

N = 150
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 3))
ROWS = Dataset(X, np.sin(2.0 * X[:, :1]) + 0.3 * RANDOM.normal(size=(N, 1)), np.ones(N))
KEPT, OUT = ROWS.take(np.arange(100)), ROWS.take(np.arange(100, N))


def trainer(learner: str, rate: float = 0.3) -> Trainer:
    """The same parts but for the learner."""
    member = Member(LEARNERS.create(learner), Shrunk(STEPS.create("unit"), rate))
    return Trainer(LOSSES.create("squared_error"), member, True, seed=1, n_jobs=1, precision="float64")


@pytest.mark.parametrize("learner", ["rff_newton", "rff_ridge", "mixture"])
def test_what_was_fitted_before_does_not_matter(learner: str) -> None:
    alone = trainer(learner).independent(2).fit(KEPT, 12)
    first = trainer(learner)
    for k in range(2):
        first.independent(k).fit(OUT, 12)
    np.testing.assert_array_equal(first.independent(2).fit(KEPT, 12).raw(X), alone.raw(X))
    assert first.learner_state == {}


def test_models_of_a_fit_have_seeds_of_their_own() -> None:
    first = trainer("rff_newton")
    found = [first.independent(k).fit(KEPT, 3).raw(X) for k in range(3)]
    assert np.abs(found[0] - found[1]).max() > 1e-3 < np.abs(found[1] - found[2]).max()


@pytest.mark.parametrize("given", [0, 5])
@pytest.mark.parametrize("beyond", [1.0, 1.25])
def test_rounds_beyond_the_best_are_a_share_of_the_new_ones(given: int, beyond: float) -> None:
    init = trainer("rff_newton", 0.02).fit(KEPT, given) if given else None
    plan = Plan([], 400, Patience(60))
    run = trainer("rff_newton", 0.1).fit_stopping(KEPT, OUT, plan, init=init, extra_rounds=beyond)
    best = int(run.scores.argmin())
    assert 20 < best < len(run.scores) - 20
    assert len(run.ensemble) == given + round(beyond * best)
