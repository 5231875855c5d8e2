"""What estimators decide about learners of a class, unless a recipe or a parameter says otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..boosting.early_stopping.patience import PatienceLimit
from ..core import Learner
from ..learners import RFF1, RFFIRLS, RFFK, LassoPath, Mixture, RFFNewton, RidgePath, SymmetricTree, Tree
from ..learners.kernel_machines.base import KernelMachine
from ..learners.registry import LEARNERS
from ..learners.trees.symmetric.categories import MAX_SINGLED_OUT
from ..terms import ImputeAndEncode

# Rows per pool of learners that do not see all rows at once: many times the sample of a round, but few enough to
# bound its cost.
POOL_SIZE = 65_536
# On few rows the error of reweighted least squares would fall for thousands of rounds, as scores of separable
# classes grow.
IRLS_LIMIT = PatienceLimit(3, 1e-3)


def allows_log_mixture(learner: Mixture) -> bool:
    """Whether the cosines allow log transforms, and the other learner has trees of the original features."""
    cosines, trees = LEARNERS.make(learner.cosines), LEARNERS.make(learner.trees)
    return isinstance(trees, Tree | SymmetricTree) and policy_of(cosines).allows_log(cosines)


def replays_trees(learner: SymmetricTree, expansion: ImputeAndEncode | None) -> bool:
    """Whether no category has more than four levels, or all rows of a tree order these."""
    ordered = learner.get_params(deep=False).get("ordered", True)
    return not ordered or expansion is None or max(expansion.n_levels.values(), default=0) <= MAX_SINGLED_OUT


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
        that amplify rounding errors need it, so that a row of weight 2 and two equal rows give the same bits. Only
        fits without early stopping merge duplicates.
    replays : callable, optional
        ``replays(learner, expansion)`` says whether the terms of a model can be fitted again to all rows, with
        features of such an expansion. It is False where structures depend on the targets of rows that a term is
        not fitted to, since ``refit`` does not know which rows these were.
    after : {"keep", "replay", "refit"}, default="replay"
        What happens to the models of a learner alone, as in :class:`~rffboost_ext.recipes.MemberRule`.
    allows_log : callable, optional
        ``allows_log(learner)`` says whether features may be log-transformed: all terms are unclipped cosines, or
        trees of the original features.
    patience_limit : PatienceLimit, optional
        Limits to the patience of early stopping with the learner alone.

    Examples
    --------
    >>> from rffboost_ext import LEARNER_POLICIES, Learner, LearnerPolicy
    >>> class Mine(Learner):
    ...     def fit(self, round): ...
    >>> LEARNER_POLICIES[Mine] = LearnerPolicy(stops_early=True, after="keep")
    >>> LEARNER_POLICIES.pop(Mine).stops_early
    True
    """

    stops_early: bool = False
    pool_size: int | None = None
    max_merged_rows: Callable[[Any], Any] = lambda learner: 0
    replays: Callable[[Any, ImputeAndEncode | None], bool] = lambda learner, expansion: True
    after: str = "replay"
    allows_log: Callable[[Any], Any] = lambda learner: False
    patience_limit: PatienceLimit | None = None


# Of learners whose outputs are Newton steps.
SECOND_ORDER = LearnerPolicy(
    stops_early=True,
    after="refit",
    pool_size=POOL_SIZE,
    max_merged_rows=lambda learner: 20_000,
    allows_log=lambda learner: True,
)
LEARNER_POLICIES: dict[type, LearnerPolicy] = {
    Learner: LearnerPolicy(),
    RFFK: LearnerPolicy(max_merged_rows=lambda learner: math.inf, after="refit"),
    RFF1: LearnerPolicy(max_merged_rows=lambda learner: math.inf, after="refit"),
    RFFNewton: SECOND_ORDER,
    KernelMachine: SECOND_ORDER,
    LassoPath: SECOND_ORDER,
    RidgePath: replace(SECOND_ORDER, pool_size=None),
    RFFIRLS: replace(SECOND_ORDER, patience_limit=IRLS_LIMIT),
    Mixture: replace(SECOND_ORDER, allows_log=allows_log_mixture),
    # With more rows XGBoost's bins depend on weights.
    Tree: LearnerPolicy(max_merged_rows=lambda tree: tree.max_bin, after="refit"),
    # Slopes amplify rounding errors, and a row of weight 2 is in one of the two parts of a tree's rows.
    SymmetricTree: LearnerPolicy(stops_early=True, max_merged_rows=lambda tree: math.inf, replays=replays_trees),
}
"""The policy of each class of learners, which its subclasses share unless they have an entry of their own."""


def policy_of(learner: Learner) -> LearnerPolicy:
    """The policy of the closest class of a learner in the table."""
    return next(filter(None, map(LEARNER_POLICIES.get, type(learner).__mro__)))
