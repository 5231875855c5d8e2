"""What early stopping does where parameters are "auto", as a table by the size of the data.

The measurements behind each choice are in ``benchmarks/defaults.md``; ``benchmarks/defaults.py`` repeats them.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..boosting.early_stopping.patience import FewRounds, Patience, PatienceLimit, TrainingCondition
from ..boosting.early_stopping.validation_split import FEW, default_n_folds
from ..boosting.plan import Member, Plan
from ..core import Learner
from ..data.dataset import Dataset
from ..learners import RFFIRLS, LassoPath, Mixture, RFFNewton, RFFRidge, RidgePath, SymmetricTree
from ..terms.ensemble import Ensemble
from ..utils.param_validation import is_auto
from ..utils.sparse import SparseRows
from ..utils.typing import Array

# Number of rounds without early stopping, and the maximum with it.
ROUNDS, MAX_ROUNDS = 100, 2_000
# Up to FEW rows models of folds are averaged. A single model of trees is replayed on all rows; below NO_REFIT rows
# other models train new rounds on them.
MEDIUM, NO_REFIT = 1_000, 10_000
# From SPACIOUS features on, fewer than MEDIUM rows need more frequencies; from MANY_FEATURES on, shorter steps.
SPACIOUS, MANY_FEATURES = 50, 100
# Rows per pool of learners that do not see all rows at once: many times the sample of a round, but few enough to
# bound its cost.
POOL_SIZE = 65_536


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
    kernel: dict[str, Any] | None = None
    ridge: dict[str, Any] = field(default_factory=dict)
    irls: TrainingCondition | None = None

    def newton(self, place: int) -> RFFNewton:
        """The cosines of the mixture, or at place 1 of a model of their own."""
        return RFFNewton(relative_rate=self.relative_rates[place], **self.cosines)


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
)
# Where few rows have most of the weight, as those of a rare class, long steps and logistic regression overfit.
# So few are they if the effective number of rows is below this share of all rows.
UNEQUAL_SIZE = 0.5
UNEQUAL: dict[str, Any] = {"learning_rate": 0.1, "patience": 40, "irls": None}
# Of quality="fast".
FAST: dict[str, Any] = {"learning_rate": 0.2, "patience": 12, "share": 0.0, "n_folds": 1}
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


# On few rows the error of reweighted least squares would fall for thousands of rounds, as scores of separable
# classes grow.
IRLS_LIMIT = PatienceLimit(3, 1e-3)
# Kernel machines take few full steps, so their patience is short.
RIDGE_LIMIT = PatienceLimit(6, 1e-3)
# On smooth functions the error of trees falls slowly for thousands of rounds, in which cosines have reached more.
TREES_LIMIT = PatienceLimit(25, 2e-4)
# Gradients of a ranking sum to 0 in each query, so that features of queries gain only by interactions with others,
# which symmetric trees look for in all nodes of a level at once.
RANKING_TREES = SymmetricTree(leaf="linear", max_bin=64, colsample_bytree=0.5)
# A member that improves for more rounds learns what members of shorter steps would not reach.
FEW_ROUNDS = FewRounds(1_000)
# Cosines that trail other members add little by small steps, for as many rounds as these take.
TRAILING_TOL = 1e-3
# A sparse linear function is the best model of some tables of few rows or more columns than rows.
IF_BEST = TrainingCondition(max_ratio=1.0)


def choose(estimator: Any, data: Dataset, validation: Dataset | None, init: Ensemble | None) -> TrainingDefaults:
    """The defaults of a fit with early stopping."""
    row, many = table_row(len(data), data.X.shape[1], data.rows == "all"), len(data) > FEW
    fast, has_rate = is_fast(estimator, data), not is_auto(estimator.learning_rate)
    if fast:
        row = replace(row, **FAST)
    if not many and data.effective_size < UNEQUAL_SIZE * len(data):
        row = replace(row, **UNEQUAL)
    if fast:
        return replace(row, patience=GIVEN["patience"]) if has_rate else row
    free = not has_rate and is_auto(estimator.learner)
    high = estimator.quality == "high"
    is_small = len(data) < MEDIUM
    if high and not is_small:
        row = with_more_frequencies(row)
    if many and free and not high:
        return row
    if many or not free or validation is not None or is_single(estimator, init):
        return replace(row, **GIVEN)
    return replace(row, n_repeats=4 if is_small else 2) if high and is_auto(estimator.n_folds) else row


def members(
    estimator: Any, given: Sequence[Learner], row: TrainingDefaults, member: Callable[..., Member], rows: Dataset
) -> list[Member]:
    """The members of a stack: the given learners or symmetric trees, then others that differ from them."""
    many = len(rows) > FEW
    if not given and rows.rows == "groups":
        given = [mixture(row, rows)]
    if not given and isinstance(rows.X, SparseRows):
        return [member(sparse_trees(len(rows)), TREES_LIMIT), member(RidgePath(), RIDGE_LIMIT)]
    stack = [member(learner) for learner in given]
    if not given:
        rate = row.learning_rate * relative_tree_rate(len(rows))
        own_rate = {"rate": rate} if is_auto(estimator.learning_rate) else {}
        stack = [member(symmetric_trees(len(rows)), TREES_LIMIT, **own_rate)]
    if not given and many:
        stack.append(member(mixture(row, rows), condition=FEW_ROUNDS))
    if row.kernel is not None:
        stack.append(member(RFFRidge(**row.kernel, **row.ridge), RIDGE_LIMIT))
    if row.alone:
        trailing_tol = TRAILING_TOL if many else None
        refits = not many or not is_auto(estimator.refit)
        stack.append(member(row.newton(1), refits=refits, trailing_tol=trailing_tol))
    if row.kernel is not None and row.irls is not None and estimator.task == "classification":
        stack.append(member(RFFIRLS(**row.kernel), IRLS_LIMIT, condition=row.irls))
    if len(rows) <= max(FEW, rows.X.shape[1]):
        stack.append(member(LassoPath(), RIDGE_LIMIT, condition=IF_BEST))
    return stack


def symmetric_trees(n_samples: int) -> SymmetricTree:
    """Symmetric trees of linear leaves, or with many rows of constant ones.

    From `MEDIUM` to `FEW` rows all rows of a tree order the levels of a category. With fewer rows levels are too
    rare for that; with more it is trees of the mixture that do so.
    """
    if n_samples <= FEW:
        return SymmetricTree(leaf="linear", max_depth=4, ordered=n_samples < MEDIUM)
    return SymmetricTree(leaf="constant", max_depth=tree_depth(n_samples))


def sparse_trees(n_samples: int) -> SymmetricTree:
    """Symmetric trees for sparse rows, each of a sample of the columns."""
    return SymmetricTree(leaf="constant", max_depth=tree_depth(n_samples), max_bin=64, colsample_bytree=0.1)


def is_fast(estimator: Any, rows: Dataset) -> bool:
    """Whether to train symmetric trees alone; a ranker keeps its mixture."""
    return estimator.quality == "fast" and is_auto(estimator.learner) and rows.rows != "groups"


def single_learner(estimator: Any, row: TrainingDefaults, rows: Dataset) -> Learner:
    """The learner of a model that is not stacked."""
    if isinstance(rows.X, SparseRows) and rows.rows != "groups":
        return sparse_trees(len(rows))
    if is_fast(estimator, rows):
        return SymmetricTree(leaf="linear", max_depth=tree_depth(len(rows)) - 2, max_bin=64)
    return mixture(row, rows)


def mixture(row: TrainingDefaults, rows: Dataset) -> Mixture:
    """The best single kind of model."""
    trees = symmetric_trees(len(rows)) if len(rows) <= FEW else SymmetricTree(leaf="constant", ordered=False)
    return Mixture(row.newton(0), RANKING_TREES if rows.rows == "groups" else trees)


def relative_tree_rate(n_samples: int) -> float:
    """The relative learning rate of constant leaves: many rows bear longer steps, which jagged functions need."""
    return float(np.clip((n_samples / 20_000) ** (1 / 3), 1.0, 3.0))


def tree_depth(n_samples: int) -> int:
    """The depth of trees with about half as many leaves as the root of the number of rows, from 6 to 8."""
    return round(min(max(math.log2(n_samples) / 2 - 1, 6), 8))


def is_single(estimator: Any, init: Ensemble | None) -> bool:
    """Whether to train a single model: from another one, or so that a warm start can continue from it."""
    return init is not None or bool(estimator.warm_start)


def stacks(estimator: Any, init: Ensemble | None) -> bool:
    """Whether early stopping trains several members."""
    single = not is_auto(estimator.learner) or is_single(estimator, init) or estimator.quality == "fast"
    return not single or estimator.quality == "high"


def stopping_plan(
    plan: Plan,
    estimator: Any,
    rows: Dataset,
    row: TrainingDefaults,
    init: Ensemble | None,
    splits: Sequence[tuple[Array, Array]] | None,
) -> Plan:
    """The plan with folds, refit and patience."""
    n_samples = len(rows)
    # A validation set of few groups says little, however many rows they have.
    n_units = rows.n_groups if rows.rows == "groups" else n_samples
    by_units = default_n_folds(n_units, stacks(estimator, init), estimator.quality == "high")
    n_folds = row.n_folds or (1 if is_single(estimator, init) else by_units)
    n_folds = min(n_folds, max(1, n_samples // 2), max_folds(estimator, rows.y), rows.n_groups)
    n_folds = n_folds if is_auto(estimator.n_folds) else int(estimator.n_folds)
    refit = n_folds == 1 and (n_samples < NO_REFIT or estimator.quality != "fast")
    if splits is not None:
        # The folds need not hold out each row once, and the last rows are the most like those to come.
        n_folds, refit = len(splits), True
    n_classes = int(rows.y[:, 0].max()) + 1 if estimator.task == "classification" else 2
    return replace(
        plan,
        patience=patience(estimator, n_samples, row, n_classes),
        tol=estimator.tol,
        n_folds=n_folds,
        validation_fraction=estimator.validation_fraction if splits is None else 0.0,
        refit=refit if is_auto(estimator.refit) else bool(estimator.refit),
        replay=n_folds * row.n_repeats > 1 and replays_folds(estimator),
        n_repeats=row.n_repeats,
        splits=splits,
    )


def has_splitter(estimator: Any) -> bool:
    """Whether a splitter chooses the held-out rows."""
    return not isinstance(estimator.validation_fraction, numbers.Real)


def replays_folds(estimator: Any) -> bool:
    """Whether models of folds are fitted to all rows again, if their learner can."""
    return is_auto(estimator.refit) and not has_splitter(estimator)


def max_folds(estimator: Any, y: Array) -> int:
    """The most folds that each have a row of every class, as metrics may need; at least 2."""
    if estimator.task == "regression" or estimator.eval_metric is None:
        return len(y)
    counts = np.bincount(y[:, 0].astype(np.int64))
    return max(2, int(counts[counts > 0].min()))


def patience(estimator: Any, n_samples: int, row: TrainingDefaults, n_classes: int) -> Patience:
    """How long early stopping waits: longer with more rows, which benefit from more rounds."""
    if not is_auto(estimator.n_iter_no_change):
        return Patience(int(estimator.n_iter_no_change))
    if estimator.task != "classification" or estimator.eval_metric is not None:
        return Patience(row.patience, row.share)
    # With many rows the shares are of the log loss of a coin, 1 bit.
    bits = math.log2(n_classes) if n_samples > FEW else 1.0
    return Patience(row.patience, row.share, *(part / bits for part in row.converged))
