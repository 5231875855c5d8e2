"""What estimators do where parameters are "auto", as tables by the size of the data and by the learner.

The measurements behind each choice are in ``benchmarks/defaults.md``; ``benchmarks/defaults.py`` repeats them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from sklearn.base import clone

from ..boosting.early_stopping.patience import PatienceLimit, TrainingCondition
from ..boosting.early_stopping.validation_split import FEW
from ..core import Learner
from ..learners import RFF1, RFFIRLS, RFFK, Mixture, RFFNewton, SymmetricTree, Tree
from ..learners.kernel_machines.base import KernelMachine
from ..learners.mixture import MANY_FEATURES
from ..learners.registry import LEARNERS
from ..learners.trees.symmetric.columns import MAX_SINGLED_OUT, numbers_of_levels
from ..terms import ImputeAndEncode
from ..utils.param_validation import is_auto

# Number of rounds without early stopping, and the maximum with it.
ROUNDS, MAX_ROUNDS = 100, 2_000
# Up to FEW rows models of folds are averaged; below NO_REFIT rows a single model is fitted again to all rows.
MEDIUM, NO_REFIT = 1_000, 10_000
# From this number of features on, fewer than MEDIUM rows need more frequencies.
SPACIOUS = 50


@dataclass(frozen=True)
class TrainingDefaults:
    """One row of the table.

    Parameters
    ----------
    learning_rate : float
    patience : int
        Rounds without improvement after which a fit ends.
    n_folds : int, optional
        Number of folds; None to choose it by the number of rows.
    n_repeats : int, default=1
        How often the rows are divided into folds.
    share : float
        Patience is at least this share of the rounds up to the best.
    converged : tuple of float
        A classifier also stops once its log loss is below the first share of the initial one and a stretch of
        rounds lowers it by less than the second.
    cosines : dict
        Parameters of RFFNewton.
    relative_rates : tuple of float
        Relative learning rate of cosines in the mixture, and in a model of their own.
    alone : bool
        Whether cosines alone are a further member.
    symmetric_trees : bool
        Whether symmetric trees alone are a further member.
    kernel : dict, optional
        Parameters of kernel machines, which are a further member; None for no such member.
    ridge : dict
        Parameters of RFFRidge beyond these.
    irls : TrainingCondition, optional
        When kernel machines by reweighted least squares are a further member of a classifier.
    """

    learning_rate: float
    patience: int
    n_folds: int | None = None
    n_repeats: int = 1
    share: float = 0.0
    converged: tuple[float, float] = (0.2, 0.01)
    cosines: dict[str, Any] = field(default_factory=dict)
    relative_rates: tuple[float, float] = (2.0, 2.0)
    alone: bool = True
    symmetric_trees: bool = False
    kernel: dict[str, Any] | None = None
    ridge: dict[str, Any] = field(default_factory=dict)
    irls: TrainingCondition | None = None


SMALL = TrainingDefaults(
    *(0.3, 12, 4),
    alone=False,
    kernel={"n_components": 512, "compare_scales": False},
    ridge={"per_degree": 6.0, "relative_rate": 5.0},
    irls=TrainingCondition(0.02, 0.45, 1.5, 4),
)
# A loss that compares all rows with each other, as that of Cox does, says little about few held-out rows.
SMALL_COMPARED = replace(SMALL, n_folds=3, patience=8)
MIDDLE = TrainingDefaults(
    *(0.3, 15, 5),
    kernel={"n_components": 256, "compare_scales": True},
    ridge={"per_degree": 6.0, "relative_rate": 5.0},
    irls=TrainingCondition(0.02, 0.65, 0.9, 4, max_similar_ratio=1.1),
)
# With many features often few of them matter: short steps find these.
WIDE: dict[str, Any] = {"learning_rate": 0.1, "patience": 20, "ridge": {"per_degree": 6.0, "relative_rate": 10.0}}
SMALL_WIDE = replace(SMALL, alone=True, kernel={"n_components": 512, "compare_scales": True}, **WIDE)
MIDDLE_WIDE = replace(MIDDLE, **WIDE)
LARGE = TrainingDefaults(
    *(0.1, 25),
    share=0.1,
    converged=(0.05, 1e-3),
    cosines={"n_candidates": 96, "n_scored": 2_000, "earned": 0.7, "min_hessian": 0.1},
    relative_rates=(4.0, 3.0),
    symmetric_trees=True,
)
# Where few rows have most of the weight, as those of a rare class, long steps and logistic regression overfit.
# So few are they if the effective number of rows is below this share of all rows.
UNEQUAL_SIZE = 0.5
UNEQUAL: dict[str, Any] = {"learning_rate": 0.1, "patience": 40, "irls": None}
# Where a learner, a learning rate, a model to continue from or an evaluation set is given.
GIVEN: dict[str, Any] = {"learning_rate": 0.1, "patience": 40, "n_folds": None}


def table_row(n_samples: int, n_features: int, compares_rows: bool = False) -> TrainingDefaults:
    """The row of the table for data of some size and a loss that may compare all rows with each other."""
    if n_samples > FEW:
        return LARGE
    small = SMALL_COMPARED if compares_rows else SMALL
    rows = (SMALL_WIDE, MIDDLE_WIDE) if n_features >= MANY_FEATURES else (small, MIDDLE)
    row = rows[n_samples >= MEDIUM]
    return with_more_frequencies(row) if n_samples < MEDIUM and n_features >= SPACIOUS else row


def with_more_frequencies(row: TrainingDefaults) -> TrainingDefaults:
    """The row with four times the frequencies of kernel machines, and twice as many for each degree of freedom."""
    if row.kernel is None or row.ridge["per_degree"] > 6.0:
        return row
    kernel = row.kernel | {"n_components": 4 * row.kernel["n_components"]}
    return replace(row, kernel=kernel, ridge=row.ridge | {"per_degree": 12.0})


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
