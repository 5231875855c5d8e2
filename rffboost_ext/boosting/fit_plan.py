"""How a fit is done: its members, and early stopping with folds, stacking and a refit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core import Learner, Loss
from ..data.dataset import Dataset, Index
from ..learners.registry import LEARNERS
from ..terms.ensemble import Ensemble, weighted_sum
from ..terms.laws import is_package_term
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .callbacks import Callback, ModelLabel
from .early_stopping.patience import Patience
from .early_stopping.stacking import mean_curve, stacking_weights
from .early_stopping.validation_split import ALL_ROWS, validation_splits
from .evaluation import Evaluation
from .fit_state import FitRecorder
from .interruption import Interrupted
from .training import EarlyStoppedModel, Member, Trainer

# Models that are averaged may have this many times the rounds that are best for each: noise averages out.
EXTRA_ROUNDS = 1.25
# Rounds after which one of several kinds of members is chosen.
RACE_ROUNDS = 50


@dataclass(frozen=True)
class FitResult:
    """The result of a fit.

    Parameters
    ----------
    ensemble : Ensemble
    scores : ndarray of shape (T + 1,), optional
        The held-out error of the first member before and after every round, on average over folds.
    learners : list of Learner
        The learners of the members in the ensemble.
    weight : ndarray of shape (m,) or (m, C), optional
        The weights of these members, or of each of their scores, of sum 1.
    n_folds : int
        Models of each member.
    interrupt : Interrupted, optional
        What ended the fit before it was done.
    evaluations : dict
        Attributes of the fitted model: its metrics on the user's sets, and the best entry of what is monitored.
    """

    ensemble: Ensemble
    scores: Array | None = None
    learners: list[Learner] = field(default_factory=list)
    weight: Array | None = None
    n_folds: int = 1
    interrupt: Interrupted | None = None
    evaluations: dict[str, Any] = field(default_factory=dict)

    def evaluated(self, evaluation: Evaluation) -> FitResult:
        """The result with its evaluations, without them if the user interrupts these."""
        try:
            curves = evaluation.history(self.ensemble).curves()
        except KeyboardInterrupt:
            return replace(self, interrupt=Interrupted(self.ensemble))
        found = {"evals_result_": curves} if curves else {}
        return replace(self, evaluations=found | evaluation.best(curves, self.scores))


@dataclass(frozen=True)
class StoppingPlan:
    """How a fit uses early stopping.

    Parameters
    ----------
    n_folds : int
        Number of models of a division, each of which holds out its own rows; the average of all is the result.
    validation_fraction : float
        Share of rows that a single model holds out.
    refit : bool
        Whether the result is one model fitted to all rows, with the mean number of rounds, scaled up with the
        number of rows; in a stack, one of each member that ``refits``. A single model whose learner ``replays``
        rounds is fitted again instead, with the same rounds.
    patience : Patience
        Rounds without improvement after which a fit ends.
    tol : float
        Smallest decrease that counts as an improvement, as a share of the decrease so far.
    n_repeats : int, default=1
        How often the rows are divided into folds, each time at random.
    """

    n_folds: int
    validation_fraction: float
    refit: bool
    patience: Patience
    tol: float
    n_repeats: int = 1

    def splits(self, data: Dataset, seed: int, loss: Loss) -> list[tuple[Index, Dataset]]:
        """The rows to fit to and the validation set of each model."""
        size = self.n_folds, self.validation_fraction
        return [split for k in range(self.n_repeats) for split in validation_splits(data, *size, seed + k, loss)]


@dataclass(frozen=True)
class FitPlan:
    """What a fit trains.

    Parameters
    ----------
    members : sequence of Member
        The kinds of models, the main one first; several need early stopping.
    learning_rate : float or callable
        The learning rate, which the steps of the members contain.
    n_estimators : int
        Maximum number of rounds of a model, those of an initial one included.
    stopping : StoppingPlan, optional
        How early stopping is used; None to train all rounds.
    races : bool, default=False
        Whether a few rounds of the members are compared on the held-out rows, and the best one alone is trained,
        instead of a stack of them.
    """

    members: Sequence[Member]
    learning_rate: float | Callable[[int], float]
    n_estimators: int
    stopping: StoppingPlan | None = None
    races: bool = False

    def fit(
        self,
        trainer: Trainer,
        data: Dataset,
        validation: Dataset | None,
        seed: int,
        callbacks: Sequence[Callback],
        init: Ensemble | None,
        init_raw: Array | None = None,
    ) -> FitResult:
        """Train the members, whose rounds and weights are found on held-out rows if there is early stopping.

        Parameters
        ----------
        trainer : Trainer
            Trains the first member.
        data : Dataset
            All rows.
        validation : Dataset or None
            The user's rows for early stopping; otherwise rows of `data` are held out.
        seed : int
            Seed of the divisions.
        callbacks : sequence of callable
            Called after each round, but of a refit.
        init : Ensemble or None
            The model to continue from.
        init_raw : ndarray of shape (n, C), optional
            Its training scores, if they are known.

        Returns
        -------
        FitResult

        Raises
        ------
        Interrupted
            If the user interrupts the fit before any model has a round.
        """
        try:
            if self.stopping is None:
                result = FitResult(trainer.fit(data, self.n_estimators, callbacks, init, init_raw))
            else:
                result = EarlyStoppedFit(self, self.stopping, data, callbacks, init).run(trainer, validation, seed)
            trainer.recorder.close()
        except Interrupted as error:
            interrupt, curves = trainer.recorder.partial_result(error)
            scores_so_far = mean_curve(curves) if curves else None
            return FitResult(interrupt.ensemble, scores=scores_so_far, interrupt=interrupt)
        return result


@dataclass(frozen=True)
class EarlyStoppedFit:
    """One run of a plan with early stopping."""

    plan: FitPlan
    stopping: StoppingPlan
    data: Dataset
    callbacks: Sequence[Callback]
    init: Ensemble | None

    def run(self, trainer: Trainer, validation: Dataset | None, seed: int) -> FitResult:
        """Train the models of all members, weight them, and refit if the plan says so."""
        if validation is None:
            splits = self.stopping.splits(self.data, seed, trainer.loss)
        else:
            splits = [(ALL_ROWS, validation)]
        trainers, runs = self._train(trainer, splits, self._raced(trainer, splits))
        models, raw = ([[getattr(one, name) for one in row] for row in runs] for name in ("ensemble", "raw"))
        by_score = weights_scores(trainer.loss, self.data.y, models)
        weight = stacking_weights(trainer.loss, models[0], raw, [rows for _, rows in splits], by_score)
        used = np.flatnonzero(weight.reshape(len(weight), -1).any(axis=1)).tolist()
        weight, models, trainers = weight[used], [models[k] for k in used], [trainers[k] for k in used]
        if validation is None and self.stopping.refit:
            models = self._refitted(trainers, models, splits)
        scores = mean_curve([one.scores for one in runs[0]])
        if self.init is not None and validation is None and len(scores) > 2:
            warn_if_no_progress(len(self.init), max(len(model) for row in models for model in row))
        shares = np.array([share / len(row) for share, row in zip(weight, models, strict=True) for _ in row])
        ensemble = weighted_sum([model for row in models for model in row], shares)
        learners = [trainer.member.learner for trainer in trainers]
        return FitResult(ensemble, scores, learners, weight, len(splits))

    def _raced(self, trainer: Trainer, splits: Sequence[tuple[Index, Dataset]]) -> Sequence[Member]:
        """The members to train: all, or the one of least error in a few rounds, on average over splits."""
        members, done = self.plan.members, 0 if self.init is None else len(self.init)
        if not self.plan.races or len(members) == 1:
            return members
        n_rounds = min(done + RACE_ROUNDS, self.plan.n_estimators)
        rules = n_rounds, self.stopping.patience, self.stopping.tol, (), self.init
        errors = np.zeros(len(members))
        for k, (kept, validation) in enumerate(splits):
            data = self.data.take(kept)
            for number, member in enumerate(members):
                # Neither callbacks nor records see the race.
                own = replace(trainer, member=member, recorder=FitRecorder()).independent(k)
                errors[number] += own.fit_stopping(data, validation, *rules).scores.min()
        return [members[int(errors.argmin())]]

    def _train(
        self, trainer: Trainer, splits: Sequence[tuple[Index, Dataset]], members: Sequence[Member]
    ) -> tuple[list[Trainer], list[list[EarlyStoppedModel]]]:
        """The trainers of the members whose condition is met, and a model of each for each split."""
        averaged = len(splits) > 1 and not self.stopping.refit
        patience, tol = self.stopping.patience, self.stopping.tol
        rules = self.plan.n_estimators, patience, tol, self.callbacks, self.init, EXTRA_ROUNDS if averaged else 1.0
        trainers: list[Trainer] = []
        results: list[list[EarlyStoppedModel]] = []
        for number, member in enumerate(members):
            name = LEARNERS.name_of(member.learner)
            label = ModelLabel(number, len(members), name, n_folds=len(splits))
            own = replace(trainer, member=member, label=label)
            runs: list[EarlyStoppedModel] = []
            for k, (kept, validation) in enumerate(splits):
                if member.condition is None or member.condition.is_met(runs, results):
                    # Rows are copied for one model at a time.
                    runs.append(own.independent(k).fit_stopping(self.data.take(kept), validation, *rules))
            if len(runs) == len(splits):
                trainers.append(own)
                results.append(runs)
        return trainers, results

    def _refitted(
        self,
        trainers: Sequence[Trainer],
        models: Sequence[list[Ensemble]],
        splits: Sequence[tuple[Index, Dataset]],
    ) -> list[list[Ensemble]]:
        """One model on all rows for each member that refits, and the models of the others."""
        growth = len(self.data) / float(np.mean([len(self.data.y[kept]) for kept, _ in splits]))
        return [
            [self._refitted_model(trainer.independent(0), row, growth)] if trainer.member.refits else row
            for trainer, row in zip(trainers, models, strict=True)
        ]

    def _refitted_model(self, trainer: Trainer, models: Sequence[Ensemble], growth: float) -> Ensemble:
        """A model on all rows: the rounds of a single model again if its learner can, otherwise new ones."""
        if len(models) == 1 and trainer.replays(self.data):
            return trainer.fit(self.data, len(models[0]), init=self.init, replay=models[0])
        return trainer.fit(self.data, self._length(models, growth), init=self.init)

    def _length(self, models: Sequence[Ensemble], growth: float) -> int:
        """Rounds of a model on `growth` times the rows, those of an initial one included."""
        done = 0 if self.init is None else len(self.init)
        new = float(np.mean([len(model) for model in models])) - done
        return min(done + round(growth * new), self.plan.n_estimators)


def weights_scores(loss: Loss, y: Array, models: Sequence[Sequence[Ensemble]]) -> bool:
    """Whether each score of a stack has its own weights.

    Several scores of one target are different quantities, such as a mean and a scale. Terms of users' own classes
    cannot be scaled score by score.
    """
    several = loss.task == "regression" and models[0][0].n_outputs > y.shape[1]
    return several and all(is_package_term(term) for row in models for model in row for term in model.terms)


def warn_if_no_progress(n_initial: int, n_rounds: int) -> None:
    """Warn if a fit that continues from a model has found hardly any further rounds."""
    if n_rounds <= n_initial + 1:
        warn_user(
            f"early stopping has found {n_rounds - n_initial} rounds beyond the {n_initial} of the model that the "
            f"fit continues from, init_model or a warm start: that model may have been fitted to the held-out "
            f"rows; pass an eval_set of other rows, or set early_stopping=False"
        )
