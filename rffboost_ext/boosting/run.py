"""Fits and refreshes: members are trained or fitted again, weighted by held-out rows, and fitted to all rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ..contracts.fit import is_foreign
from ..core import Loss, Observations
from ..learners.registry import LEARNERS
from ..losses.constant_scores import constant_scores
from ..rows.dataset import Dataset, Index
from ..terms.ensemble import Ensemble, weighted_sum
from ..utils.parallel import SINGLE_BLAS, START_CALLS, Calls, call_later, start_on_threads
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .callbacks import Callback, ModelLabel, ending, ends_fit
from .early_stopping.patience import Model
from .early_stopping.stacking import stacking_weights
from .early_stopping.validation_split import ALL_ROWS, sample_validation_set, validation_splits
from .plan import Member, Plan, Result, Start
from .training import Trainer

# Rows times columns from which models are trained side by side: threads wait for one another between short passes.
MIN_SHARED = 2**17
# Models that are averaged may have this many times the rounds that are best for each: noise averages out.
EXTRA_ROUNDS = 1.25


@dataclass(frozen=True)
class Run:
    """One run of a plan.

    Parameters
    ----------
    plan : Plan
    rows : Dataset
        All rows.
    start : Start
        What it continues from.
    callbacks : sequence of callable
        Called after each round; in refits and replays only those that may end the fit.
    """

    plan: Plan
    rows: Dataset
    start: Start
    callbacks: Sequence[Callback]

    # Bits depend on the threads of BLAS. Models may be trained in other processes.
    @SINGLE_BLAS
    def result(self, trainer: Trainer, validation: Dataset | None, seed: int) -> Result:
        """Train the models of all members, weight them by held-out rows, and fit them to all rows as planned.

        The trainer is that of the first member. Some of the rows are held out, by the seed, unless the user has
        given validation rows.
        """
        if self.plan.patience is None:
            return self._of_all_rows(trainer)
        splits = [(ALL_ROWS, validation)] if validation is not None else self._splits(trainer.loss, seed)
        trainers, runs = self._train(trainer, splits)
        models = [[one.ensemble for one in row] for row in runs]
        # Members may have models of the first splits only.
        held = [out for _, out in splits[: min(map(len, runs))]]
        raw = [[one.raw for one in row[: len(held)]] for row in runs]
        if held:
            by_score = weights_scores(trainer.loss, self.rows.y, models)
            weight = stacking_weights(trainer.loss, models[0][: len(held)], raw, held, by_score)
        else:
            assert self.plan.weight is not None
            weight = self.plan.weight
        used = np.flatnonzero(weight.reshape(len(weight), -1).any(axis=1)).tolist()
        weight, trainers, raw = weight[used], [trainers[k] for k in used], [raw[k] for k in used]
        curves = [[one.scores for one in runs[k] if len(one.scores)] for k in used]
        models = [models[k] for k in used]
        if validation is None:
            models = self._of_more_rows(trainers, models, splits)
        if self.start.ensemble is not None and validation is None and curves[0] and min(map(len, curves[0])) > 2:
            warn_if_no_progress(self._done, max(len(model) for row in models for model in row))
        pairs = stacked_scores(weight, raw, held)
        for callback in self.callbacks:
            if hasattr(callback, "held_out"):
                callback.held_out(pairs)
        return Result(
            stacked(trainer.loss, self.rows, models, weight),
            [row for row in curves if row],
            float(np.mean([trainer.error(*pair) for pair in pairs])) if pairs else None,
            [one.member for one in trainers],
            weight,
            max(map(len, runs)),
            [list(map(len, row)) for row in models],
        )

    def _of_all_rows(self, trainer: Trainer) -> Result:
        """A single model of all rounds, without early stopping."""
        (member,), start = self.plan.members, self.start
        if member.fitted:
            model = self._replayed(trainer, self.rows, member.fitted[0])
        else:
            model = trainer.fit(self.rows, self.plan.n_estimators, self.callbacks, start.ensemble, start.raw)
        return Result(model, members=[member], weight=self.plan.weight, n_rounds=[[len(model)]])

    @property
    def _done(self) -> int:
        """Rounds of the model to continue from."""
        init = self.start.ensemble
        return 0 if init is None else len(init)

    def _splits(self, loss: Loss, seed: int) -> list[tuple[Index, Dataset]]:
        """The rows to fit to and the validation set of each model."""
        if self.plan.splits is not None:
            pairs = [(kept, self.rows.take(held)) for kept, held in self.plan.splits]
            return [(kept, sample_validation_set(held, loss, seed)) for kept, held in pairs]
        n_folds, fraction = self.plan.n_folds, self.plan.validation_fraction
        most = max(member.n_models(n_folds) for member in self.plan.members)
        return validation_splits(self.rows, n_folds, fraction, seed, loss)[:most]

    def _train(
        self, trainer: Trainer, splits: Sequence[tuple[Index, Dataset]]
    ) -> tuple[list[Trainer], list[list[Model]]]:
        """The trainers of the members whose condition is met, and their models.

        If a callback ends the fit before the first member has all of its models, those that it has.
        """
        members, candidates = self.plan.members, list[Trainer]()
        for number, one in enumerate(members):
            name = LEARNERS.name_of(one.learner)
            label = ModelLabel(number, len(members), name, 0, one.n_models(len(splits)))
            candidates.append(replace(trainer, member=one, label=label))
        trainers: list[Trainer] = []
        results: list[list[Model]] = []
        independent = [one for one in candidates if is_independent(one.member)]
        pairs = [(number, k) for number, own in enumerate(independent) for k in range(own.label.n_folds)]
        rivals = [np.inf] * len(splits)
        models = iter(self._start(independent, partial(self._model, independent, splits, rivals), pairs))
        for own in candidates:
            if is_independent(own.member):
                calls: Iterable[Callable[[], Model]] = islice(models, own.label.n_folds)
            else:
                calls = self._dependent(own, splits, results)
            runs = self._runs(own, calls, results)
            if len(runs) == own.label.n_folds:
                trainers.append(own)
                results.append(runs)
            if ends_fit(self.callbacks):
                break
        return (trainers, results) if results else ([own], [runs])

    def _runs(
        self, trainer: Trainer, calls: Iterable[Callable[[], Model]], others: Sequence[Sequence[Model]]
    ) -> list[Model]:
        """The models of a member while its condition is met by the models of others, and no callback ends the fit.

        Of several models the one that was then in training is left out.
        """
        when, runs = trainer.member.when, list[Model]()
        for call in calls:
            if when is not None and not when.is_met(runs, others):
                break
            runs.append(call())
            trainer.done.append(runs[-1])
            if ends_fit(self.callbacks):
                return runs[:-1] or runs
        return runs

    def _dependent(
        self, trainer: Trainer, splits: Sequence[tuple[Index, Dataset]], others: Sequence[Sequence[Model]]
    ) -> Iterator[Callable[[], Model]]:
        """The calls of a member that depends on others: the first model may show that no more are needed."""
        rows = others if trails(trainer.member) else ()
        rivals = [
            min((float(row[k].scores.min()) for row in rows if k < len(row)), default=np.inf)
            for k in range(len(splits))
        ]
        model = partial(self._model, [trainer], splits, rivals)
        for numbers in (range(1), range(1, trainer.label.n_folds)):
            yield from self._start([trainer], model, [(0, k) for k in numbers])

    @SINGLE_BLAS
    def _model(
        self,
        trainers: Sequence[Trainer],
        splits: Sequence[tuple[Index, Dataset]],
        rivals: Sequence[float],
        number: int,
        k: int,
    ) -> Model:
        """Model k of a trainer, of split k; a refresh that has fewer splits than models uses them in turn.

        `rivals` are the least errors of the members before on each split.
        """
        trainer, fitted = trainers[number].independent(k), trainers[number].member.fitted
        if not splits:
            return Model(fitted[k], np.empty(0), np.empty(0))
        kept, held = splits[k % len(splits)]
        # Rows are copied when the model is trained, and not for all models at once.
        data = self.rows.take(kept)
        if fitted:
            model = self._replayed(trainer, data, fitted[k])
            return Model(model, np.empty(0), model.raw(held.X))
        is_averaged = trainer.label.n_folds > 1 and trainer.member.after != "refit"
        extra = EXTRA_ROUNDS if is_averaged else 1.0
        return trainer.fit_stopping(data, held, self.plan, self.callbacks, self.start.ensemble, extra, rivals[k])

    def _start(
        self, trainers: Sequence[Trainer], function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> Calls:
        """Calls of a function; with callbacks they run in this process, one by one unless all are concurrent."""
        start = None if self.callbacks else START_CALLS.get()
        in_turn = not all(getattr(one, "concurrent", False) for one in self.callbacks)
        is_small = start is None and math.prod(self.rows.X.shape) < MIN_SHARED
        if in_turn or not arguments or is_small:
            return call_later(function, arguments)
        return (start or partial(start_on_threads, trainers[0].n_jobs))(function, arguments)

    def _of_more_rows(
        self,
        trainers: Sequence[Trainer],
        models: Sequence[list[Ensemble]],
        splits: Sequence[tuple[Index, Dataset]],
    ) -> list[list[Ensemble]]:
        """The models of members that replay or refit, on all rows, and the models of the others."""
        growth = len(self.rows) / float(np.mean([len(self.rows.y[kept]) for kept, _ in splits])) if splits else 1.0
        counts = {"keep": 0, "refit": 1}
        numbers = [
            range(counts.get(one.member.after, len(row))) for one, row in zip(trainers, models, strict=True)
        ]
        pairs = [(number, k) for number, own in enumerate(numbers) for k in own]
        calls = iter(self._start(trainers, partial(self._of_every_row, trainers, models, growth), pairs))
        trained = [[next(calls)() for _ in own] for own in numbers]
        return [newest(old, new) for old, new in zip(models, trained, strict=True)]

    @SINGLE_BLAS
    def _of_every_row(
        self, trainers: Sequence[Trainer], models: Sequence[list[Ensemble]], growth: float, number: int, k: int
    ) -> Ensemble | None:
        """A model on all rows: the rounds of model k again, or new rounds; None if a callback ends it before.

        A new model has `growth` times the mean of the new rounds.
        """
        trainer, own, callbacks = trainers[number], models[number], ending(self.callbacks)
        if ends_fit(callbacks):
            return None
        if trainer.member.after == "replay":
            source = (trainer.member.fitted or own)[k]
            model, n_rounds = self._replayed(trainer.independent(k), self.rows, source), len(source)
        else:
            new = float(np.mean([len(model) for model in own])) - self._done
            n_rounds = min(self._done + round(growth * new), self.plan.n_estimators)
            model = trainer.independent(0).fit(self.rows, n_rounds, callbacks, self.start.ensemble)
        return model if len(model) == n_rounds else None

    def _replayed(self, trainer: Trainer, rows: Dataset, source: Ensemble) -> Ensemble:
        """The rounds of a model again on some rows."""
        callbacks, weight = ending(self.callbacks), self.plan.prior_weight
        return trainer.fit(rows, len(source), callbacks, self.start.ensemble, replay=source, prior_weight=weight)


def newest(old: list[Ensemble], new: Sequence[Ensemble | None]) -> list[Ensemble]:
    """Models of all rows, one of each old model or a single one; those of the splits where there is none."""
    if len(new) != len(old):
        return [one for one in new if one is not None] or old
    return [before if one is None else one for before, one in zip(old, new, strict=True)]


def is_independent(member: Member) -> bool:
    """Whether the models of a member do not depend on those before it."""
    return member.when is None and not trails(member)


def trails(member: Member) -> bool:
    """Whether a member is trained after those before it."""
    return member.limit is not None and member.limit.trailing_tol > 0.0


def stacked(loss: Loss, rows: Dataset, models: Sequence[Sequence[Ensemble]], weight: Array) -> Ensemble:
    """The weighted sum of members, each the mean of its models, with the intercept that is best for all rows.

    Averages of scores are nearer to 0 than their responses are to one half or 1: rare classes and events would be
    predicted too seldom.
    """
    shares = np.array([share / len(row) for share, row in zip(weight, models, strict=True) for _ in row])
    ensemble = weighted_sum([model for row in models for model in row], shares)
    if not loss.canonical:
        return ensemble
    total = rows.observations.total(ensemble.raw(rows.X))
    return ensemble.shifted(constant_scores(loss, Observations(rows.y, rows.weight, total)))


def stacked_scores(
    weight: Array, raw: Sequence[Sequence[Array]], held: Sequence[Dataset]
) -> list[tuple[Observations, Array]]:
    """The held-out rows of each split with the weighted sums of `raw` (n, C), by member and split."""
    stacked = [sum(share * one for share, one in zip(weight, row, strict=True)) for row in zip(*raw, strict=True)]
    return [(out.observations, np.asarray(one)) for out, one in zip(held, stacked, strict=True)]


def weights_scores(loss: Loss, y: Array, models: Sequence[Sequence[Ensemble]]) -> bool:
    """Whether each score of a stack has its own weights.

    Several scores of one target are different quantities, such as a mean and a scale. Terms of users' own classes
    cannot be scaled score by score.
    """
    has_more_scores = loss.task == "regression" and models[0][0].n_outputs > y.shape[1]
    return has_more_scores and not any(is_foreign(term) for row in models for model in row for term in model.terms)


def warn_if_no_progress(n_initial: int, n_rounds: int) -> None:
    """Warn if a fit that continues from a model has found hardly any further rounds."""
    if n_rounds <= n_initial + 1:
        warn_user(
            f"early stopping has found {n_rounds - n_initial} rounds beyond the {n_initial} of the model that the "
            f"fit continues from, init_model or a warm start: that model may have been fitted to the held-out "
            f"rows; pass an eval_set of other rows, or set early_stopping=False"
        )
