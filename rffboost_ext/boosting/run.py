"""Fits with early stopping: members are trained, weighted by their held-out rows, and refitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from ..contracts.fit import is_foreign
from ..core import Loss, Observations
from ..data.dataset import Dataset, Index
from ..learners.registry import LEARNERS
from ..losses.constant_scores import constant_scores
from ..terms.ensemble import Ensemble, weighted_sum
from ..utils.parallel import START_CALLS, Calls, call_later
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .callbacks import Callback, ModelLabel, ending, ends_fit
from .early_stopping.monitor import ErrorFunction
from .early_stopping.stacking import stacking_weights
from .early_stopping.validation_split import ALL_ROWS, sample_validation_set, validation_splits
from .plan import Member, Model, Plan, Result
from .training import FitRecorder, Trainer

# Models that are averaged may have this many times the rounds that are best for each: noise averages out.
EXTRA_ROUNDS = 1.25
# Rounds after which one of several kinds of members is chosen.
RACE_ROUNDS = 50


@dataclass(frozen=True)
class StoppedRun:
    """One run of a plan with early stopping.

    Parameters
    ----------
    plan : Plan
    rows : Dataset
        All rows.
    init : Ensemble, optional
        The model to continue from.
    callbacks : sequence of callable
        Called after each round; in races and refits only those that may end the fit.
    """

    plan: Plan
    rows: Dataset
    init: Ensemble | None
    callbacks: Sequence[Callback]

    def result(self, trainer: Trainer, validation: Dataset | None, seed: int) -> Result:
        """Train the models of all members, weight them, and refit if the plan says so.

        Parameters
        ----------
        trainer : Trainer
            Trains the first member.
        validation : Dataset or None
            The user's rows for early stopping; some of the rows are held out if it is None.
        seed : int
            Seed of the divisions.
        """
        splits = [(ALL_ROWS, validation)] if validation is not None else self._splits(trainer.loss, seed)
        trainers, runs = self._train(trainer, splits, self._raced(trainer, splits))
        # A fit that a callback has ended may have models of some splits only.
        splits = splits[: len(runs[0])]
        models, raw = ([[getattr(one, name) for one in row] for row in runs] for name in ("ensemble", "raw"))
        by_score = weights_scores(trainer.loss, self.rows.y, models)
        weight = stacking_weights(trainer.loss, models[0], raw, [held for _, held in splits], by_score)
        used = np.flatnonzero(weight.reshape(len(weight), -1).any(axis=1)).tolist()
        weight, trainers, raw = weight[used], [trainers[k] for k in used], [raw[k] for k in used]
        models = [models[k] for k in used]
        curves = [[one.scores for one in runs[k]] for k in used]
        if validation is None and (self.plan.refit or self.plan.replay):
            models = self._refitted(trainers, models, splits)
        if self.init is not None and validation is None and min(map(len, curves[0])) > 2:
            warn_if_no_progress(self._done, max(len(model) for row in models for model in row))
        ensemble = stacked(trainer.loss, self.rows, models, weight)
        learners = [trainer.member.learner for trainer in trainers]
        score = held_out_error(trainer.error, weight, raw, [held for _, held in splits])
        n_rounds = [list(map(len, row)) for row in models]
        return Result(ensemble, curves, score, learners, weight, len(splits), n_rounds)

    @property
    def _done(self) -> int:
        """Rounds of the model to continue from."""
        return 0 if self.init is None else len(self.init)

    def _splits(self, loss: Loss, seed: int) -> list[tuple[Index, Dataset]]:
        """The rows to fit to and the validation set of each model."""
        if self.plan.splits is not None:
            pairs = [(kept, self.rows.take(held)) for kept, held in self.plan.splits]
            return [(kept, sample_validation_set(held, loss, seed)) for kept, held in pairs]
        size, repeats = (self.plan.n_folds, self.plan.validation_fraction), range(self.plan.n_repeats)
        return [split for k in repeats for split in validation_splits(self.rows, *size, seed + k, loss)]

    def _raced(self, trainer: Trainer, splits: Sequence[tuple[Index, Dataset]]) -> Sequence[Member]:
        """The members to train: all, or the one of least error in a few rounds, on average over splits."""
        members = self.plan.members
        if not self.plan.races or len(members) == 1:
            return members
        few = replace(self.plan, n_estimators=min(self._done + RACE_ROUNDS, self.plan.n_estimators))
        # Callbacks and records do not see the race.
        race, recorder = replace(self, plan=few, callbacks=ending(self.callbacks)), FitRecorder()
        errors: list[float] = []
        for row in race._models([replace(trainer, member=one, recorder=recorder) for one in members], splits):
            if not (errors and ends_fit(self.callbacks)):
                errors.append(sum(call().scores.min() for call in row))
        return [members[int(np.argmin(errors))]]

    def _train(
        self, trainer: Trainer, splits: Sequence[tuple[Index, Dataset]], members: Sequence[Member]
    ) -> tuple[list[Trainer], list[list[Model]]]:
        """The trainers of the members whose condition is met, and a model of each for each split.

        If a callback ends the fit before the first member has all of its models, those that it has.
        """
        labels = [
            ModelLabel(number, len(members), LEARNERS.name_of(member.learner), 0, len(splits))
            for number, member in enumerate(members)
        ]
        several = [replace(trainer, member=one, label=label) for one, label in zip(members, labels, strict=True)]
        extra = EXTRA_ROUNDS if len(splits) > 1 and not self.plan.refit else 1.0
        trainers: list[Trainer] = []
        results: list[list[Model]] = []
        independent = iter(self._models([one for one in several if not one.member.trailing_tol], splits, extra))
        for own in several:
            if own.member.trailing_tol:
                calls = self._models([own], splits, extra, results)[0]
            else:
                calls = next(independent)
            runs = self._runs(own, calls, results)
            if len(runs) == len(splits):
                trainers.append(own)
                results.append(runs)
            if ends_fit(self.callbacks):
                break
        return (trainers, results) if results else ([own], [runs])

    def _runs(self, trainer: Trainer, calls: Calls, others: Sequence[Sequence[Model]]) -> list[Model]:
        """The models of a member while its condition is met by the models of others, and no callback ends the fit.

        Of several models the one that was then in training is left out.
        """
        condition, runs = trainer.member.condition, list[Model]()
        while calls:
            call = calls.pop(0)
            if condition is None or condition.is_met(runs, others):
                runs.append(call())
                trainer.recorder.keep_result(runs[-1].ensemble, runs[-1].scores)
                if ends_fit(self.callbacks):
                    return runs[:-1] or runs
        return runs

    def _models(
        self,
        trainers: Sequence[Trainer],
        splits: Sequence[tuple[Index, Dataset]],
        extra: float = 1.0,
        others: Sequence[Sequence[Model]] = (),
    ) -> list[Calls]:
        """For each trainer, the calls that return its model for each split, given those of other members."""
        rivals = [min((float(row[k].scores.min()) for row in others), default=np.inf) for k in range(len(splits))]
        pairs = product(range(len(trainers)), range(len(splits)))
        calls = self._start(trainers[0], partial(self._model, trainers, splits, extra, rivals), pairs)
        return [calls[first : first + len(splits)] for first in range(0, len(calls), len(splits))]

    def _model(
        self,
        trainers: Sequence[Trainer],
        splits: Sequence[tuple[Index, Dataset]],
        extra: float,
        rivals: Sequence[float],
        number: int,
        k: int,
    ) -> Model:
        """The model of a trainer for split k."""
        kept, held = splits[k]
        # Rows are copied for one model at a time.
        data = self.rows.take(kept)
        trainer = trainers[number].independent(k)
        return trainer.fit_stopping(data, held, self.plan, self.callbacks, self.init, extra, rivals[k])

    def _start(self, trainer: Trainer, function: Callable[..., Any], several: Iterable[tuple[Any, ...]]) -> Calls:
        """Calls of a function; with callbacks or a checkpoint they run one by one in this process."""
        alone = bool(self.callbacks) or trainer.recorder.every is not None
        return (call_later if alone else START_CALLS.get())(function, several)

    def _refitted(
        self,
        trainers: Sequence[Trainer],
        models: Sequence[list[Ensemble]],
        splits: Sequence[tuple[Index, Dataset]],
    ) -> list[list[Ensemble]]:
        """The models of members that refit or replay, on all rows, and the models of the others."""
        growth = len(self.rows) / float(np.mean([len(self.rows.y[kept]) for kept, _ in splits]))
        members = [trainer.member for trainer in trainers]
        chosen = [one.refits if self.plan.refit else one.replays for one in members]
        numbers = [(number,) for number, is_chosen in enumerate(chosen) if is_chosen]
        calls = self._start(trainers[0], partial(self._refitted_models, trainers, models, growth), numbers)
        return [calls.pop(0)() if is_chosen else row for is_chosen, row in zip(chosen, models, strict=True)]

    def _refitted_models(
        self, trainers: Sequence[Trainer], models: Sequence[list[Ensemble]], growth: float, number: int
    ) -> list[Ensemble]:
        """Models on all rows: the rounds of each again if its learner can, otherwise a single one of new rounds.

        A new model has `growth` times the mean of the new rounds. If a callback ends the fit before all rounds are
        done, the models of the splits stay.
        """
        trainer, own, callbacks = trainers[number], models[number], ending(self.callbacks)
        if trainer.member.replays and (self.plan.replay or len(own) == 1):
            return [self._replayed_model(trainer.independent(k), model, callbacks) for k, model in enumerate(own)]
        if ends_fit(callbacks):
            return own
        new = float(np.mean([len(model) for model in own])) - self._done
        n_rounds = min(self._done + round(growth * new), self.plan.n_estimators)
        model = trainer.independent(0).fit(self.rows, n_rounds, callbacks, self.init)
        return [model] if len(model) == n_rounds else own

    def _replayed_model(self, trainer: Trainer, model: Ensemble, callbacks: Sequence[Callback]) -> Ensemble:
        """The rounds of a model on all rows, unless a callback ends the fit before all of them are done."""
        if ends_fit(callbacks):
            return model
        again = trainer.replay(self.rows, model, self.init, callbacks=callbacks)
        return again if len(again) == len(model) else model


def stacked(loss: Loss, rows: Dataset, models: Sequence[Sequence[Ensemble]], weight: Array) -> Ensemble:
    """The weighted sum of members, each the mean of its models, with the intercept that is best for all rows."""
    shares = np.array([share / len(row) for share, row in zip(weight, models, strict=True) for _ in row])
    ensemble = weighted_sum([model for row in models for model in row], shares)
    return ensemble.shifted(best_shift(loss, rows, ensemble)) if loss.canonical else ensemble


def best_shift(loss: Loss, rows: Dataset, ensemble: Ensemble) -> Array:
    """The constant, (C,), that minimises the loss when it is added to the scores of some rows.

    Averages of scores are nearer to 0 than their responses are to one half or 1: rare classes and events would be
    predicted too seldom.
    """
    total = rows.observations.total(ensemble.raw(rows.X))
    return constant_scores(loss, Observations(rows.y, rows.weight, total))


def held_out_error(
    error: ErrorFunction, weight: Array, raw: Sequence[Sequence[Array]], held: Sequence[Dataset]
) -> float:
    """The error of the weighted sum of members, on average over splits, with `raw` (n, C) by member and split."""
    stacked = [sum(share * one for share, one in zip(weight, row, strict=True)) for row in zip(*raw, strict=True)]
    return float(np.mean([error(out.observations, one) for out, one in zip(held, stacked, strict=True)]))


def weights_scores(loss: Loss, y: Array, models: Sequence[Sequence[Ensemble]]) -> bool:
    """Whether each score of a stack has its own weights.

    Several scores of one target are different quantities, such as a mean and a scale. Terms of users' own classes
    cannot be scaled score by score.
    """
    several = loss.task == "regression" and models[0][0].n_outputs > y.shape[1]
    return several and not any(is_foreign(term) for row in models for model in row for term in model.terms)


def warn_if_no_progress(n_initial: int, n_rounds: int) -> None:
    """Warn if a fit that continues from a model has found hardly any further rounds."""
    if n_rounds <= n_initial + 1:
        warn_user(
            f"early stopping has found {n_rounds - n_initial} rounds beyond the {n_initial} of the model that the "
            f"fit continues from, init_model or a warm start: that model may have been fitted to the held-out "
            f"rows; pass an eval_set of other rows, or set early_stopping=False"
        )
