"""From the parameters of an estimator to the parts and the plan of its fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..boosting.early_stopping.patience import Patience, PatienceLimit
from ..boosting.early_stopping.validation_split import FEW, default_n_folds
from ..boosting.evaluation import Evaluation
from ..boosting.plan import Member, Parts, Plan, Start
from ..boosting.steps import Shrunk
from ..core import Learner
from ..data.dataset import MIN_DISTINCT, Dataset, merge_copies, merge_duplicates
from ..learners import RFFIRLS, Mixture, RFFNewton, RFFRidge, SymmetricTree
from ..losses import LabelRegression
from ..losses.registry import LOSSES
from ..preprocessing.feature_expansion import fit_clipping
from ..preprocessing.log_transform import choose_log_transform
from ..terms import ClipAndLog
from ..terms.ensemble import Ensemble
from ..utils.param_validation import is_auto, require_all
from ..utils.typing import Array
from .defaults import (
    GIVEN,
    IRLS_LIMIT,
    MAX_ROUNDS,
    NO_REFIT,
    POOL_SIZE,
    ROUNDS,
    UNEQUAL,
    UNEQUAL_SIZE,
    TrainingDefaults,
    alternatives,
    policy_of,
    table_row,
    with_more_frequencies,
)
from .parameters import DEFAULT_LEARNER

# Kernel machines take few full steps, so their patience is short.
RIDGE_LIMIT = PatienceLimit(6, 1e-3)
# On smooth functions the error of trees falls slowly for thousands of rounds, in which cosines have reached more.
TREES_LIMIT = PatienceLimit(25, 2e-4)


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
    estimator: Any, parts: Parts, rows: Dataset, validation: Dataset | None, stops: bool, start: Start
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
    """
    row = choose(estimator, rows, validation, start.ensemble) if stops else TrainingDefaults(0.1, 40)
    rate = row.learning_rate if isinstance(estimator.learning_rate, str) else estimator.learning_rate
    n_estimators = (estimator.n_estimators or (MAX_ROUNDS if stops else ROUNDS)) + start.n_initial
    require_room(type(estimator).__name__, start.ensemble, estimator.n_estimators, n_estimators)
    expansion = estimator.encoder_.expansion

    def member(learner: Learner, limit: PatienceLimit | None = None, **options: Any) -> Member:
        step = Shrunk(parts.with_learner(learner).step, rate, start.n_initial)
        policy = policy_of(learner)
        known: dict[str, Any] = {
            "pool_size": policy.pool_size,
            "replays": learner.refits and policy.replays(expansion),
        }
        return Member(learner, step, limit, **known | options)

    stacked = stops and stacks(estimator, start.ensemble)
    if stacked:
        trained = members(estimator, parts, row, member, rows)
    else:
        limit = policy_of(parts.learner).patience_limit if is_auto(estimator.n_iter_no_change) else None
        several = alternatives(parts.learner) if stops else (parts.learner,)
        trained = [member(learner, limit) for learner in several]
    plan = Plan(trained, rate, n_estimators, races=not stacked)
    return stopping_plan(plan, estimator, rows, row, start.ensemble) if stops else plan


def require_room(owner: str, init: Ensemble | None, n_estimators: int | None, n_rounds: int) -> None:
    """Raise a ValueError if the model to continue from has more rounds than requested."""
    if init is not None and len(init) > n_rounds:
        given = n_estimators or f"None, for {n_rounds}"
        raise ValueError(
            f"{owner}: n_estimators must be at least the {len(init)} rounds already fitted when warm_start is set "
            f"(all models of a fit with early stopping counted), got {given}"
        )


def choose(estimator: Any, data: Dataset, validation: Dataset | None, init: Ensemble | None) -> TrainingDefaults:
    """The defaults of a fit with early stopping."""
    row, many = table_row(len(data), data.X.shape[1], data.rows == "all"), len(data) > FEW
    if not many and data.effective_size < UNEQUAL_SIZE * len(data):
        row = replace(row, **UNEQUAL)
    free = is_auto(estimator.learning_rate) and is_auto(estimator.learner)
    high = estimator.quality == "high"
    if high:
        row = with_more_frequencies(row)
    if many and free and not high:
        return row
    if many or not free or validation is not None or is_single(estimator, init):
        return replace(row, **GIVEN)
    return replace(row, n_repeats=2) if high and is_auto(estimator.n_folds) else row


