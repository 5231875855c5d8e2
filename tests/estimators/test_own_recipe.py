"""A recipe of one's own: a learner with a term of its own, and a rule."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from onnx_export import convert_term, to_onnx, verify_onnx
from rffboost_ext import LEARNERS, RFFBoostRegressor, load_model, sources, storable
from rffboost_ext.persistence.values import STORAGE_RULES
from rffboost_ext.recipes import MemberRule, Patience, Recipe

from .recipe_cases import NEW, OWN, SHORT, TREES, AfterRounds, Plane, Planes, X, Y, fitted, n_models, same_bits


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


def test_the_graph_of_an_own_recipe(own: Any) -> None:
    convert_term.register(Plane)(
        lambda term, graph, x: graph.node("MatMul", x, graph.constant(term.slope, "slope"))
    )
    verify_onnx(own, to_onnx(own), NEW, raise_on_mismatch=True)


@pytest.mark.parametrize(
    ("learner", "after", "n"),
    [
        ("symmetric_tree", "keep", None),
        ("symmetric_tree", "replay", 1),
        (Planes(), "keep", 1),
        (Planes(), "replay", None),
        (Planes(), "refit", None),
    ],
    ids=str,
)
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
