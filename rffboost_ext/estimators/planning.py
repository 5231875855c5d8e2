"""From the parameters of an estimator to the parts, the recipe and the plan of its fit."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..boosting.early_stopping.patience import Patience
from ..boosting.early_stopping.validation_split import require_undivided_groups, splits_of
from ..boosting.evaluation import Evaluation
from ..boosting.loop import Parts
from ..boosting.plan import Plan, Start
from ..core import Learner
from ..inspection.history_display import selected_round
from ..learners.mixture import has_trees
from ..losses.registry import LOSSES
from ..losses.wrapper import LOSS_OF_LABELS, LabelRegression, fits_labels
from ..rows.dataset import Dataset, merge_duplicates
from ..rows.feature_expansion import fit_clipping
from ..rows.log_transform import choose_log_transform
from ..rows.weights import check_sample_weight
from ..sources.sample import FitRows
from ..terms import ClipAndLog
from ..utils.param_validation import is_auto, require_all
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .defaults import MAX_ROUNDS, ROUNDS, choose_recipe, recipe_of_learner, short_patience, single_recipe
from .monotone import resolved_recipe
from .parameters import part_of
from .policies import policy_of
from .recipe import Facts, MemberRule, Recipe

# Share of the rows that a refresh holds out for the weights of a stack, if a splitter has chosen those of the fit.
HELD_OUT = 0.1
# Share of copies among the rows above which a fit that holds out some of them warns.
MANY_COPIES = 0.05


def compose(estimator: Any) -> Parts:
    """The parts of an estimator, resolved and checked one by one."""
    require_all(estimator, estimator.constraints)
    task, owner = estimator.task, type(estimator).__name__
    loss = part_of(estimator, "loss")
    if isinstance(loss, str) and loss not in LOSSES.names():
        own = [name for name in LOSSES.names() if estimator.takes_loss(LOSSES.get(name))]
        raise ValueError(f"{owner}: {LOSSES.unknown(loss, own)}")
    parts = Parts.resolved(loss, part_of(estimator, "learner"), estimator.step)
    if task == "classification" and fits_labels(parts.loss):
        return replace(parts, loss=LabelRegression(parts.loss))
    if parts.loss.task != task:
        allowed = f"for {task}" if task == "regression" else f"for {task}, or {LOSS_OF_LABELS}"
        raise ValueError(f"{owner}: loss must be {allowed}, got {parts.loss!r}")
    return parts


def recipe_of(
    estimator: Any, parts: Parts, rows: Dataset, monitored: bool, stops: bool, start: Start, n_splits: int
) -> Recipe:
    """The recipe of a fit: that of `quality`, or one of a learner alone, with the estimator's parameters.

    The parts are prepared for the rows. `monitored` says whether the user has given rows for early stopping, and
    `stops` whether the fit uses it; `n_splits` is the number of splits of a splitter, or 0.
    """
    facts, quality, owner = Facts.of(rows, estimator.task), estimator.quality, type(estimator).__name__
    is_single = start.ensemble is not None or bool(estimator.warm_start)
    if isinstance(quality, Recipe):
        if not is_auto(estimator.learner):
            raise ValueError(
                f"{owner}: learner must be 'auto' where quality is a Recipe, which has learners of its own, got "
                f"{estimator.learner!r}"
            )
        if not stops:
            raise ValueError(f"{owner}: early_stopping must be True where quality is a Recipe")
        recipe = quality
    elif not stops:
        recipe = Recipe([MemberRule("model", parts.learner)], patience=None)
    elif not is_auto(estimator.learner):
        recipe = recipe_of_learner(parts.learner, facts, 1 if is_single else None)
    elif is_single:
        recipe = single_recipe(facts, quality == "fast")
    else:
        recipe = choose_recipe(facts, quality)
        if monitored and quality != "fast":
            # Of one model of each member, short steps are better.
            recipe = replace(with_rate(recipe, 0.1), patience=short_patience(facts))
    recipe = with_parameters(recipe, estimator, rows, facts, n_splits)
    recipe = resolved_recipe(estimator, recipe, parts.learner)
    return of_all_rows(recipe) if monitored else recipe


def of_all_rows(recipe: Recipe) -> Recipe:
    """The recipe with one model of each member, which sees all rows, as the user has given others to monitor."""
    members = [replace(one, n_models=None, after="keep") for one in recipe.members]
    return replace(recipe, members=members, n_folds=1)


def with_rate(recipe: Recipe, rate: Any) -> Recipe:
    """The recipe with one learning rate for all members."""
    members = [replace(one, learning_rate=None) for one in recipe.members]
    return replace(recipe, members=members, learning_rate=rate)


def with_parameters(recipe: Recipe, estimator: Any, rows: Dataset, facts: Facts, n_splits: int) -> Recipe:
    """The recipe with what the parameters of an estimator say in place of its own entries."""
    if not is_auto(estimator.learning_rate):
        recipe = with_rate(recipe, estimator.learning_rate)
        if recipe.patience is not None and not isinstance(estimator.quality, Recipe):
            recipe = replace(recipe, patience=short_patience(facts))
    patience = recipe.patience
    if patience is None:
        return recipe
    if not is_auto(estimator.n_iter_no_change):
        recipe = replace(recipe, patience=Patience(int(estimator.n_iter_no_change)))
        if len(recipe.members) == 1:
            recipe = replace(recipe, members=[replace(recipe.members[0], limit=None)])
    elif estimator.eval_metric is not None:
        # A metric may have no least value.
        recipe = replace(recipe, patience=replace(patience, converged_below=0.0))
    return with_folds(recipe, estimator, rows, n_splits)


def with_folds(recipe: Recipe, estimator: Any, rows: Dataset, n_splits: int) -> Recipe:
    """The recipe with the folds and the refit that the parameters of an estimator and its rows allow."""
    by_user = bool(n_splits) or not is_auto(estimator.n_folds)
    if is_auto(estimator.n_folds):
        n_folds = min(recipe.n_folds, max(1, len(rows) // 2), max_folds(estimator, rows.y), rows.n_groups)
    else:
        n_folds = int(estimator.n_folds)
    if not by_user and n_folds == recipe.n_folds and is_auto(estimator.refit):
        return recipe
    is_one = n_folds == 1 and (by_user or recipe.n_folds > 1)

    def after(rule: MemberRule) -> str:
        if rule.after == "replay" and n_splits < 2:
            return "replay"
        if n_splits or is_one:
            return "refit"
        return "keep" if by_user else rule.after

    members = [
        replace(one, after=after(one), n_models=None if by_user else one.n_models) for one in recipe.members
    ]
    if estimator.refit is False:
        members = [replace(one, after="keep") for one in members]
    elif estimator.refit is True:
        members = [replace(one, after="refit") if one.after == "keep" else one for one in members]
    return replace(recipe, members=members, n_folds=n_splits or n_folds)


def max_folds(estimator: Any, y: Array) -> int:
    """The most folds that each have a row of every class, as metrics may need; at least 2."""
    if estimator.task == "regression" or estimator.eval_metric is None:
        return len(y)
    counts = np.bincount(y[:, 0].astype(np.int64))
    return max(2, int(counts[counts > 0].min()))


def plan_fit(
    estimator: Any,
    recipe: Recipe,
    parts: Parts,
    rows: Dataset,
    start: Start,
    splits: Sequence[tuple[Array, Array]] | None = None,
) -> Plan:
    """The plan of a recipe for the rows of an estimator, with the splits of a splitter, if it has one."""
    owner = type(estimator).__name__
    limit = ROUNDS if recipe.patience is None else MAX_ROUNDS
    n_estimators = (estimator.n_estimators or limit) + start.n_initial
    n_done = 0 if start.ensemble is None else len(start.ensemble)
    if n_done > n_estimators:
        requested = estimator.n_estimators or f"None, for {n_estimators}"
        raise ValueError(
            f"{owner}: n_estimators must be at least the {n_done} rounds already fitted when warm_start is set "
            f"(all models of a fit with early stopping counted), got {requested}"
        )
    if n_done == n_estimators:
        warn_user(
            f"{owner}: the previous model has all n_estimators={n_estimators} rounds, so that the fit adds none"
        )
    if splits is not None:
        require_undivided_groups(owner, rows, splits)
    plan = recipe.plan(parts, n_estimators, start.n_initial, estimator.encoder_.expansion)
    fraction = estimator.validation_fraction if splits is None and not has_splitter(estimator) else HELD_OUT
    return replace(plan, tol=estimator.tol, validation_fraction=fraction, splits=splits)


def has_splitter(estimator: Any) -> bool:
    """Whether a splitter chooses the held-out rows."""
    return not isinstance(estimator.validation_fraction, numbers.Real)


def splits_of_user(estimator: Any, sample: FitRows) -> list[tuple[Array, Array]] | None:
    """The splits of the rows of a fit by a splitter, if there is one."""
    if not has_splitter(estimator):
        return None
    used = check_sample_weight(sample.weight, len(sample.y)) > 0.0
    what = f"{type(estimator).__name__}: validation_fraction"
    return splits_of(what, estimator.validation_fraction, sample.X, sample.y, sample.groups, used)


def monitored_rows(
    estimator: Any, learner: Learner, rows: Dataset, evaluation: Evaluation | None
) -> tuple[Evaluation | None, bool]:
    """What is monitored besides the rows of a fit, and whether it stops early."""
    stops = uses_early_stopping(estimator, learner, None if evaluation is None else evaluation.monitored, rows)
    if stops and evaluation is not None and evaluation.sets:
        evaluation = evaluation.monitoring(type(estimator).__name__, rows)
        stops = evaluation.monitored is not None or uses_early_stopping(estimator, learner, None, rows)
    return evaluation, stops


def without_duplicates(learner: Learner, rows: Dataset) -> Dataset:
    """The rows of a fit without early stopping, merged if the policy of the learner says so."""
    merges = not rows.is_coupled and len(rows) <= policy_of(learner).max_merged_rows(learner)
    return merge_duplicates(rows) if merges else rows


def count_copies(estimator: Any, rows: Dataset) -> int | None:
    """The number of copies among the rows of a fit that holds out some; None if single rows are not held out.

    A warning states it if it is more than `MANY_COPIES` of the rows.
    """
    if rows.group is not None or has_splitter(estimator):
        return None
    n_copies, n = rows.n_copies, len(rows)
    if n_copies > MANY_COPIES * n:
        warn_user(
            f"{type(estimator).__name__}: {n_copies:,} of {n:,} rows ({n_copies / n:.1%}) are copies of earlier "
            f"ones, equal in X, y and base_margin. Rows that early stopping holds out then have copies among the "
            f"training rows. This is right for repeated observations, but not for oversampled rows: groups= with "
            f"one label for all copies of a row keeps these on one side"
        )
    return n_copies


def uses_early_stopping(estimator: Any, learner: Learner, validation: Dataset | None, data: Dataset) -> bool:
    """Whether a fit uses early stopping; a ValueError if that does not go with the parameters or the rows."""
    owner, splits = type(estimator).__name__, has_splitter(estimator)
    stops = bool(estimator.early_stopping)
    if is_auto(estimator.early_stopping):
        is_default = is_auto(estimator.n_folds) and is_auto(estimator.n_iter_no_change) and not splits
        stops = validation is not None or (
            (policy_of(learner).stops_early or not is_default) and not estimator.warm_start
        )
        # A single query, for example, is not divided.
        stops &= validation is not None or not data.is_coupled or data.n_groups > 1
    if splits and not is_auto(estimator.n_folds):
        raise ValueError(
            f"{owner}: n_folds must be 'auto' where validation_fraction is a splitter, got {estimator.n_folds!r}"
        )
    if stops and validation is None and not splits:
        require_enough_rows(owner, estimator.n_folds, data)
    return stops


def require_enough_rows(owner: str, n_folds: int | str, data: Dataset) -> None:
    """Raise a ValueError if there are too few rows or groups to hold some of them out."""
    least = 2 if is_auto(n_folds) else max(2, int(n_folds))
    folds = "" if least == 2 else f" in n_folds={n_folds} folds"
    if len(data) < least:
        raise ValueError(
            f"{owner}: X must have at least {least} rows, since early stopping holds out some{folds}, got "
            f"n_samples={len(data)}; early_stopping=False takes a single one"
        )
    if data.n_groups < least:
        source = "y must be of" if data.is_coupled else "groups must name"
        raise ValueError(
            f"{owner}: {source} at least {least} groups, since early stopping holds out whole groups{folds}, got "
            f"{data.n_groups}"
        )


def clip_features(estimator: Any, parts: Parts, plan: Plan, data: Dataset, seed: int) -> ClipAndLog | None:
    """The range of the columns that learners get, the log transform of skewed ones, and imputation by means."""
    expansion = estimator.encoder_.expansion
    if estimator.extrapolation != "constant":
        only_imputes = expansion is not None and expansion.only_imputes_means
        return ClipAndLog.only_imputing(expansion.means) if only_imputes else None
    clipping = fit_clipping(data.X, expansion)
    fourier = [one.learner for one in plan.members if not has_trees(one.learner)]
    if fourier and all(policy_of(one).allows_log(one) for one in fourier) and is_auto(estimator.standardize):
        clipping = choose_log_transform(clipping, data, parts.loss, expansion, seed)
    return clipping


def warn_at_limit(estimator: Any, limit: int) -> None:
    """Warn of members of a fitted estimator that still improved in the last of their rounds."""
    members, curves = (getattr(estimator, name, ()) for name in ("member_names_", "validation_curves_"))
    names = [
        name
        for name, by_fold in zip(members, curves, strict=False)
        if any(len(one) > limit and selected_round(one.tolist(), estimator.tol) == limit for one in by_fold)
    ]
    if names:
        who = "the model" if len(members) == 1 else ", ".join(names)
        warn_user(
            f"{type(estimator).__name__}: {who} still improved at the limit of {limit:,} rounds: a larger "
            f"n_estimators or learning_rate may help"
        )
