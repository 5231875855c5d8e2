"""Learning rate, folds and members, as the size of the data chooses them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from rffboost_ext import (
    RFFIRLS,
    LassoPath,
    Mixture,
    Progress,
    RFFBoostClassifier,
    RFFBoostRegressor,
    RFFRidge,
    SymmetricTree,
)
from rffboost_ext.boosting.early_stopping import validation_split
from rffboost_ext.boosting.early_stopping.validation_split import FEW
from rffboost_ext.data.dataset import Dataset
from rffboost_ext.estimators import defaults
from rffboost_ext.estimators.defaults import (
    MANY_FEATURES,
    MEDIUM,
    NO_REFIT,
    SPACIOUS,
    relative_tree_rate,
    tree_depth,
)

from ..plans import planned, planned_on


@pytest.mark.parametrize(("n", "refit"), [(9_999, True), (10_000, False)])
def test_a_fast_model_is_refitted_below_some_number_of_rows(n: int, refit: bool) -> None:
    assert planned(RFFBoostClassifier(quality="fast"), n).refit == refit


@pytest.mark.parametrize(
    ("params", "n", "refits"),
    [
        ({}, FEW + 1, [True, True, False]),
        ({"refit": True}, FEW + 1, [True, True, True]),
        ({}, 9_999, [True, True, False]),
        ({}, 10_000, [True, False, False]),
        ({"refit": True}, 10_000, [True, True, True]),
        ({"n_folds": 1}, FEW, [True, True, True, True]),
        ({"quality": "fast"}, FEW + 1, [True]),
    ],
    ids=repr,
)
def test_members_that_are_refitted(params, n: int, refits: list[bool]) -> None:
    plan = planned(RFFBoostRegressor(**params), n)
    assert plan.refit
    assert [member.refits for member in plan.members] == refits


@pytest.mark.parametrize(
    ("params", "n", "d", "expected"),
    [
        ({}, 999, SPACIOUS - 1, (512, 6.0)),
        ({}, FEW, SPACIOUS - 1, (256, 6.0)),
        ({}, 999, SPACIOUS, (2_048, 12.0)),
        ({}, MEDIUM, SPACIOUS, (256, 6.0)),
        ({"quality": "high"}, 999, 3, (512, 6.0)),
        ({"quality": "high"}, 999, SPACIOUS, (2_048, 12.0)),
        ({"quality": "high"}, MEDIUM, 3, (1_024, 12.0)),
    ],
    ids=repr,
)
def test_kernel_machines_have_more_frequencies_for_more_features(params, n, d, expected) -> None:
    learners = [member.learner for member in planned(RFFBoostRegressor(**params), n, d).members]
    (machine,) = [learner for learner in learners if isinstance(learner, RFFRidge)]
    assert (machine.n_components, machine.per_degree) == expected


@pytest.mark.parametrize(
    ("params", "n", "held", "rate", "n_models"),
    [
        ({}, 60, False, 0.3, 16),
        ({}, 49, False, 0.3, 9),
        ({"n_iter_no_change": 5}, 49, False, 0.3, 9),
        ({"quality": "fast"}, 60, False, 0.2, 1),
        ({"quality": "fast"}, 101, True, 0.2, 1),
        ({"quality": "fast", "learning_rate": 0.4}, 49, False, 0.4, 1),
        ({}, 101, False, 0.1, 3),
        ({}, 60, True, 0.1, 4),
        ({}, 49, True, 0.1, 3),
        ({"n_folds": 3}, 49, False, 0.3, 7),
        ({"n_folds": 3, "quality": "fast"}, 60, False, 0.2, 3),
        ({"early_stopping": False}, 60, False, 0.1, 1),
        ({"quality": "high"}, 60, False, 0.3, 31),
        ({"quality": "high"}, 49, False, 0.3, 33),
        ({"quality": "high"}, 49, True, 0.1, 3),
        ({"quality": "high", "n_folds": 3}, 49, False, 0.3, 7),
        ({"quality": "high", "learning_rate": 0.3}, 49, False, 0.3, 11),
        ({"quality": "high", "learner": "mixture"}, 60, False, 0.1, 21),
        ({"quality": "high"}, 101, False, 0.1, 15),
        ({"learner": "mixture"}, 60, False, 0.1, 4),
        ({"learner": "mixture", "quality": "fast"}, 60, False, 0.1, 4),
        ({"learning_rate": 0.2}, 60, False, 0.2, 16),
        ({"learning_rate": lambda index: 0.4}, 60, False, 0.4, 16),
        ({"learning_rate": 0.2}, 49, False, 0.2, 11),
    ],
)
def test_rate_and_number_of_models_are_chosen_by_the_rows(monkeypatch, params, n, held, rate, n_models) -> None:
    for module in (defaults, validation_split):
        monkeypatch.setattr(module, "FEW", 100)
    monkeypatch.setattr(defaults, "MEDIUM", 50)
    X, rates, starts = np.random.default_rng(0).normal(size=(n, 2)), set(), []

    def watch(progress: Progress) -> None:
        rates.add(progress.round.shrinkage)
        starts.append(progress.round.index == 0)

    shared = {"n_estimators": 2, "callbacks": [watch], "random_state": 0}
    model = RFFBoostRegressor(**shared | params).fit(X, X[:, 0], eval_set=[(X + 1.0, X[:, 0])] if held else None)
    assert rates == {rate}
    assert sum(starts) == n_models
    assert model.n_estimators_ >= 2


@pytest.mark.parametrize("make", [RFFBoostClassifier, RFFBoostRegressor])
@pytest.mark.parametrize("quality", ["auto", "high"])
@pytest.mark.parametrize("n", [MEDIUM - 1, MEDIUM, FEW, FEW + 1])
@pytest.mark.parametrize("d", [MANY_FEATURES - 1, MANY_FEATURES])
def test_longer_steps_have_less_patience(make, quality: str, n: int, d: int) -> None:
    plan = planned(make(quality=quality), n, d)
    waits = plan.patience.wait_after(1)
    assert (plan.learning_rate > 0.1) == (n <= FEW and d < MANY_FEATURES)
    assert (waits < 40) == (quality != "high" or n <= FEW)
    assert plan.learning_rate * waits >= 2.0


@pytest.mark.parametrize(
    ("n", "d", "rate", "n_folds", "n_members"),
    [
        (MEDIUM - 1, MANY_FEATURES - 1, 0.3, 4, 3),
        (MEDIUM - 1, MANY_FEATURES, 0.1, 4, 4),
        (FEW, MANY_FEATURES - 1, 0.3, 5, 4),
        (FEW, MANY_FEATURES, 0.1, 5, 4),
        (FEW + 1, MANY_FEATURES, 0.1, 1, 3),
    ],
)
def test_many_features_have_shorter_steps(n: int, d: int, rate: float, n_folds: int, n_members: int) -> None:
    plan = planned(RFFBoostRegressor(), n, d)
    assert (plan.learning_rate, plan.n_folds, len(plan.members)) == (rate, n_folds, n_members)
    machines = [member.learner for member in plan.members if isinstance(member.learner, RFFRidge)]
    assert [machine.relative_rate * rate >= 1.0 for machine in machines] == [True] * (n <= FEW)


def test_few_of_many_features_are_found() -> None:
    X, y = make_friedman1(600, MANY_FEATURES, noise=1.0, random_state=0)
    scores = []
    for shown in (X, X[:, : MANY_FEATURES - 1]):
        model = RFFBoostRegressor(random_state=0).fit(shown[:300], y[:300])
        scores.append(model.score(shown[300:], y[300:]))
    assert scores[0] > scores[1]


@pytest.mark.parametrize(("factor", "rate"), [(1.0, 0.3), (3.0, 0.3), (20.0, 0.1)])
@pytest.mark.parametrize("n", [200, 1_500])
def test_steps_are_short_where_few_rows_have_most_of_the_weight(factor: float, rate: float, n: int) -> None:
    weight = np.where(np.arange(n) < n // 20, factor, 1.0)
    data = Dataset(np.zeros((n, 3)), np.zeros((n, 1)), weight)
    assert data.effective_size == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    model = RFFBoostRegressor()
    assert planned_on(model, data).learning_rate == rate
    classifier = RFFBoostClassifier()
    members = planned_on(classifier, data).members
    assert any(isinstance(member.learner, RFFIRLS) for member in members) == (rate == 0.3)


def test_rates_and_depths_grow_with_the_rows() -> None:
    sizes = [FEW + 1, 16_000, 64_000, 131_072, 131_073, 260_000, 400_000, 10**7]
    rates, depths = map(relative_tree_rate, sizes), map(tree_depth, sizes)
    for values, least, most in ((list(rates), 1.0, 3.0), (list(depths), 6, 8)):
        assert values == sorted(values)
        assert (values[0], values[-1]) == (least, most)
    assert relative_tree_rate(131_073) == pytest.approx(relative_tree_rate(131_072), rel=1e-5)


def test_a_linear_function_of_few_of_many_columns_is_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 400))
    y = X[:, :5].sum(axis=1) + 0.3 * rng.standard_normal(300)
    model = RFFBoostRegressor(random_state=0).fit(X[:140], y[:140])
    assert LassoPath in map(type, model.learners_)
    assert model.score(X[140:], y[140:]) > 0.9


@pytest.mark.parametrize(("n", "ordered"), [(MEDIUM - 1, [True]), (MEDIUM, [False]), (FEW, [False])])
def test_all_rows_order_levels_from_medium_sizes_on(n: int, ordered: list[bool]) -> None:
    assert ordered_by_others(n) == ordered


@pytest.mark.parametrize("n", [FEW + 1, NO_REFIT])
def test_with_many_rows_the_mixture_alone_orders_levels_by_all_rows(n: int) -> None:
    assert ordered_by_others(n) == [True, False]


def ordered_by_others(n: int) -> list[bool]:
    """For each kind of trees of a default fit, whether other rows order the levels of a category."""
    learners = [member.learner for member in planned(RFFBoostRegressor(), n).members]
    trees = [learner.trees if isinstance(learner, Mixture) else learner for learner in learners]
    return [one.ordered for one in trees if isinstance(one, SymmetricTree)]
