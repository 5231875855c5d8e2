"""What estimators decide about a learner, as a table by its class, with a row for users' own classes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from sklearn.base import clone

from ..boosting.early_stopping.patience import PatienceLimit
from ..core import Learner
from ..learners import RFF1, RFFIRLS, RFFK, Mixture, RFFNewton, SymmetricTree, Tree
from ..learners.kernel_machines.base import KernelMachine
from ..learners.registry import LEARNERS
from ..learners.trees.symmetric.features import MAX_SINGLED_OUT, numbers_of_levels
from ..terms import ImputeAndEncode
from ..utils.param_validation import is_auto

# Rows per pool: many times the sample of a round, but few enough to bound the cost of a round.
POOL_SIZE = 65_536
# On few rows the error of reweighted least squares would fall for thousands of rounds, as scores of separable
# classes grow.
IRLS_LIMIT = PatienceLimit(3, 1e-3)

Answer: TypeAlias = Callable[[Any], Any]


def single(learner: Learner) -> tuple[Learner, ...]:
    """The learner alone."""
    return (learner,)


def leaves_of(learner: SymmetricTree) -> tuple[Learner, ...]:
    """With ``leaf="auto"`` the trees with constant and with linear leaves."""
    # Subclasses may have other constructor parameters.
    if learner.leaf != "auto" or learner.active_constraints or "leaf" not in learner.get_params(deep=False):
        return (learner,)
    return tuple(clone(learner).set_params(leaf=leaf) for leaf in ("constant", "linear"))


def mixtures_of(learner: Mixture) -> tuple[Learner, ...]:
    """A mixture with each of the alternatives of the trees."""
    trees = () if is_auto(learner.trees) else alternatives(LEARNERS.make(learner.trees))
    return tuple(clone(learner).set_params(trees=one) for one in trees) if len(trees) > 1 else (learner,)


def allows_log_mixture(learner: Mixture) -> bool:
    """Whether the cosines allow log transforms, and the other learner is a :class:`Tree`."""
    is_tree = isinstance(learner.trees, Tree) or learner.trees in ("auto", "tree")
    cosines = LEARNERS.make(learner.cosines)
    return is_tree and policy_of(cosines).allows_log(cosines)


def orders_no_levels(expansion: ImputeAndEncode | None) -> bool:
    """Whether no category has more than four levels, which symmetric trees order by targets of other rows."""
    return max(numbers_of_levels(expansion).values(), default=0) <= MAX_SINGLED_OUT


@dataclass(frozen=True)
class LearnerPolicy:
    """What estimators decide about learners of a class.

    Parameters
    ----------
    stops_early : bool, default=False
        Whether early stopping is the default.
    pool_size : int, optional
        Size of the sample, redrawn periodically, for fits on far more rows; None for all rows.
    max_merged_rows : callable, optional
        ``max_merged_rows(learner)`` is the most rows of which duplicates are merged, with summed weights. Learners
        that amplify rounding errors need it, so that a row of weight 2 and two equal rows give the same bits.
    alternatives : callable, optional
        ``alternatives(learner)`` are learners that a fit with early stopping compares in 50 rounds, to train the
        best.
    replays : callable, optional
        ``replays(expansion)`` says whether a refit on features with such an expansion fits the terms of a model
        again, if the learner can; otherwise it trains new rounds. It is False where structures depend on the
        targets of rows that a term is not fitted to, since ``refit`` does not know which rows these were.
    allows_log : callable, optional
        ``allows_log(learner)`` says whether features may be log-transformed: all terms are unclipped cosines, or
        trees of the original features.
    patience_limit : PatienceLimit, optional
        Limits to the patience of early stopping with the learner alone.
    """

    stops_early: bool = False
    pool_size: int | None = None
    max_merged_rows: Answer = lambda learner: 0
    alternatives: Answer = single
    replays: Answer = lambda expansion: True
    allows_log: Answer = lambda learner: False
    patience_limit: PatienceLimit | None = None


def everything(learner: Learner) -> float:
    """No limit to the rows of which duplicates are merged."""
    return math.inf


# Of learners whose outputs are Newton steps.
SECOND_ORDER = LearnerPolicy(
    stops_early=True,
    pool_size=POOL_SIZE,
    max_merged_rows=lambda learner: 20_000,
    allows_log=lambda learner: True,
)
LEARNER_POLICIES: dict[type, LearnerPolicy] = {
    Learner: LearnerPolicy(),
    RFFK: LearnerPolicy(max_merged_rows=everything),
    RFF1: LearnerPolicy(max_merged_rows=everything),
    RFFNewton: SECOND_ORDER,
    KernelMachine: SECOND_ORDER,
    RFFIRLS: replace(SECOND_ORDER, patience_limit=IRLS_LIMIT),
    Mixture: replace(SECOND_ORDER, alternatives=mixtures_of, allows_log=allows_log_mixture),
    # With more rows XGBoost's bins depend on weights.
    Tree: LearnerPolicy(max_merged_rows=lambda tree: tree.max_bin),
    # Slopes amplify rounding errors, and copies of a row would be in both parts of a tree's rows.
    SymmetricTree: LearnerPolicy(
        stops_early=True, max_merged_rows=everything, alternatives=leaves_of, replays=orders_no_levels
    ),
}
"""The policy of each class of learners, which its subclasses share unless they have an entry of their own."""


def policy_of(learner: Learner) -> LearnerPolicy:
    """The policy of the closest class of a learner in the table."""
    return next(filter(None, map(LEARNER_POLICIES.get, type(learner).__mro__)))


def alternatives(learner: Learner) -> tuple[Learner, ...]:
    """The learners that a fit with early stopping compares, to train the best."""
    return tuple(policy_of(learner).alternatives(learner))
