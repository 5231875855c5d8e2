"""The recipe of a fit where nothing is set, by the size of the data.

The measurements behind each choice are in ``benchmarks/defaults.md``; ``benchmarks/defaults.py`` repeats them.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from ..boosting.early_stopping.patience import Patience, PatienceLimit, TrainingCondition
from ..core import Learner
from ..learners import RFFIRLS, LassoPath, Mixture, RFFNewton, RFFRidge, RidgePath, SymmetricTree
from ..utils.param_validation import Instance, OneOf, require
from .policies import IRLS_LIMIT, policy_of
from .recipe import Facts, MemberRule, Recipe

# Number of rounds without early stopping, and the maximum with it.
ROUNDS, MAX_ROUNDS = 100, 2_000
# Up to FEW rows there are kernel machines; with fewer than MEDIUM rows levels of categories are rare.
FEW, MEDIUM = 3_000, 1_000
# From SPACIOUS features on, fewer than MEDIUM rows need more frequencies; from MANY_FEATURES on, shorter steps.
SPACIOUS, MANY_FEATURES = 50, 100
# Above FEW rows as many of the folds have trees as there are in so many rows.
TREE_ROWS = 15_000
# Where few rows have most of the weight, as those of a rare class, long steps and logistic regression overfit.
# So few are they if the effective number of rows is below this share of all rows.
UNEQUAL_SIZE = 0.5
# Kernel machines take few full steps, so their patience is short.
RIDGE_LIMIT = PatienceLimit(6, 1e-3)
# On smooth functions the error of trees falls slowly for thousands of rounds, in which cosines have reached more.
TREES_LIMIT = PatienceLimit(25, 2e-4)
# Cosines that trail other members add little by small steps, for as many rounds as these take.
COSINES_LIMIT = PatienceLimit(trailing_tol=1e-3)
# Linear functions of few of many features.
LASSO = MemberRule("lasso", LassoPath(), limit=RIDGE_LIMIT, when=TrainingCondition(max_ratio=1.0))
# Gradients of a ranking sum to 0 in each query, so that features of queries gain only by interactions with others,
# which symmetric trees look for in all nodes of a level at once.
RANKING_TREES = SymmetricTree(leaf="linear", max_bin=64, colsample_bytree=0.5)
MORE_CANDIDATES: dict[str, Any] = {"n_candidates": 96, "n_scored": 2_000, "earned": 0.7, "min_hessian": 0.1}


def choose_recipe(facts: Facts, quality: str = "auto") -> Recipe:
    """The recipe of a default fit.

    Parameters
    ----------
    facts : Facts
        The size and the kind of the data.
    quality : {"auto", "fast"}, default="auto"

    Returns
    -------
    Recipe

    Examples
    --------
    >>> from rffboost_ext.recipes import Facts, choose_recipe
    >>> choose_recipe(Facts(n_samples=5_000, n_features=10)).names
    ['trees', 'mixture', 'cosines']
    """
    require("choose_recipe", "facts", facts, Instance(Facts))
    require("choose_recipe", "quality", quality, OneOf(("auto", "fast")))
    ranks = facts.rows == "groups"
    if quality == "fast" and not ranks:
        return fast_recipe(facts)
    recipe = recipe_of_many(facts) if facts.n_samples > FEW else recipe_of_few(facts)
    if facts.is_sparse and not ranks:
        recipe = replace(recipe, members=sparse_members(facts))
    elif facts.n_features >= MANY_FEATURES and facts.n_samples <= max(FEW, facts.n_features):
        n_models = None if facts.n_samples <= FEW else 1
        recipe = replace(recipe, members=[*recipe.members, replace(LASSO, n_models=n_models)])
    return recipe


def recipe_of_many(facts: Facts) -> Recipe:
    """Trees of the first folds; a mixture and cosines of the first one.

    A ranker has no trees alone. One fold of few queries says little, however many rows they have.
    """
    n_groups = facts.n_samples if facts.n_groups is None else facts.n_groups
    after, n_models = ("keep", None) if facts.rows == "groups" and n_groups <= FEW else ("refit", 1)
    members = [
        MemberRule("mixture", mixture(facts), after, n_models),
        cosines(n_models),
    ]
    if facts.rows != "groups":
        n_models = max(TREE_ROWS // facts.n_samples, 1)
        members.insert(0, MemberRule("trees", symmetric_trees(facts), "replay", n_models, 0.2, TREES_LIMIT))
    return Recipe(members, 0.1, patience_of(facts, Patience(25, 0.1, 0.05, 1e-3)), n_folds=5)


def recipe_of_few(facts: Facts) -> Recipe:
    """Trees and kernel machines of all folds, and cosines from :data:`MEDIUM` rows on."""
    is_medium, is_wide = facts.n_samples >= MEDIUM, facts.n_features >= MANY_FEATURES
    is_unequal = has_unequal_weights(facts)
    kernel: dict[str, Any] = {"n_components": 256 if is_medium else 512, "compare_scales": is_medium or is_wide}
    ridge: dict[str, Any] = {"per_degree": 6.0, "relative_rate": 10.0 if is_wide else 5.0}
    if not is_medium and facts.n_features >= SPACIOUS:
        kernel["n_components"] *= 4
        ridge["per_degree"] = 12.0
    trees = MemberRule("trees", symmetric_trees(facts), "replay", limit=TREES_LIMIT)
    first = MemberRule("mixture", mixture(facts)) if facts.rows == "groups" else trees
    members = [first, MemberRule("kernel ridge regression", RFFRidge(**kernel, **ridge), limit=RIDGE_LIMIT)]
    if facts.n_classes is not None and not is_unequal:
        when = TrainingCondition(0.02, 0.65, 0.9, 4, 1.1) if is_medium else TrainingCondition(0.02, 0.45, 1.5, 4)
        members.append(MemberRule("kernel logistic regression", RFFIRLS(**kernel), limit=IRLS_LIMIT, when=when))
    if is_medium and facts.rows != "groups":
        members.append(cosines())
    rate, rounds = (0.1, 20) if is_wide else (0.3, 15 if is_medium else 12)
    rate, rounds = (0.1, 40) if is_unequal else (rate, rounds)
    patience = patience_of(facts, Patience(rounds, 0.0, 0.2, 0.01))
    return Recipe(members, rate, patience, n_folds=5 if is_medium else 4)


def fast_recipe(facts: Facts) -> Recipe:
    """One model of symmetric trees, and one of ridge regression for a large sparse matrix."""
    n, many = facts.n_samples, facts.n_samples > FEW
    trees = SymmetricTree(leaf="linear", max_depth=tree_depth(n) - 2, max_bin=64, ordered=n < MEDIUM)
    rate, rounds = (0.1, 40) if has_unequal_weights(facts) else (0.3 if many else 0.2, 12)
    patience = Patience(rounds, 0.0, *((0.05, 1e-3) if many else (0.2, 0.01)))
    rule = MemberRule("trees", trees, "keep" if many else "replay")
    members = sparse_members(facts) if facts.is_sparse else [rule]
    return Recipe(members, rate, patience_of(facts, patience))


def has_unequal_weights(facts: Facts) -> bool:
    """Whether few of few rows have most of the weight."""
    size = facts.n_samples if facts.effective_size is None else facts.effective_size
    return facts.n_samples <= FEW and size < UNEQUAL_SIZE * facts.n_samples


def single_recipe(facts: Facts, fast: bool = False) -> Recipe:
    """The recipe of a single model, which continues from another one or can be continued."""
    if fast and facts.rows != "groups" and not facts.is_sparse:
        return fast_recipe(facts)
    learner = sparse_trees(facts) if facts.is_sparse and facts.rows != "groups" else mixture(facts)
    return recipe_of_learner(learner, facts, 1)


def recipe_of_learner(learner: Learner, facts: Facts, n_folds: int | None = None) -> Recipe:
    """The recipe of a learner alone, with a number of folds by the number of rows."""
    policy, n_folds = policy_of(learner), n_folds or (1 if facts.n_samples > FEW else 4)
    after = policy.after if policy.after == "replay" or n_folds == 1 else "keep"
    rule = MemberRule("model", learner, after, limit=policy.patience_limit)
    return Recipe([rule], 0.1, short_patience(facts), n_folds=n_folds)


def short_patience(facts: Facts) -> Patience:
    """The patience with a learner or a learning rate of the user, which is made for short steps."""
    convergence = (0.1, 0.05, 1e-3) if facts.n_samples > FEW else (0.0, 0.2, 0.01)
    return patience_of(facts, Patience(40, *convergence))


def symmetric_trees(facts: Facts) -> SymmetricTree:
    """Symmetric trees of linear leaves, whose levels of categories all rows order unless they are too rare."""
    depth = 4 if facts.n_samples <= FEW else tree_depth(facts.n_samples)
    return SymmetricTree(leaf="linear", max_depth=depth, ordered=facts.n_samples < MEDIUM)


def sparse_trees(facts: Facts) -> SymmetricTree:
    """Symmetric trees for sparse rows, each of a sample of the columns."""
    return SymmetricTree(leaf="constant", max_depth=tree_depth(facts.n_samples), max_bin=64, colsample_bytree=0.1)


def sparse_members(facts: Facts) -> list[MemberRule]:
    """The members for a large sparse matrix."""
    n_models = None if facts.n_samples <= FEW else 1
    return [
        MemberRule("trees", sparse_trees(facts), "replay", n_models, limit=TREES_LIMIT),
        MemberRule("ridge regression", RidgePath(), "refit", n_models, limit=RIDGE_LIMIT),
    ]


def mixture(facts: Facts) -> Mixture:
    """Cosines and symmetric trees in turns: the best single kind of model."""
    many = facts.n_samples > FEW
    trees = SymmetricTree(leaf="linear", ordered=False) if many else symmetric_trees(facts)
    newton = RFFNewton(relative_rate=4.0, **MORE_CANDIDATES) if many else RFFNewton(relative_rate=2.0)
    return Mixture(newton, RANKING_TREES if facts.rows == "groups" else trees)


def cosines(n_models: int | None = None) -> MemberRule:
    """Cosines alone, which smooth functions need."""
    learner = RFFNewton(relative_rate=3.0, **MORE_CANDIDATES)
    return MemberRule("cosines", learner, n_models=n_models, limit=COSINES_LIMIT)


def tree_depth(n_samples: int) -> int:
    """The depth of trees with about half as many leaves as the root of the number of rows, from 6 to 8."""
    return round(min(max(math.log2(n_samples) / 2 - 1, 6), 8))


def patience_of(facts: Facts, patience: Patience) -> Patience:
    """The patience without convergence in regression; with many rows its shares are of the log loss of a coin."""
    if facts.n_classes is None:
        return replace(patience, converged_below=0.0, min_gain=0.0)
    bits = math.log2(max(facts.n_classes, 2)) if facts.n_samples > FEW else 1.0
    return replace(patience, converged_below=patience.converged_below / bits, min_gain=patience.min_gain / bits)
