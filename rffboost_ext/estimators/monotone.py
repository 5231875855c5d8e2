"""Monotone constraints of an estimator, by position or by name of the column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from ..core import Learner
from ..learners import Mixture, SymmetricTree
from ..learners.registry import LEARNERS
from ..utils.param_validation import is_auto
from ..utils.registry import did_you_mean
from .recipe import Recipe

PARAMETER = "monotone_constraints"


def signs_of(owner: str, signs: Any, names: Sequence[Any] | None) -> list[int]:
    """Constraints as one sign for each column; a ValueError for names of no column."""
    if not isinstance(signs, Mapping):
        return [int(sign) for sign in signs]
    columns = [] if names is None else [str(name) for name in names]
    for name in signs:
        if name not in columns:
            advice = (
                did_you_mean(name, columns) if columns else " X has no names: a sequence has a sign per column."
            )
            raise ValueError(f"{owner}: {PARAMETER} must name columns of X, got {name!r}.{advice}")
    return [int(signs.get(name, 0)) for name in columns]


def by_position(owner: str, learner: Learner, names: Sequence[Any] | None) -> Learner:
    """A learner whose own constraints, and those of learners in it, have a sign for each column."""
    named = {
        name: signs_of(owner, value, names)
        for name, value in learner.get_params().items()
        if name.endswith(PARAMETER) and isinstance(value, Mapping)
    }
    return clone(learner).set_params(**named) if named else learner


def resolved_learner(estimator: Any, learner: Learner) -> Learner:
    """The learner of an estimator with its constraints, and those of the learner, by position.

    Trees take the place of a default learner that cannot keep constraints. A name of no
    column, a user's learner that cannot keep constraints, and constraints of both raise a ValueError.
    """
    owner, signs, names = type(estimator).__name__, estimator.monotone_constraints, estimator.encoder_.names
    learner = by_position(owner, learner, names)
    if signs is None:
        return learner
    if learner.active_constraints:
        raise ValueError(f"{owner}: {PARAMETER} must be those of the estimator or of the learner, got both")
    kept = with_signs(learner, signs_of(owner, signs, names))
    if kept is None and not is_auto(estimator.learner):
        raise ValueError(f"{owner}: {PARAMETER} need trees, such as 'symmetric_tree' or 'tree', got {learner!r}")
    return kept or SymmetricTree(leaf="constant", monotone_constraints=signs_of(owner, signs, names))


def resolved_recipe(estimator: Any, recipe: Recipe, learner: Learner) -> Recipe:
    """A recipe with constraints by position: those of a user's members, or of an estimator's resolved learner."""
    owner = type(estimator).__name__
    if estimator.monotone_constraints is not None:
        return keeping_constraints(owner, recipe, learner)
    if not isinstance(estimator.quality, Recipe):
        return recipe
    names = estimator.encoder_.names
    members = [
        one if isinstance(one.learner, str) else replace(one, learner=by_position(owner, one.learner, names))
        for one in recipe.members
    ]
    return replace(recipe, members=members)


def with_signs(learner: Learner, signs: Sequence[int]) -> Learner | None:
    """A learner with constraints; None if it cannot keep them. Leaves of symmetric trees are then constant."""
    params = learner.get_params(deep=False)
    if PARAMETER not in params:
        return None
    constant = {"leaf": "constant"} if params.get("leaf") == "linear" else {}
    return clone(learner).set_params(**{PARAMETER: list(signs)}, **constant)


def keeping_constraints(owner: str, recipe: Recipe, learner: Learner) -> Recipe:
    """The recipe with the constraints of a resolved learner; members that cannot keep them are left out.

    A mixture makes way for its trees, if there are no other trees.
    """
    signs, members = getattr(learner, PARAMETER), []
    for rule in recipe.members:
        own = with_signs(LEARNERS.create(rule.learner), signs)
        members += [] if own is None else [replace(rule, learner=own, when=None)]
    if not members:
        mixtures = [one for one in recipe.members if isinstance(one.learner, Mixture)]
        trees = [with_signs(LEARNERS.create(one.learner.trees), signs) for one in mixtures]  # type: ignore[union-attr]
        members = [
            replace(one, learner=tree, when=None) for one, tree in zip(mixtures, trees, strict=True) if tree
        ]
    if not members:
        raise ValueError(f"{owner}: {PARAMETER} need a member of trees in the recipe, got {recipe.names}")
    return replace(recipe, members=members)
