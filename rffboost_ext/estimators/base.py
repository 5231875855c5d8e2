"""Base class of classifier and regressor: the way from data to a fitted ensemble."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state

from .._signals import atomic_fit
from ..boosting.callbacks import ProgressPrinter, report_rows
from ..boosting.early_stopping.stacking import mean_curve
from ..boosting.evaluation import Evaluation, arrays_of_sets, evaluation_of, evaluation_sets
from ..boosting.loop import Parts, initial_ensemble
from ..boosting.plan import Interrupted, Plan, Result, Start, key_of
from ..boosting.run import Run
from ..boosting.training import Trainer
from ..contracts.fit import count_scores
from ..core import CoupledLoss, Loss
from ..inspection.importance import sample_of_fit
from ..losses.coupling import Coupling
from ..losses.survival import SurvivalLoss
from ..persistence.model_file import ModelFileMixin
from ..rows.dataset import Dataset
from ..rows.feature_encoder import FeatureEncoder
from ..rows.row_arguments import encode_base_margin, encode_groups, require_base_margin
from ..rows.targets import TargetEncoder
from ..rows.weights import rows_of_positive_weight, warn_if_light
from ..sources.core import Source
from ..sources.sample import FitRows
from ..terms import FeatureMap
from ..utils.parallel import use_threads
from ..utils.registry import full_repr
from ..utils.sparse import is_finite
from ..utils.typing import Array
from .fit_rows import drawn_sets, gradient_sample, read_rows
from .fitted_ensemble import OF_EARLY_STOPPING, OF_EVALUATION, FittedEnsembleMixin
from .init_model import InitModel, compatible_ensemble, read_init_model
from .monotone import resolved_learner
from .parameters import BoosterParameters, part_of
from .planning import (
    clip_features,
    compose,
    count_copies,
    monitored_rows,
    plan_fit,
    recipe_of,
    splits_of_user,
    warn_at_limit,
    without_duplicates,
)
from .recipe import Recipe
from .refresh import refresh


class BaseRFFBoost(BoosterParameters, FittedEnsembleMixin, ModelFileMixin):
    """Base class of classifier and regressor: everything but the kind of target."""

    task: ClassVar[str]
    kept_levels: ClassVar[str | None] = None
    default_loss: ClassVar[str]
    """The loss where `loss` is "auto"."""
    default_learner: ClassVar[str] = "mixture"
    _interrupt: Interrupted | None

    @classmethod
    def takes_loss(cls, kind: type[Loss]) -> bool:
        """Whether losses of a class are for this kind of estimator."""
        return kind.task == cls.task and not issubclass(kind, CoupledLoss | SurvivalLoss)

    @atomic_fit
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        init_model: Any = None,
        eval_set: Any = None,
        groups: Any = None,
        base_margin: Any = None,
        base_margin_eval_set: Any = None,
    ) -> Self:
        """Fit to X and y.

        Parameters
        ----------
        {X}
        {y}
        {sample_weight}
        {init_model}
        {eval_set}
        {groups}
        {base_margin}
        {base_margin_eval_set}

        {raises}
        """
        parts = compose(self)
        for callback in self.callbacks or ():
            if hasattr(callback, "begin"):
                callback.begin()
        targets, sample = read_rows(self, X, y, sample_weight, groups, base_margin)
        eval_set, _ = drawn_sets(self, eval_set)
        init, n_rows = self._read_init_model(init_model), sample.n_rows or len(sample.y)
        fit = None if self._is_warm_start() else partial(self._fit_columns, init, sample.columns)
        loss_text = full_repr(parts.loss)
        rows, parts = self._rows_of(sample, targets, parts, base_margin, fit)
        start = replace(self._start_from(init, parts.loss, rows, targets), loss=loss_text)
        evaluation = self._evaluation(eval_set, base_margin_eval_set, parts.loss, rows, targets)
        rows = rows.coupled_by(*self._couplings(parts.loss), *(evaluation.couplings if evaluation else ()))
        evaluation, stops = monitored_rows(self, parts.learner, rows, evaluation)
        monitored = None if evaluation is None else evaluation.monitored
        rows = rows if stops else without_duplicates(parts.learner, rows)
        n_copies = count_copies(self, rows) if stops and monitored is None else None
        if self.verbose:
            report_rows(n_rows, len(sample.y), n_copies)
        if fit is not None:
            self.encoder_.fit_expansion(rows.X, rows.weight)
        splits = splits_of_user(self, sample) if stops and monitored is None else None
        recipe = recipe_of(self, parts, rows, monitored is not None, stops, start, len(splits or ()))
        plan = plan_fit(self, recipe, parts, rows, start, splits)
        self._store(self._run(plan, parts, rows, evaluation, start), recipe)
        if plan.patience is not None and self._interrupt is None:
            warn_at_limit(self, plan.n_estimators - start.n_initial)
        self.n_rows_seen_ = n_rows
        if n_copies is not None:
            self.n_copies_ = n_copies
        self._after_training(rows, targets)
        return self

    refresh = refresh

    @abstractmethod
    def _targets(self) -> TargetEncoder:
        """The encoder of targets."""

    def _read_target(self, y: Any) -> tuple[TargetEncoder, Array]:
        """The encoder of targets, and the target of a fit as an array."""
        targets = self._targets()
        return targets, targets.read(y)

    def _evaluation(
        self, eval_set: Any, base_margin_eval_set: Any, loss: Loss, rows: Dataset, targets: TargetEncoder
    ) -> Evaluation | None:
        """How the fit is evaluated round by round; None if at most early stopping looks at the loss."""
        is_watched = self.callbacks or self.verbose or self.eval_metric is not None
        if eval_set is None and base_margin_eval_set is None and not is_watched:
            return None
        owner = type(self).__name__
        margins = arrays_of_sets(owner, "base_margin_eval_set", base_margin_eval_set, eval_set, rows.offset)
        sets = evaluation_sets(owner, eval_set, self.encoder_, targets, margins, rows.offset)
        return evaluation_of(owner, self.eval_metric, sets, loss, part_of(self, "loss"), rows, targets)

    def _couplings(self, loss: Loss) -> list[Coupling]:
        """What couples the rows of a fit besides its metrics."""
        return [loss]

    @abstractmethod
    def _check_target(self, parts: Parts, data: Dataset, targets: TargetEncoder) -> None:
        """Raise a ValueError if the parts do not go with the target."""

    def draw(self, source: Source, uniform: bool = False) -> FitRows:
        """The rows of a source that a fit keeps, or a uniform sample."""
        return gradient_sample(self, source, uniform)

    def _rows_of(
        self,
        sample: FitRows,
        targets: TargetEncoder,
        parts: Parts,
        base_margin: Any,
        fit_columns: Callable[[Any], Array] | None,
    ) -> tuple[Dataset, Parts]:
        """Encoded rows of positive weight, and the parts prepared for them.

        `fit_columns` makes a matrix of a table; None for a model that has fitted its columns, and whose scores and
        use of an offset stay.
        """
        owner = type(self).__name__
        group = None if sample.groups is None else encode_groups(owner, sample.groups, sample.X, sample.weight)
        X, y, weight = rows_of_positive_weight(sample.X, sample.y, sample.weight)
        with sample.rows_named():
            X = (fit_columns or self.encoder_.transform)(X)
        # Imputed values would be rounded to float32.
        X = X.astype(np.float64) if X.dtype == np.float32 and not is_finite(X) else X
        parts = replace(parts, learner=resolved_learner(self, parts.learner))
        rows = Dataset(X, *targets.fit_transform(y, weight), group)
        self._check_target(parts, rows, targets)
        n_scores = count_scores(parts.loss, rows.y, targets.n_classes)
        if fit_columns is None:
            require_base_margin(owner, base_margin, self.uses_base_margin_)
            if n_scores != (n_before := self.ensemble_.n_outputs):
                raise ValueError(
                    f"{owner}: y must have the {n_before} raw scores of the previous fit, got {n_scores}"
                )
        if base_margin is not None:
            rows = replace(rows, offset=encode_base_margin(base_margin, sample.X, sample.weight, n_scores))
        warn_if_light(rows.weight)
        return rows, self._prepare(parts, rows, targets)

    def _fit_columns(self, init: InitModel | None, columns: Any, X: Any) -> Array:
        """The matrix of a table, with a new ``encoder_``."""
        self.encoder_ = FeatureEncoder(type(self).__name__, self.categorical_features, self.missing)
        X = self.encoder_.fit_transform(X, None if init is None else init.categories, columns)
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(self.encoder_.columns)
        return X

    def _prepare(self, parts: Parts, data: Dataset, targets: TargetEncoder) -> Parts:
        """The parts prepared for a target; a warm start keeps the prepared loss of the previous fit."""
        if self._is_warm_start() and full_repr(parts.loss) == self._start.loss:
            parts = replace(parts, loss=self.loss_)
        return parts.prepared(data.observations, targets.n_classes)

    def _is_warm_start(self) -> bool:
        """Whether a fit continues from the rounds of the previous one."""
        return bool(self.warm_start) and hasattr(self, "ensemble_")

    def _read_init_model(self, init_model: Any) -> InitModel | None:
        """The user's model to continue from, if there is one."""
        if init_model is not None and self._is_warm_start():
            raise ValueError(
                f"{type(self).__name__}: init_model must be None when warm_start goes on from the previous fit"
            )
        return None if init_model is None else read_init_model(init_model)

    def _start_from(self, init: InitModel | None, loss: Loss, data: Dataset, targets: TargetEncoder) -> Start:
        """What the fit starts from: an initial model, the previous fit, or nothing."""
        if init is not None:
            n_outputs = count_scores(loss, data.y, targets.n_classes)
            of_fit = targets.classes, self.encoder_, data.offset is not None
            ensemble = compatible_ensemble(init, loss, n_outputs, *of_fit)
            self.encoder_.require_scores(ensemble, data.X)
            return Start(ensemble, n_initial=len(ensemble), n_kept=len(ensemble))
        if not self._is_warm_start():
            return Start()
        if full_repr(loss) != full_repr(self.loss_):
            raise ValueError(
                f"{type(self).__name__}: loss must be that of the previous fit, {self.loss_!r}, when warm_start "
                f"is set, got {loss!r}"
            )
        n_kept = len(self.ensemble_) if hasattr(self, "learners_") else self._start.n_kept
        state = deepcopy(self._start.learner_state)
        return replace(self._start, ensemble=self.ensemble_, learner_state=state, n_kept=n_kept)

    def _run(self, plan: Plan, parts: Parts, rows: Dataset, evaluation: Evaluation | None, start: Start) -> Result:
        """Do what the plan says; sets the loss and the state for a warm start."""
        split_seed, seed = self._seeds()
        start = replace(start, seed=seed, raw=start.training_scores(rows))
        keeps_state = bool(self.warm_start) and plan.patience is None
        callbacks: list[Any] = list(self.callbacks or ())
        if self.verbose:
            callbacks.append(ProgressPrinter(self.verbose))
        latest = {"raw": start.raw}
        if keeps_state:
            callbacks.append(lambda progress: latest.update(raw=progress.raw))
        with ExitStack() as stack:
            n_jobs = stack.enter_context(use_threads(self.n_jobs))
            for callback in callbacks:
                if hasattr(callback, "close"):
                    stack.callback(callback.close)
            trainer = Trainer(
                parts.loss,
                plan.members[0],
                standardize=bool(self.standardize),
                seed=seed,
                n_jobs=n_jobs,
                precision=self.precision,
                learner_state=start.learner_state,
                evaluation=evaluation,
                feature_map=FeatureMap(self.encoder_.expansion, clip_features(self, parts, plan, rows, seed)),
            )
            if evaluation is not None and evaluation.sets:
                first = start.ensemble
                if first is None:
                    first = initial_ensemble(parts.loss, rows.observations)
                evaluation.require_computable(first)
            monitored = None if evaluation is None else evaluation.monitored
            run = Run(plan, rows, start, callbacks)
            result = trainer.outcome(partial(run.result, trainer, monitored, split_seed))
        self._start = start.without_state()
        if keeps_state:
            raw = None if result.interrupt else latest["raw"]
            self._start = replace(start, ensemble=None, raw=raw, data_key=key_of(rows))
        self.__dict__.pop("uses_base_margin_", None)
        if rows.offset is not None:
            self.uses_base_margin_ = True
        self._keep_rows(parts.loss, rows, seed)
        return result

    def _keep_rows(self, loss: Loss, rows: Dataset, seed: int) -> None:
        """Set the loss, prepared for the rows of a fit, and what importances are computed from."""
        self.loss_ = loss
        self._importances, self._sample = None, sample_of_fit(rows, seed, loss)

    def _store(self, result: Result, recipe: Recipe) -> None:
        """Set the attributes of a result, and remove those of an earlier fit."""
        for name in (*OF_EVALUATION, *OF_EARLY_STOPPING):
            self.__dict__.pop(name, None)
        self.ensemble_, self.recipe_, self.learning_rate_ = result.ensemble, recipe, recipe.learning_rate
        if result.curves:
            self.validation_scores_, self.validation_curves_ = mean_curve(result.curves[0]), result.curves
        if result.weight is not None:
            self.n_folds_, self.learner_weights_ = result.n_folds, result.weight
            self.learners_ = [one.learner for one in result.members]
            self.member_names_ = [one.name for one in result.members]
        self.__dict__.update(result.evaluations)
        self._n_rounds = result.n_rounds
        self._interrupt = result.interrupt

    def _after_training(self, rows: Dataset, targets: TargetEncoder) -> None:
        """Set what an estimator computes from the rows of a fit with the fitted ensemble."""

    def _seeds(self) -> tuple[int, int]:
        """Seeds of the split for early stopping and of the rounds; a warm start keeps the latter."""
        random = check_random_state(self.random_state)
        split, rounds = random.randint(2**31 - 1, size=2).tolist()
        return split, self._start.seed if self._is_warm_start() else rounds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        return tags
