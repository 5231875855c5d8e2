"""Recipes: values that say what a fit trains, and what a fit has trained."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import KFold, PredefinedSplit

from onnx_export import convert_term, to_onnx, verify_onnx
from rffboost_ext import (
    LEARNERS,
    RFFBoostClassifier,
    RFFBoostRegressor,
    SymmetricTree,
    load_model,
    sources,
    storable,
)
from rffboost_ext.persistence.values import STORAGE_RULES
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

from ..own_parts import LeastSquares, Linear

N = 160
DRAWS = np.random.default_rng(0)
X, NEW = DRAWS.standard_normal((2, N, 4))
Y = X[:, 0] * X[:, 1] + X[:, 2] + 0.3 * DRAWS.standard_normal(N)
SHORT: dict[str, Any] = {"n_estimators": 12, "random_state": 0}
TREES = MemberRule("trees", SymmetricTree(leaf="linear", max_depth=3))
COSINES = MemberRule("cosines", "rff_newton")
PAIR = Recipe([TREES, COSINES], 0.2, Patience(5), n_folds=3)


def fitted(recipe: Recipe | str, y: Any = Y, **params: Any) -> Any:
    make = RFFBoostRegressor if y.dtype == Y.dtype else RFFBoostClassifier
    return make(quality=recipe, **SHORT | params).fit(X[: len(y)], y)


def same_bits(one: Any, other: Any, rows: Any = NEW) -> bool:
    return np.array_equal(one.raw_scores(rows), other.raw_scores(rows))


def n_models(model: Any) -> dict[str, int]:
    return dict(zip(model.member_names_, map(len, model._n_rounds), strict=True))


# What a user writes: a learner with a term of its own, and a rule.


@dataclass(frozen=True)
class Plane(Linear):
    """A linear function."""


class Planes(LeastSquares):
    """Least squares, which can be fitted to other rows again."""

    def fit(self, round: Any) -> Plane:
        return Plane(super().fit(round).slope)

    def refit(self, term: Any, round: Any) -> Plane:
        return self.fit(round)


@dataclass(frozen=True)
class AfterRounds:
    """Trains a member if the first model of the first member has had so many rounds."""

    rounds: int

    def is_met(self, runs: Any, others: Any) -> bool:
        return len(others[0][0].scores) > self.rounds


OWN = Recipe(
    [TREES, MemberRule("planes", Planes(), "replay", when=AfterRounds(2), n_models=2)],
    learning_rate=0.3,
    patience=Patience(4),
    n_folds=3,
)


@pytest.fixture(scope="module")
def own() -> Any:
    return fitted(OWN)


@pytest.fixture
def registered() -> Iterator[None]:
    """The classes above are registered during a test."""
    kinds, learners = dict(STORAGE_RULES), dict(LEARNERS._table)
    LEARNERS.register("planes")(Planes)
    storable("tests.Plane")(Plane)
    storable("tests.AfterRounds")(AfterRounds)
    yield
    for table, before in ((STORAGE_RULES, kinds), (LEARNERS._table, learners)):
        table.clear()
        table.update(before)


# A recipe is a value.


@pytest.mark.parametrize("n", [500, 2_000, 5_000, 50_000])
@pytest.mark.parametrize(
    "more", [{}, {"n_classes": 3}, {"rows": "groups", "n_groups": 20}, {"is_sparse": True}], ids=str
)
def test_recipes_of_equal_facts_are_equal(n: int, more: dict[str, Any]) -> None:
    one, other = (choose_recipe(Facts(n, 10, **more)) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert clone(RFFBoostRegressor(quality=one)).quality == one
    assert len(set(one.names)) == len(one.names)
    assert all(name in str(one) for name in one.names)


def test_recipes_that_differ_in_a_parameter_of_a_learner_are_different() -> None:
    deeper = PAIR.changed("trees", learner=SymmetricTree(leaf="linear", max_depth=4))
    assert deeper != PAIR
    assert deeper.changed("trees", learner=SymmetricTree(leaf="linear", max_depth=3)) == PAIR
    assert {deeper, PAIR, replace(PAIR)} == {deeper, PAIR}
    assert PAIR != "auto"


@pytest.mark.parametrize(
    "y", [Y, (Y > 0.0).astype(int), np.digitize(Y, [-0.5, 0.5])], ids=["real", "two", "three"]
)
def test_the_recipe_of_the_facts_is_the_default(y: Any) -> None:
    classes = {} if y.dtype == Y.dtype else {"n_classes": len(np.unique(y))}
    default = fitted("auto", y)
    facts = Facts(N, 4, n_groups=None, effective_size=float(N), **classes)
    assert default.recipe_ == choose_recipe(facts)
    assert same_bits(default, fitted(choose_recipe(facts), y))


def test_the_recipe_of_many_rows_is_the_default() -> None:
    rows = np.random.default_rng(0).standard_normal((3_200, 3))
    models = [
        RFFBoostRegressor(quality=quality, n_estimators=3, random_state=0).fit(rows, rows[:, 0] * rows[:, 1])
        for quality in ("auto", choose_recipe(Facts(*rows.shape)))
    ]
    assert same_bits(*models, rows)


@pytest.mark.parametrize(
    ("params", "given"),
    [
        ({}, {}),
        ({"n_folds": 3}, {}),
        ({"n_folds": 1}, {}),
        ({"n_folds": 3, "refit": True}, {}),
        ({"refit": False}, {}),
        ({"learning_rate": 0.2}, {}),
        ({"n_iter_no_change": 2}, {}),
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


@pytest.mark.parametrize("recipe", [PAIR, OWN], ids=["pair", "own"])
def test_the_model_does_not_depend_on_threads(recipe: Recipe) -> None:
    assert same_bits(fitted(recipe), fitted(recipe, n_jobs=2))


# A user's own member and rule.


def test_an_own_member_is_trained_if_its_rule_says_so(own: Any) -> None:
    assert own.member_names_ == ["trees", "planes"]
    assert isinstance(own.learners_[1], Planes)
    assert n_models(own) == {"trees": 3, "planes": 2}
    never = OWN.changed("planes", when=AfterRounds(1_000))
    assert fitted(never).member_names_ == ["trees"]
    assert same_bits(fitted(never), fitted(OWN.without("planes")))


@pytest.mark.parametrize(
    "another",
    [
        lambda own: clone(own).fit(X, Y),
        lambda own: RFFBoostRegressor(**SHORT).set_params(quality=OWN).fit(X, Y),
        lambda own: RFFBoostRegressor(**own.get_params()).fit(X, Y),
        lambda own: pickle.loads(pickle.dumps(own)),
        lambda own: pickle.loads(pickle.dumps(RFFBoostRegressor(quality=OWN, **SHORT))).fit(X, Y),
        lambda own: fitted(own.recipe_),
        lambda own: RFFBoostRegressor(quality=OWN, **SHORT).fit(sources.arrays(X, Y)),
    ],
    ids=["clone", "set_params", "get_params", "pickle", "unfitted pickle", "recipe_", "source"],
)
def test_other_ways_to_the_model_of_an_own_recipe(own: Any, another: Callable[[Any], Any]) -> None:
    other = another(own)
    assert same_bits(own, other)
    assert other.recipe_ == own.recipe_
    assert other.member_names_ == own.member_names_


def test_a_registered_name_of_an_own_learner(own: Any, registered: None) -> None:
    assert same_bits(fitted(OWN.changed("planes", learner="planes")), own)


def test_an_own_member_follows_other_rows(own: Any) -> None:
    new = copy(own).refresh(NEW, NEW[:, 3], prior_weight=0.0)
    assert (new.member_names_, n_models(new)) == (own.member_names_, n_models(own))
    assert new.score(NEW, NEW[:, 3]) > 0.9 > own.score(NEW, NEW[:, 3])


def test_an_own_recipe_with_dask(own: Any) -> None:
    da = pytest.importorskip("dask.array")
    from rffboost_ext.dask import DaskRFFBoostRegressor

    model = DaskRFFBoostRegressor(quality=OWN, **SHORT)
    model.fit(da.from_array(X, chunks=(50, 4)), da.from_array(Y, chunks=50))
    np.testing.assert_array_equal(model.predict(da.from_array(NEW, chunks=(50, 4))).compute(), own.predict(NEW))


def test_a_model_file_with_an_own_recipe(own: Any, registered: None, tmp_path: Any) -> None:
    own.save_model(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert same_bits(own, loaded)
    assert loaded.quality == OWN
    assert loaded.recipe_ == own.recipe_
    assert loaded.member_names_ == own.member_names_
    assert same_bits(clone(loaded).fit(X, Y), own)


def test_what_of_a_recipe_cannot_be_stored_is_named(own: Any, registered: None, tmp_path: Any) -> None:
    del STORAGE_RULES["tests.AfterRounds"]
    with pytest.raises(TypeError, match=r"AfterRounds, which cannot be stored"):
        own.save_model(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "quality", [PAIR, choose_recipe(Facts(N, 4)), choose_recipe(Facts(9_000, 4, 2))], ids=["pair", "few", "many"]
)
def test_model_files_of_recipes(quality: Recipe, tmp_path: Any) -> None:
    model = fitted(quality)
    model.save_model(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert same_bits(model, loaded)
    assert (loaded.quality, loaded.recipe_) == (quality, model.recipe_)


def test_the_graph_of_an_own_recipe(own: Any) -> None:
    convert_term.register(Plane)(
        lambda term, graph, x: graph.node("MatMul", x, graph.constant(term.slope, "slope"))
    )
    verify_onnx(own, to_onnx(own), NEW, raise_on_mismatch=True)


@pytest.mark.parametrize("after", ["keep", "replay", "refit"])
@pytest.mark.parametrize("n", [None, 1])
@pytest.mark.parametrize("learner", ["symmetric_tree", Planes()], ids=str)
def test_a_refresh_of_a_stack_has_the_members_of_the_fit(after: str, n: int | None, learner: Any) -> None:
    first = replace(TREES, after="replay")
    recipe = Recipe([first, MemberRule("second", learner, after, n)], 0.3, Patience(5), n_folds=3)
    model = fitted(recipe, precision="float64")
    again = copy(model).refresh(X, Y, prior_weight=0.0)
    assert again.member_names_ == model.member_names_
    assert n_models(again) == n_models(model)
    # Its weights may differ: fewer folds have a model of each member.
    assert again.score(X, Y) > 0.8 * model.score(X, Y)


@pytest.mark.parametrize("after", ["keep", "replay", "refit"])
@pytest.mark.parametrize("n_folds", [1, 3])
def test_a_refresh_of_one_member_gives_the_model_of_the_fit(after: str, n_folds: int) -> None:
    recipe = Recipe([replace(TREES, after=after)], 0.3, Patience(5), n_folds=n_folds)
    model = fitted(recipe, precision="float64")
    again = copy(model).refresh(X, Y, prior_weight=0.0)
    assert n_models(again) == n_models(model)
    if after == "keep" and n_folds == 1:
        # The rows that were held out are among those of the refresh.
        assert again.score(X, Y) > model.score(X, Y) - 0.01
    else:
        np.testing.assert_allclose(again.predict(NEW), model.predict(NEW), rtol=0.0, atol=1e-8)


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
