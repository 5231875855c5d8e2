"""Recipes of default fits, as the size and the kind of the data choose them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, RFFRidge
from rffboost_ext.estimators.defaults import FEW, MANY_FEATURES, MEDIUM, TREE_ROWS
from rffboost_ext.recipes import Facts, Recipe, choose_recipe
from rffboost_ext.rows.dataset import Dataset

from ..plans import recipe_for, rows_of

SIZES = [300, MEDIUM - 1, MEDIUM, FEW, FEW + 1, 20_000, 10**6]
KINDS = {
    "regression": Facts(1, 10),
    "two classes": Facts(1, 10, n_classes=2),
    "classes": Facts(1, 10, n_classes=9),
    "wide": Facts(1, 200),
    "sparse": Facts(1, 50_000, is_sparse=True),
    "ranking": Facts(1, 10, rows="groups", n_groups=30),
    "unequal weights": Facts(1, 10, n_classes=2, effective_size=1.0),
}


def member(recipe: Recipe, name: str):
    return next(one for one in recipe.members if one.name == name)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("facts", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("quality", ["auto", "fast"])
def test_each_recipe_is_a_value_whose_held_out_rows_are_shared(facts: Facts, n: int, quality: str) -> None:
    facts = replace(facts, n_samples=n)
    recipe = choose_recipe(facts, quality)
    assert repr(recipe) == repr(choose_recipe(facts, quality))
    assert all(1 <= (one.n_models or recipe.n_folds) <= recipe.n_folds for one in recipe.members)
    # Regression has no least loss.
    assert (recipe.patience.converged_below > 0.0) == (facts.n_classes is not None)
    if quality == "fast" and facts.rows != "groups":
        assert [one.name for one in recipe.members] == ["trees", "ridge regression"][: 1 + facts.is_sparse]


def test_more_rows_have_no_more_models_of_trees() -> None:
    sizes = range(FEW + 1, 3 * TREE_ROWS, 500)
    models = [member(choose_recipe(Facts(n, 10)), "trees").n_models for n in sizes]
    assert models == sorted(models, reverse=True)
    assert (models[0], models[-1]) == (TREE_ROWS // (FEW + 1), 1)
    # As many rows in all, whatever their number.
    assert all(n * count <= max(n, TREE_ROWS) for n, count in zip(sizes, models, strict=True))


@pytest.mark.parametrize("n", [MEDIUM - 1, MEDIUM, FEW, FEW + 1])
@pytest.mark.parametrize("d", [MANY_FEATURES - 1, MANY_FEATURES])
def test_longer_steps_have_less_patience(n: int, d: int) -> None:
    recipe = choose_recipe(Facts(n, d))
    assert (recipe.learning_rate > 0.1) == (n <= FEW and d < MANY_FEATURES)
    assert recipe.learning_rate * recipe.patience.wait_after(1) >= 2.0
    machines = [one.learner for one in recipe.members if isinstance(one.learner, RFFRidge)]
    assert [one.relative_rate * recipe.learning_rate >= 1.0 for one in machines] == [True] * (n <= FEW)
    assert ("lasso" in recipe.names) == (d >= MANY_FEATURES and n <= FEW)


@pytest.mark.parametrize(("factor", "rate"), [(1.0, 0.3), (3.0, 0.3), (20.0, 0.1)])
@pytest.mark.parametrize("n", [200, 1_500])
def test_steps_are_short_where_few_rows_have_most_of_the_weight(factor: float, rate: float, n: int) -> None:
    weight = np.where(np.arange(n) < n // 20, factor, 1.0)
    data = Dataset(np.zeros((n, 3)), np.zeros((n, 1)), weight)
    assert data.effective_size == pytest.approx(weight.sum() ** 2 / (weight**2).sum())
    assert recipe_for(RFFBoostRegressor(), data).learning_rate == rate
    assert (recipe_for(RFFBoostRegressor(quality="fast"), data).learning_rate > 0.1) == (rate == 0.3)
    names = recipe_for(RFFBoostClassifier(), data).names
    assert ("kernel logistic regression" in names) == (rate == 0.3)


def test_cosines_of_many_rows_of_classes_have_a_least_hessian() -> None:
    learners = [one.learner for one in choose_recipe(Facts(FEW + 1, 10, n_classes=2)).members]
    assert all(getattr(one, "cosines", one).min_hessian > 0.0 for one in learners[1:])


PARAMETERS = [
    ({"learning_rate": 0.2}, lambda recipe: recipe.learning_rate == 0.2 and recipe.patience.rounds == 40),
    ({"n_iter_no_change": 7}, lambda recipe: recipe.patience.rounds == 7),
    ({"n_folds": 3}, lambda recipe: recipe.n_folds == 3 and all(one.n_models is None for one in recipe.members)),
    ({"n_folds": 3}, lambda recipe: "refit" not in [one.after for one in recipe.members]),
    ({"n_folds": 1}, lambda recipe: "keep" not in [one.after for one in recipe.members]),
    ({"refit": False}, lambda recipe: {one.after for one in recipe.members} == {"keep"}),
    ({"refit": True}, lambda recipe: "keep" not in [one.after for one in recipe.members]),
    ({"eval_metric": "accuracy"}, lambda recipe: recipe.patience.converged_below == 0.0),
    ({"learner": "rff_1"}, lambda recipe: len(recipe.members) == 1 and recipe.learning_rate == 0.1),
    ({"learner": "symmetric_tree"}, lambda recipe: [one.after for one in recipe.members] == ["replay"]),
]


@pytest.mark.parametrize("n", [200, 5_000])
@pytest.mark.parametrize(("params", "holds"), PARAMETERS, ids=[str(params) for params, _ in PARAMETERS])
def test_parameters_replace_entries_of_the_recipe(params, holds, n: int) -> None:
    assert holds(recipe_for(RFFBoostClassifier(**params), rows_of(n)))


@pytest.mark.parametrize("n", [200, 5_000])
def test_one_model_of_each_member_has_short_steps(n: int) -> None:
    recipe = recipe_for(RFFBoostRegressor(), rows_of(n), monitored=True)
    assert recipe.learning_rate == 0.1
    assert {one.learning_rate for one in recipe.members} == {None}
    fast = [recipe_for(RFFBoostRegressor(quality="fast"), rows_of(n), monitored) for monitored in (False, True)]
    assert fast[0].learning_rate == fast[1].learning_rate
    # All rows are fitted to.
    for one in (recipe, fast[1]):
        assert one.n_folds == 1
        assert {(rule.n_models, rule.after) for rule in one.members} == {(None, "keep")}


def test_splits_of_a_splitter_have_a_model_each_and_one_of_all_rows() -> None:
    recipe = recipe_for(RFFBoostRegressor(), rows_of(5_000), n_splits=3)
    assert recipe.n_folds == 3
    assert {(one.n_models, one.after) for one in recipe.members} == {(None, "refit")}


@pytest.mark.parametrize(("n", "n_folds"), [(2, 1), (3, 1), (6, 3), (60, 4)])
def test_few_rows_have_fewer_folds(n: int, n_folds: int) -> None:
    assert recipe_for(RFFBoostRegressor(), rows_of(n)).n_folds == n_folds


@pytest.mark.parametrize(("n_groups", "n_models"), [(FEW, None), (FEW + 1, 1)])
def test_a_ranker_of_few_queries_has_a_model_of_each_fold(n_groups: int, n_models: int | None) -> None:
    recipe = choose_recipe(Facts(10 * FEW, 10, rows="groups", n_groups=n_groups))
    assert {one.n_models for one in recipe.members} == {n_models}
