"""From the parameters of an estimator to the parts and the plan of its fit, with policies for learners."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeAlias

from sklearn.base import clone

from ..boosting.early_stopping.patience import PatienceLimit
from ..boosting.early_stopping.validation_split import require_whole_groups
from ..boosting.evaluation import Evaluation
from ..boosting.loop import Parts, Shrunk
from ..boosting.plan import Member, Plan, Start
from ..core import Learner
from ..data.dataset import MIN_DISTINCT, Dataset, merge_copies, merge_duplicates
from ..learners import RFF1, RFFIRLS, RFFK, LassoPath, Mixture, RFFNewton, RidgePath, SymmetricTree, Tree
from ..learners.kernel_machines.base import KernelMachine
from ..learners.registry import LEARNERS
from ..learners.trees.symmetric.columns import MAX_SINGLED_OUT
from ..losses import LabelRegression
from ..losses.registry import LOSSES
from ..preprocessing.feature_expansion import fit_clipping
from ..preprocessing.log_transform import choose_log_transform
from ..terms import ClipAndLog, ImputeAndEncode
from ..terms.ensemble import Ensemble
from ..utils.param_validation import is_auto, require_all
from ..utils.typing import Array
from .defaults import (
    IRLS_LIMIT,
    MAX_ROUNDS,
    NO_REFIT,
    POOL_SIZE,
    ROUNDS,
    TrainingDefaults,
    choose,
    has_splitter,
    members,
    single_learner,
    stacks,
    stopping_plan,
)
from .parameters import DEFAULT_LEARNER

Answer: TypeAlias = Callable[[Any], Any]
Rate: TypeAlias = float | Callable[[int], float]


def single(learner: Learner) -> tuple[Learner, ...]:
    """The learner alone."""
    return (learner,)


SYMMETRIC_TREES = {"leaf": ("constant", "linear"), "crosses": (0, 6)}
"""What is tried for parameters of :class:`SymmetricTree` that are "auto"."""


def symmetric_trees_of(learner: SymmetricTree) -> tuple[Learner, ...]:
    """The trees with all combinations of what is tried; leaves are constant with monotone constraints."""
    # Subclasses may have other constructor parameters.
    given = learner.get_params(deep=False)
    free = [name for name in SYMMETRIC_TREES if name in given and is_auto(given[name])]
    names = [name for name in free if name != "leaf" or not learner.active_constraints]
    several = product(*(SYMMETRIC_TREES[name] for name in names))
    made = (clone(learner).set_params(**dict(zip(names, values, strict=True))) for values in several)
    return tuple(made) if names else (learner,)


def mixtures_of(learner: Mixture) -> tuple[Learner, ...]:
    """A mixture with each of the alternatives of the trees."""
    trees = alternatives(LEARNERS.make(learner.trees))
    return tuple(clone(learner).set_params(trees=one) for one in trees) if len(trees) > 1 else (learner,)


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
        that amplify rounding errors need it, so that a row of weight 2 and two equal rows give the same bits.
    alternatives : callable, optional
        ``alternatives(learner)`` are learners that a fit with early stopping compares in 50 rounds, to train the
        best.
    replays : callable, optional
        ``replays(learner, expansion)`` says whether a refit on features with such an expansion fits the terms of a
        model again, if the learner can; otherwise it trains new rounds. It is False where structures depend on the
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
    replays: Callable[[Any, ImputeAndEncode | None], bool] = lambda learner, expansion: True
    allows_log: Answer = lambda learner: False
    patience_limit: PatienceLimit | None = None


def everything(learner: Learner) -> float:
    """No limit to the rows of which duplicates are merged."""
    return math.inf


def never(learner: Learner, expansion: ImputeAndEncode | None) -> bool:
    """Whether a refit replays: it trains new rounds."""
    return False


# Of learners whose outputs are Newton steps.
SECOND_ORDER = LearnerPolicy(
    stops_early=True,
    replays=never,
    pool_size=POOL_SIZE,
    max_merged_rows=lambda learner: 20_000,
    allows_log=lambda learner: True,
)
LEARNER_POLICIES: dict[type, LearnerPolicy] = {
    Learner: LearnerPolicy(),
    RFFK: LearnerPolicy(max_merged_rows=everything, replays=never),
    RFF1: LearnerPolicy(max_merged_rows=everything, replays=never),
    RFFNewton: SECOND_ORDER,
    KernelMachine: SECOND_ORDER,
    LassoPath: SECOND_ORDER,
    RidgePath: replace(SECOND_ORDER, pool_size=None),
    RFFIRLS: replace(SECOND_ORDER, patience_limit=IRLS_LIMIT),
    Mixture: replace(SECOND_ORDER, alternatives=mixtures_of, allows_log=allows_log_mixture),
    # With more rows XGBoost's bins depend on weights.
    Tree: LearnerPolicy(max_merged_rows=lambda tree: tree.max_bin, replays=never),
    # Slopes amplify rounding errors, and copies of a row would be in both parts of a tree's rows.
    SymmetricTree: LearnerPolicy(
        stops_early=True, max_merged_rows=everything, alternatives=symmetric_trees_of, replays=replays_trees
    ),
}
"""The policy of each class of learners, which its subclasses share unless they have an entry of their own."""


def policy_of(learner: Learner) -> LearnerPolicy:
    """The policy of the closest class of a learner in the table."""
    return next(filter(None, map(LEARNER_POLICIES.get, type(learner).__mro__)))


def alternatives(learner: Learner) -> tuple[Learner, ...]:
    """The learners that a fit with early stopping compares, to train the best."""
    return tuple(policy_of(learner).alternatives(learner))


def compose(estimator: Any) -> Parts:
    """The parts of an estimator, resolved and checked one by one.

    Raises
    ------
    ValueError, TypeError
        If a parameter or a part is invalid.
    """
    require_all(estimator, estimator.constraints)
    task = estimator.task
    loss = estimator.default_loss if is_auto(estimator.loss) else estimator.loss
    learner = DEFAULT_LEARNER if is_auto(estimator.learner) else estimator.learner
    parts = Parts.resolved(loss, learner, estimator.step)
    if task == "classification" and parts.loss.task == "regression":
        return replace(parts, loss=LOSSES.create(LabelRegression(parts.loss)))
    if parts.loss.task != task:
        found = parts.loss.task
        raise ValueError(f"{type(estimator).__name__}: loss {estimator.loss!r} is for {found}, not for {task}")
    return parts


def plan_fit(
    estimator: Any,
    parts: Parts,
    rows: Dataset,
    validation: Dataset | None,
    stops: bool,
    start: Start,
    splits: Sequence[tuple[Array, Array]] | None = None,
) -> Plan:
    """What a fit of an estimator trains.

    Parameters
    ----------
    estimator : RFFBoostClassifier or RFFBoostRegressor
        Its parameters, and its fitted encoder of features.
    parts : Parts
        Loss, learner and step, prepared for the rows.
    rows : Dataset
        All rows.
    validation : Dataset or None
        The user's rows for early stopping.
    stops : bool
        Whether it uses early stopping.
    start : Start
        What it continues from.
    splits : sequence of pairs of ndarray, optional
        The rows to fit to and to hold out of each model, if a splitter chooses them.
    """
    row = choose(estimator, rows, validation, start.ensemble) if stops else TrainingDefaults(0.1, 40)
    rate = row.learning_rate if isinstance(estimator.learning_rate, str) else estimator.learning_rate
    n_estimators = (estimator.n_estimators or (MAX_ROUNDS if stops else ROUNDS)) + start.n_initial
    require_room(type(estimator).__name__, start.ensemble, estimator.n_estimators, n_estimators)
    expansion = estimator.encoder_.expansion

    def member(learner: Learner, limit: PatienceLimit | None = None, rate: Rate = rate, **options: Any) -> Member:
        step = Shrunk(parts.with_learner(learner).step, rate, start.n_initial)
        policy = policy_of(learner)
        replays = learner.refits and policy.replays(learner, expansion)
        refits = replays or len(rows) < NO_REFIT or splits is not None or not is_auto(estimator.refit)
        known: dict[str, Any] = {"pool_size": policy.pool_size, "replays": replays, "refits": refits}
        return Member(learner, step, limit, **known | options)

    stacked = stops and stacks(estimator, start.ensemble)
    if stacked:
        given = () if is_auto(estimator.learner) else alternatives(parts.learner)
        trained = members(estimator, given, row, member, rows)
    else:
        limit = policy_of(parts.learner).patience_limit if is_auto(estimator.n_iter_no_change) else None
        learner = single_learner(estimator, row, rows) if stops and is_auto(estimator.learner) else parts.learner
        several = alternatives(learner) if stops else (learner,)
        trained = [member(learner, limit) for learner in several]
    plan = Plan(trained, rate, n_estimators, races=not stacked)
    if not stops:
        return plan
    if splits is not None:
        require_whole_groups(type(estimator).__name__, rows, splits)
    return stopping_plan(plan, estimator, rows, row, start.ensemble, splits)


def require_room(owner: str, init: Ensemble | None, n_estimators: int | None, n_rounds: int) -> None:
    """Raise a ValueError if the model to continue from has more rounds than requested."""
    if init is not None and len(init) > n_rounds:
        given = n_estimators or f"None, for {n_rounds}"
        raise ValueError(
            f"{owner}: n_estimators must be at least the {len(init)} rounds already fitted when warm_start is set "
            f"(all models of a fit with early stopping counted), got {given}"
        )


def merged_rows(
    estimator: Any, learner: Learner, rows: Dataset, evaluation: Evaluation | None
) -> tuple[Dataset, Evaluation | None, bool]:
    """The rows of a fit with copies merged, what is monitored besides these rows, and whether it stops early."""
    stops = uses_early_stopping(estimator, learner, None if evaluation is None else evaluation.monitored, rows)
    if stops:
        if not has_splitter(estimator):
            rows = merge_copies(rows, min_distinct_rows(estimator.n_folds))
        if evaluation is not None and evaluation.sets:
            evaluation = evaluation.monitoring(type(estimator).__name__, rows)
            stops = evaluation.monitored is not None or uses_early_stopping(estimator, learner, None, rows)
    if not stops and not rows.is_coupled and len(rows) <= policy_of(learner).max_merged_rows(learner):
        rows = merge_duplicates(rows)
    return rows, evaluation, stops


def uses_early_stopping(estimator: Any, learner: Learner, validation: Dataset | None, data: Dataset) -> bool:
    """Whether a fit uses early stopping; a ValueError if that does not go with the parameters or the rows."""
    owner, given = type(estimator).__name__, estimator
    stops = bool(given.early_stopping)
    if is_auto(given.early_stopping):
        is_default = is_auto(given.n_folds) and is_auto(given.n_iter_no_change) and not has_splitter(given)
        asked = given.quality == "high" or not is_default
        stops = validation is not None or ((policy_of(learner).stops_early or asked) and not given.warm_start)
        # A single query, for example, is not divided.
        stops &= validation is not None or not data.is_coupled or data.n_groups > 1
    if stops and given.quality == "high" and learner.active_constraints:
        raise ValueError(
            f"{owner}: quality must be 'auto' or 'fast' where learner has "
            f"{' and '.join(learner.active_constraints)}, got 'high', which stacks it with cosines, and these "
            f"do not keep to them"
        )
    if has_splitter(given) and not is_auto(given.n_folds):
        raise ValueError(
            f"{owner}: n_folds must be 'auto' where validation_fraction is a splitter, got {given.n_folds!r}"
        )
    if stops and validation is None and not has_splitter(given):
        require_enough_rows(owner, given.n_folds, data)
    return stops


def require_enough_rows(owner: str, n_folds: int | str, data: Dataset) -> None:
    """Raise a ValueError if there are too few rows or groups to hold some of them out."""
    least = 2 if is_auto(n_folds) else max(2, int(n_folds))
    n_samples, n_groups = len(data), data.n_groups
    if n_samples < 2:
        raise ValueError(
            f"{owner}: X must have at least 2 rows, since early stopping holds out some, got "
            f"n_samples={n_samples}; early_stopping=False takes a single one"
        )
    if n_samples < least:
        raise ValueError(
            f"{owner}: n_folds must be at most the number of rows; got n_folds={n_folds} and n_samples={n_samples}"
        )
    if n_groups < least:
        source = "y must be of" if data.is_coupled else "groups must name"
        raise ValueError(
            f"{owner}: {source} at least {least} groups, since early stopping holds out whole groups"
            f"{'' if least == 2 else f' in n_folds={n_folds} folds'}, got {n_groups}"
        )


def min_distinct_rows(n_folds: int | str) -> int:
    """The number of distinct rows above which copies are merged: enough for the folds."""
    return MIN_DISTINCT if is_auto(n_folds) else max(MIN_DISTINCT, 2 * int(n_folds))


def clip_features(estimator: Any, parts: Parts, plan: Plan, data: Dataset, seed: int) -> ClipAndLog | None:
    """The range of the columns that learners get, the log transform of skewed ones, and imputation by means."""
    expansion = estimator.encoder_.expansion
    if estimator.extrapolation != "constant":
        only_imputes = expansion is not None and expansion.only_imputes_means
        return ClipAndLog.only_imputing(expansion.means) if only_imputes else None
    clipping = fit_clipping(data.X, expansion)
    learner = plan.members[0].learner if len(plan.members) == 1 else parts.learner
    if policy_of(learner).allows_log(learner) and is_auto(estimator.standardize):
        clipping = choose_log_transform(clipping, data, parts.loss, expansion, seed)
    return clipping