def members(
    estimator: Any, parts: Parts, row: TrainingDefaults, member: Callable[..., Member], rows: Dataset
) -> list[Member]:
    """The members of a stack: the mixture or the given learner, kernel machines, cosines and trees alone."""
    mixed, alone = (RFFNewton(relative_rate=rate, **row.cosines) for rate in row.relative_rates)
    first = Mixture(mixed) if is_auto(estimator.learner) else parts.learner
    stack = [member(learner) for learner in alternatives(first)]
    if row.kernel is not None:
        stack.append(member(RFFRidge(**row.kernel, **row.ridge), RIDGE_LIMIT))
    if row.alone:
        stack.append(member(alone, refits=len(rows) <= FEW or not is_auto(estimator.refit)))
    # In rankings the mixture has such trees already.
    if row.symmetric_trees and is_auto(estimator.learner) and rows.rows != "groups":
        stack.append(member(SymmetricTree(leaf="constant"), TREES_LIMIT, pool_size=POOL_SIZE))
    if row.kernel is not None and row.irls is not None and estimator.task == "classification":
        stack.append(member(RFFIRLS(**row.kernel), IRLS_LIMIT, condition=row.irls))
    return stack


def merged_rows(
    estimator: Any, learner: Learner, rows: Dataset, evaluation: Evaluation
) -> tuple[Dataset, Evaluation, bool]:
    """The rows of a fit with copies merged, what is monitored besides these rows, and whether it stops early."""
    stops = uses_early_stopping(estimator, learner, evaluation.monitored, rows)
    if stops:
        rows = merge_copies(rows, min_distinct_rows(estimator.n_folds))
        evaluation = evaluation.without_training_rows(type(estimator).__name__, rows)
        if evaluation.sets and evaluation.monitored is None:
            stops = uses_early_stopping(estimator, learner, None, rows)
    if not stops and not rows.is_coupled and len(rows) <= policy_of(learner).max_merged_rows(learner):
        rows = merge_duplicates(rows)
    return rows, evaluation, stops


def uses_early_stopping(estimator: Any, learner: Learner, validation: Dataset | None, data: Dataset) -> bool:
    """Whether a fit uses early stopping; a ValueError if that does not go with the parameters or the rows."""
    owner, given = type(estimator).__name__, estimator
    stops = bool(given.early_stopping)
    if is_auto(given.early_stopping):
        asked = given.quality == "high" or not (is_auto(given.n_folds) and is_auto(given.n_iter_no_change))
        stops = validation is not None or ((policy_of(learner).stops_early or asked) and not given.warm_start)
        # A single query, for example, is not divided.
        stops &= validation is not None or not data.is_coupled or data.n_groups > 1
    if stops and given.quality == "high" and learner.active_constraints:
        raise ValueError(
            f"{owner}: quality must be 'auto' or 'fast' where learner has "
            f"{' and '.join(learner.active_constraints)}, got 'high', which stacks it with cosines, and these "
            f"do not keep to them"
        )
    if stops and validation is None:
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


def is_single(estimator: Any, init: Ensemble | None) -> bool:
    """Whether to train a single model: from another one, or so that a warm start can continue from it."""
    return init is not None or bool(estimator.warm_start)


def stacks(estimator: Any, init: Ensemble | None) -> bool:
    """Whether early stopping trains several members."""
    single = not is_auto(estimator.learner) or is_single(estimator, init) or estimator.quality == "fast"
    return not single or estimator.quality == "high"


def stopping_plan(plan: Plan, estimator: Any, rows: Dataset, row: TrainingDefaults, init: Ensemble | None) -> Plan:
    """The plan with folds, refit and patience."""
    n_samples = len(rows)
    # A validation set of few groups says little, however many rows they have.
    n_units = rows.n_groups if rows.rows == "groups" else n_samples
    by_units = default_n_folds(n_units, stacks(estimator, init), estimator.quality == "high")
    n_folds = row.n_folds or (1 if is_single(estimator, init) else by_units)
    n_folds = min(n_folds, max(1, n_samples // 2), max_folds(estimator, rows.y), rows.n_groups)
    n_folds = n_folds if is_auto(estimator.n_folds) else int(estimator.n_folds)
    n_classes = int(rows.y[:, 0].max()) + 1 if estimator.task == "classification" else 2
    return replace(
        plan,
        patience=patience(estimator, n_samples, row, n_classes),
        tol=estimator.tol,
        n_folds=n_folds,
        validation_fraction=estimator.validation_fraction,
        refit=n_folds == 1 and n_samples < NO_REFIT if is_auto(estimator.refit) else bool(estimator.refit),
        n_repeats=row.n_repeats,
    )


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


def clip_features(estimator: Any, parts: Parts, data: Dataset, seed: int) -> ClipAndLog | None:
    """The range of the columns that learners get, the log transform of skewed ones, and imputation by means."""
    expansion = estimator.encoder_.expansion
    if estimator.extrapolation != "constant":
        only_imputes = expansion is not None and expansion.only_imputes_means
        return ClipAndLog.only_imputing(expansion.means) if only_imputes else None
    clipping = fit_clipping(data.X, expansion)
    if policy_of(parts.learner).allows_log(parts.learner) and is_auto(estimator.standardize):
        clipping = choose_log_transform(clipping, data, parts.loss, expansion, seed)
    return clipping
