"""Learning rate, folds and kinds of models, as the size of the table chooses them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, RFFRidge
from rffboost_ext.boosting import validation_split
from rffboost_ext.boosting.callbacks import Progress
from rffboost_ext.boosting.steps import Shrunk
from rffboost_ext.boosting.training import Trainer
from rffboost_ext.estimators import defaults as policy
from rffboost_ext.learners.mixture import MANY_FEATURES


@pytest.mark.parametrize(("n", "refit"), [(9_999, True), (10_000, False)])
def test_one_part_is_held_out_and_refitted_below_some_number_of_rows(n: int, refit: bool) -> None:
    assert RFFBoostClassifier()._plan(np.arange(n)[:, None] % 2, 10, None).refit == refit


@pytest.mark.parametrize(
    ("params", "n", "refits"),
    [
        ({}, policy.FEW + 1, [True, False]),
        ({"refit": True}, policy.FEW + 1, [True, True]),
        ({"n_folds": 1}, policy.FEW, [True, True, True]),
        ({"quality": "fast"}, policy.FEW + 1, [True]),
    ],
    ids=repr,
)
def test_what_is_refitted_of_many_rows(params, n: int, refits: list[bool]) -> None:
    model = RFFBoostRegressor(**params)
    assert model._plan(np.zeros((n, 1)), 10, None).refit
    loss, learner, step = model._parts()
    trainer = Trainer(loss, learner, Shrunk(step, 0.1), True, 0, 1, "float32")
    assert [one.refits for one in model._trainers(trainer, policy.TableSize(n, 3), None)] == refits


@pytest.mark.parametrize(
    ("params", "n", "d", "expected"),
    [
        ({}, 999, policy.SPACIOUS - 1, (512, 6.0)),
        ({}, policy.FEW, policy.SPACIOUS - 1, (256, 6.0)),
        ({}, 999, policy.SPACIOUS, (2_048, 12.0)),
        ({}, policy.MIDDLING, policy.SPACIOUS, (256, 6.0)),
        ({"quality": "high"}, 999, 3, (2_048, 12.0)),
        ({"quality": "high"}, policy.MIDDLING, 3, (1_024, 12.0)),
    ],
    ids=repr,
)
def test_kernel_machines_have_more_frequencies_for_more_features(params, n, d, expected) -> None:
    model = RFFBoostRegressor(**params)
    loss, learner, step = model._parts()
    trainer = Trainer(loss, learner, Shrunk(step, 0.1), True, 0, 1, "float32")
    (machine,) = [
        one.learner
        for one in model._trainers(trainer, policy.TableSize(n, d), None)
        if isinstance(one.learner, RFFRidge)
    ]
    assert (machine.n_components, machine.per_degree) == expected


@pytest.mark.parametrize(
    ("params", "n", "held", "rate", "n_models"),
    [
        ({}, 60, False, 0.3, 15),
        ({}, 49, False, 0.3, 8),
        ({"n_iter_no_change": 5}, 49, False, 0.3, 8),
        ({"quality": "fast"}, 60, False, 0.3, 5),
        ({"quality": "fast"}, 49, False, 0.3, 4),
        ({}, 101, False, 0.1, 2),
        ({}, 60, True, 0.1, 3),
        ({}, 49, True, 0.1, 2),
        ({"n_folds": 3}, 49, False, 0.3, 6),
        ({"n_folds": 3, "quality": "fast"}, 60, False, 0.3, 3),
        ({"early_stopping": False}, 60, False, 0.1, 1),
        ({"quality": "high"}, 60, False, 0.3, 30),
        ({"quality": "high"}, 49, False, 0.3, 16),
        ({"quality": "high"}, 49, True, 0.1, 2),
        ({"quality": "high", "n_folds": 3}, 49, False, 0.3, 6),
        ({"quality": "high", "learning_rate": 0.3}, 49, False, 0.3, 10),
        ({"quality": "high", "learner": "mixture"}, 60, False, 0.1, 15),
        ({"quality": "high"}, 101, False, 0.1, 10),
        ({"learner": "mixture"}, 60, False, 0.1, 4),
        ({"learner": "mixture", "quality": "fast"}, 60, False, 0.1, 4),
        ({"learning_rate": 0.2}, 60, False, 0.2, 15),
        ({"learning_rate": lambda index: 0.4}, 60, False, 0.4, 15),
        ({"learning_rate": 0.2}, 49, False, 0.2, 10),
    ],
)
def test_rate_and_number_of_models_are_chosen_by_the_rows(monkeypatch, params, n, held, rate, n_models) -> None:
    monkeypatch.setattr(policy, "FEW", 100)
    monkeypatch.setattr(validation_split, "FEW", 100)
    monkeypatch.setattr(policy, "MIDDLING", 50)
    X, rates, starts = np.random.default_rng(0).normal(size=(n, 2)), set(), []

    def watch(progress: Progress) -> None:
        rates.add(progress.round.shrinkage)
        starts.append(progress.round.index == 0)

    shared = {"n_estimators": 2, "callbacks": [watch], "random_state": 0}
    model = RFFBoostRegressor(**shared | params).fit(X, X[:, 0], eval_set=[(X, X[:, 0])] if held else None)
    assert rates == {rate}
    assert sum(starts) == n_models
    assert model.n_estimators_ >= 2


@pytest.mark.parametrize("make", [RFFBoostClassifier, RFFBoostRegressor])
@pytest.mark.parametrize("quality", ["auto", "fast", "high"])
@pytest.mark.parametrize("n", [policy.MIDDLING - 1, policy.MIDDLING, policy.FEW, policy.FEW + 1])
@pytest.mark.parametrize("d", [MANY_FEATURES - 1, MANY_FEATURES])
def test_longer_steps_are_waited_for_less(make, quality: str, n: int, d: int) -> None:
    model = make(quality=quality)
    pace = model._pace(policy.TableSize(n, d), None, None)
    patience = model._plan(np.arange(n)[:, None] % 2, 10, None, pace).patience.after(1)
    assert (pace.rate > 0.1) == (n <= policy.FEW and d < MANY_FEATURES)
    assert (patience < 40) == (quality != "high" or n <= policy.FEW)
    assert pace.rate * patience >= 2.0


@pytest.mark.parametrize(
    ("n", "d", "rate", "n_folds", "n_kinds"),
    [
        (policy.MIDDLING - 1, MANY_FEATURES - 1, 0.3, 4, 2),
        (policy.MIDDLING - 1, MANY_FEATURES, 0.1, 4, 3),
        (policy.FEW, MANY_FEATURES - 1, 0.3, 5, 3),
        (policy.FEW, MANY_FEATURES, 0.1, 5, 3),
        (policy.FEW + 1, MANY_FEATURES, 0.1, 1, 2),
    ],
)
def test_many_features_are_given_shorter_steps(n: int, d: int, rate: float, n_folds: int, n_kinds: int) -> None:
    model, size = RFFBoostRegressor(), policy.TableSize(n, d)
    pace = model._pace(size, None, None)
    loss, learner, step = model._parts()
    trainers = model._trainers(Trainer(loss, learner, Shrunk(step, rate), True, 0, 1, "float32"), size, None)
    plan = model._plan(np.zeros((n, 1)), 10, None, pace)
    assert (pace.rate, plan.n_folds, len(trainers)) == (rate, n_folds, n_kinds)
    machines = [one.learner for one in trainers if isinstance(one.learner, RFFRidge)]
    assert [machine.relative_rate * rate >= 1.0 for machine in machines] == [True] * (n <= policy.FEW)


def test_few_of_many_features_are_found() -> None:
    X, y = make_friedman1(600, MANY_FEATURES, noise=1.0, random_state=0)
    scores = []
    for shown in (X, X[:, : MANY_FEATURES - 1]):
        model = RFFBoostRegressor(random_state=0).fit(shown[:300], y[:300])
        scores.append(model.score(shown[300:], y[300:]))
    assert scores[0] > scores[1]
