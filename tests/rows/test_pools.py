"""Pools: of many rows a fit sees a part at a time."""

from __future__ import annotations

import numpy as np

from rffboost_ext import LEARNER_POLICIES, LOSSES, STEPS, LearnerPolicy, RFFBoostRegressor, RFFNewton
from rffboost_ext.boosting.plan import Member
from rffboost_ext.boosting.training import Trainer
from rffboost_ext.rows.dataset import Dataset

Array = np.ndarray


class Pooled(RFFNewton):
    """Sees few rows at a time."""


LEARNER_POLICIES[Pooled] = LearnerPolicy(pool_size=60)


def pooled(n_estimators: int, n: int = 400, **params: object) -> tuple[RFFBoostRegressor, Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.sin(2.0 * X[:, 0])
    settings = {"early_stopping": False, "random_state": 0, "learning_rate": 0.3} | params
    return RFFBoostRegressor(learner=Pooled(), n_estimators=n_estimators, **settings).fit(X, y), X, y


def test_many_rows_are_seen_a_pool_at_a_time() -> None:
    features: list[Array] = []
    model, X, y = pooled(120, callbacks=[lambda progress: features.append(progress.round.design.original)])
    assert len(features) == model.n_estimators_ == 120
    assert all(abs(len(rows) - 60) <= 25 for rows in features)
    assert len({id(rows) for rows in features}) == 3
    assert model.score(X, y) > 0.9


def test_a_warm_start_after_pools_computes_scores_of_all_rows() -> None:
    model, X, y = pooled(3, warm_start=True)
    model.set_params(learner="rff_newton", n_estimators=5).fit(X, y)
    assert model.n_estimators_ == 5


def test_few_rows_are_seen_at_once() -> None:
    sizes: list[int] = []
    pooled(3, n=120, callbacks=[lambda progress: sizes.append(progress.round.design.n_samples)])
    assert sizes == [120] * 3


def test_pools_go_with_early_stopping() -> None:
    model, X, y = pooled(200, early_stopping=True, n_folds=1, refit=False, n_iter_no_change=8)
    assert 1 <= model.n_estimators_ < 200
    assert model.score(X, y) > 0.8


def test_a_pool_is_the_same_whenever_it_is_drawn() -> None:
    rng = np.random.default_rng(1)
    rows = Dataset(rng.normal(size=(500, 2)), (rng.random((500, 1)) < 0.1).astype(float), np.ones(500))
    member = Member(Pooled(), STEPS.create("unit"), pool_size=60)
    trainer = Trainer(LOSSES.create("log_loss"), member, True, 7, 1, "float32")
    drawn: list[list[set[tuple[float, ...]]]] = [[], []]
    for pools in drawn:
        trainer.fit(
            rows, 101, [lambda progress, pools=pools: pools.append({*map(tuple, progress.round.design.original)})]
        )
    assert drawn[0] == drawn[1]
    assert drawn[0][0] == drawn[0][49] != drawn[0][50]
    assert len(drawn[0][0] & drawn[0][50]) < 40
