"""Recipes: values that say what a fit trains, and what a fit has trained."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, PredefinedSplit

from rffboost_ext import RFFBoostRegressor, SymmetricTree
from rffboost_ext.recipes import (
    Facts,
    MemberRule,
    Patience,
    PatienceLimit,
    Recipe,
    TrainingCondition,
    choose_recipe,
)
from rffboost_ext.terms import SymmetricTrees

from ..own_parts import LeastSquares
from .recipe_cases import NEW, OWN, PAIR, SHORT, TREES, AfterRounds, N, Planes, X, Y, fitted, n_models, same_bits

# A recipe is a value.


@pytest.mark.parametrize("n", [500, 2_000, 5_000, 50_000])
def test_recipes_of_equal_facts_are_equal(n: int) -> None:
    one, other = (choose_recipe(Facts(n, 10, n_classes=3)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert clone(RFFBoostRegressor(quality=one)).quality == one
    assert len(set(one.names)) == len(one.names)
    assert all(name in str(one) for name in one.names)


def test_the_text_of_a_recipe_is_the_same_in_another_process() -> None:
    class Asking:
        def is_met(self, runs: Any, others: Any) -> bool:
            return True

    recipe = replace(PAIR.changed("cosines", when=Asking()), learning_rate=lambda t: 0.1)
    assert "Asking object" in str(recipe)
    assert "<lambda>" in str(recipe)
    assert " at 0x" not in str(recipe)
    assert str(recipe).count("a model of each fold") == 2
    assert str(replace(recipe, n_folds=1)).count("one model") == 2


def test_recipes_that_differ_in_a_parameter_of_a_learner_are_different() -> None:
    deeper = PAIR.changed("trees", learner=SymmetricTree(leaf="linear", max_depth=4))
    assert deeper != PAIR
    assert deeper.changed("trees", learner=SymmetricTree(leaf="linear", max_depth=3)) == PAIR
    assert {deeper, PAIR, replace(PAIR)} == {deeper, PAIR}
    assert PAIR != "auto"


def test_the_recipe_of_the_facts_is_the_default() -> None:
    y = np.digitize(Y, [-0.5, 0.5])
    default, recipe = fitted("auto", y), choose_recipe(Facts(N, 4, effective_size=float(N), n_classes=3))
    assert default.recipe_ == recipe
    assert same_bits(default, fitted(recipe, y))


@pytest.mark.parametrize(
    ("params", "given"),
    [
        ({}, {}),
        ({"n_folds": 1}, {}),
        ({"n_folds": 3, "refit": True}, {}),
        ({"learning_rate": 0.2, "n_iter_no_change": 2, "refit": False}, {}),
        ({"quality": "fast"}, {}),
        ({"learner": "symmetric_tree"}, {}),
        ({"learner": "rff_newton", "n_folds": 2}, {}),
        ({"early_stopping": False}, {}),
        ({}, {"eval_set": [(NEW, NEW[:, 2])]}),
        ({}, {"groups": np.arange(N) // 4}),
        ({}, {"init_model": RFFBoostRegressor(learner="tree", n_estimators=2).fit(X, Y)}),
    ],
    ids=lambda one: ", ".join(f"{k}={v!r:.20}" for k, v in one.items()) or "-",
)
def test_the_recipe_of_a_fit_gives_the_same_model(params: dict[str, Any], given: dict[str, Any]) -> None:
    first = RFFBoostRegressor(**SHORT | params).fit(X, Y, **given)
    again = RFFBoostRegressor(quality=first.recipe_, **SHORT).fit(X, Y, **given)
    assert again.recipe_ == first.recipe_
    assert same_bits(first, again)


def test_a_metric_and_a_splitter_with_the_recipe_of_a_fit() -> None:
    shared = {"eval_metric": "absolute_error", "validation_fraction": KFold(3)}
    first = fitted("auto", **shared)
    assert same_bits(first, fitted(first.recipe_, **shared))


# What its entries do.


def test_entries_are_followed() -> None:
    rates: dict[str, set[float]] = {}

    def watch(progress: Any) -> None:
        rates.setdefault(progress.model.learner, set()).add(progress.round.shrinkage)

    recipe = PAIR.changed("cosines", learning_rate=0.05, n_models=1)
    model = fitted(recipe, callbacks=[watch])
    assert rates == {"symmetric_tree": {0.2}, "rff_newton": {0.05}}
    assert model.learning_rate_ == 0.2
    assert model.n_folds_ == 3
    assert {"trees": 3, "cosines": 1}.items() >= n_models(model).items()
    assert fitted(recipe.without("cosines")).member_names_ == ["trees"]
    assert set(map(len, fitted(replace(recipe, n_folds=2))._n_rounds)) <= {1, 2}


def test_parameters_of_the_estimator_override_entries() -> None:
    model = fitted(PAIR, learning_rate=0.05, n_folds=2, n_iter_no_change=3)
    assert (model.learning_rate_, model.n_folds_, model.recipe_.patience.rounds) == (0.05, 2, 3)
    assert model.recipe_.names == PAIR.names


def test_patience_and_its_limit() -> None:
    def rounds(recipe: Recipe) -> list[int]:
        curves = RFFBoostRegressor(quality=recipe, n_estimators=60, random_state=0).fit(X, Y).validation_curves_
        return [len(curve) for curve in curves[0]]

    alone = replace(PAIR.without("cosines"), learning_rate=0.5, patience=Patience(20))
    shorter = [replace(alone, patience=Patience(2)), alone.changed("trees", limit=PatienceLimit(2))]
    assert rounds(shorter[0]) == rounds(shorter[1])
    assert sum(rounds(shorter[0])) < sum(rounds(alone))
    assert set(rounds(replace(alone, patience=Patience(60)))) == {61}


def test_without_patience_all_rounds_are_trained() -> None:
    recipe = replace(PAIR.without("trees"), patience=None)
    model = fitted(recipe)
    assert model.n_estimators_ == SHORT["n_estimators"]
    assert same_bits(model, fitted("auto", learner="rff_newton", learning_rate=0.2, early_stopping=False))


@pytest.mark.parametrize(("after", "count"), [("keep", 3), ("replay", 3), ("refit", 1)])
@pytest.mark.parametrize("learner", ["symmetric_tree", Planes()], ids=str)
def test_models_after_early_stopping(after: str, count: int, learner: Any) -> None:
    recipe = Recipe([MemberRule("one", learner, after)], 0.3, Patience(5), n_folds=3)
    assert n_models(fitted(recipe)) == {"one": count}


@pytest.mark.parametrize(("n", "count"), [(None, 3), (2, 2), (1, 1)])
def test_learners_without_refit_keep_several_models_and_refit_a_single_one(n: int | None, count: int) -> None:
    rule = MemberRule("one", LeastSquares(), "replay", n)
    recipe = Recipe([rule], 0.3, Patience(5), n_folds=3)
    known = "refit" if n == 1 else "keep"
    assert n_models(fitted(recipe)) == {"one": count}
    assert same_bits(fitted(recipe), fitted(recipe.changed("one", after=known)))


@pytest.mark.parametrize(("refit", "uses_all"), [(False, False), ("auto", True)])
def test_replays_use_the_rows_that_were_held_out(refit: Any, uses_all: bool) -> None:
    fold = np.where(np.arange(N) < 30, 0, -1)
    recipe = Recipe([replace(TREES, after="replay")], 0.1, Patience(5))
    models = []
    for weight in (1.0, 7.0):
        model = RFFBoostRegressor(
            quality=recipe, n_estimators=3, random_state=0, refit=refit, validation_fraction=PredefinedSplit(fold)
        )
        models.append(model.fit(X, Y, sample_weight=np.where(np.arange(N) == 5, weight, 1.0)))
    trees = [[term.innermost for term in model.ensemble_.terms] for model in models]
    assert all(isinstance(one, SymmetricTrees) for row in trees for one in row)
    assert all(np.array_equal(a.feature, b.feature) for a, b in zip(*trees, strict=True))
    assert same_bits(*models) != uses_all


def test_a_condition_is_asked_with_the_models_of_members_before() -> None:
    asked: list[tuple[int, list[int]]] = []

    class Asking:
        def is_met(self, runs: Any, others: Any) -> bool:
            asked.append((len(runs), [len(row) for row in others]))
            return len(runs) < 2

    model = fitted(PAIR.changed("cosines", when=Asking()))
    assert asked == [(k, [3]) for k in range(3)]
    assert model.member_names_ == ["trees"]
    assert same_bits(model, fitted(PAIR.without("cosines")))


def test_the_model_does_not_depend_on_threads() -> None:
    assert same_bits(fitted(OWN), fitted(OWN, n_jobs=2))


# What is no recipe.


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: Recipe([]), ValueError, "Recipe: members must be at least one"),
        (lambda: Recipe([TREES, TREES]), ValueError, "Recipe: members .* of different names"),
        (lambda: Recipe("trees"), TypeError, "Recipe: members must be a sequence of MemberRule"),
        (lambda: Recipe([SymmetricTree()]), TypeError, "Recipe: members must be a sequence of MemberRule"),
        (lambda: Recipe([TREES], learning_rate=0.0), ValueError, "Recipe: learning_rate"),
        (lambda: Recipe([TREES], patience=5), TypeError, "Recipe: patience"),
        (lambda: Recipe([TREES], n_folds=0), ValueError, "Recipe: n_folds"),
        (
            lambda: replace(PAIR, patience=None),
            ValueError,
            "Recipe: members must be a single one where patience is None",
        ),
        (lambda: PAIR.changed("trees", when=AfterRounds(1)), ValueError, "Recipe: when of the first member"),
        (lambda: PAIR.changed("lines", n_models=1), ValueError, r"name must be one of \['trees', 'cosines'\]"),
        (lambda: PAIR.without("lines"), ValueError, r"name must be one of \['trees', 'cosines'\]"),
        (
            lambda: PAIR.changed("trees", learner=SymmetricTree(monotone_constraints=(1, 0, 0, 0))),
            ValueError,
            r"monotone_constraints must hold for all members, but the learners of \['cosines'\]",
        ),
        (lambda: PAIR.without(*PAIR.names), ValueError, "Recipe: members must be at least one"),
        (lambda: MemberRule(1, "tree"), TypeError, "MemberRule: name"),
        (lambda: MemberRule("a", 3), TypeError, "MemberRule: learner"),
        (lambda: MemberRule("a", "tre"), ValueError, "unknown learner 'tre'.*tree"),
        (lambda: MemberRule("a", "tree", "keeps"), ValueError, "MemberRule: after"),
        (lambda: MemberRule("a", "tree", n_models=0), ValueError, "MemberRule: n_models"),
        (lambda: MemberRule("a", "tree", learning_rate=-1.0), ValueError, "MemberRule: learning_rate"),
        (lambda: MemberRule("a", "tree", limit=3), TypeError, "MemberRule: limit"),
        (lambda: MemberRule("a", "tree", when="always"), TypeError, "MemberRule: when"),
        (lambda: MemberRule("a", "tree", when=AfterRounds), TypeError, "MemberRule: when"),
    ],
)
def test_an_invalid_recipe_is_an_error_that_names_the_entry(make: Any, error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        make()


@pytest.mark.parametrize(
    ("params", "error", "words"),
    [
        ({"quality": "best"}, ValueError, "quality must be .*auto.*fast.*Recipe"),
        ({"quality": TREES}, TypeError, "quality must be .*Recipe"),
        ({"quality": PAIR, "learner": "tree"}, ValueError, "learner must be 'auto' where quality is a Recipe"),
        ({"quality": PAIR, "early_stopping": False}, ValueError, "early_stopping must be True .*Recipe"),
        ({"quality": PAIR, "warm_start": True}, ValueError, "early_stopping must be True .*Recipe"),
    ],
)
def test_parameters_that_do_not_go_with_a_recipe(params: dict[str, Any], error: type, words: str) -> None:
    with pytest.raises(error, match=words):
        RFFBoostRegressor(**SHORT | params).fit(X, Y)


def test_a_training_condition_of_the_package() -> None:
    always, never = TrainingCondition(), TrainingCondition(max_loss=0.0)
    assert same_bits(fitted(PAIR.changed("cosines", when=always)), fitted(PAIR))
    assert fitted(PAIR.changed("cosines", when=never)).member_names_ == ["trees"]
