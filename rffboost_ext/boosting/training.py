"""Trains one model on any rows: in samples if there are many, with or without early stopping."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core import Learner, Loss, Step
from ..data.dataset import Dataset
from ..learners.design import Design
from ..preprocessing.feature_expansion import fit_scaling
from ..terms import ClipAndLog, ImputeAndEncode
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .callbacks import Callback, ModelLabel, ScoreRecorder
from .early_stopping.mean_loss import MeanLoss, least_error
from .early_stopping.monitor import EarlyStopping
from .early_stopping.patience import Patience, PatienceLimit
from .early_stopping.training_condition import TrainingCondition
from .evaluation import Evaluation
from .fit_state import CallbackForwarder, FitRecorder, FitState
from .interruption import Interrupted
from .loop import boost_rounds, initial_ensemble
from .round_update import RoundFitter

# Number of rounds trained on one sample of the rows.
ROUNDS_PER_SAMPLE = 50


@dataclass(frozen=True)
class EarlyStoppedModel:
    """A model trained with early stopping.

    Parameters
    ----------
    ensemble : Ensemble
        The ensemble with the best number of rounds, or with more.
    scores : ndarray of shape (T + 1,)
        The error on the held-out rows before the first and after every round.
    raw : ndarray of shape (n, C)
        The raw scores of the held-out rows by that ensemble.
    floor : float, default=0.0
        The least error possible on the held-out rows.
    """

    ensemble: Ensemble
    scores: Array
    raw: Array
    floor: float = 0.0


@dataclass(frozen=True)
class Member:
    """One kind of models in a fit.

    Parameters
    ----------
    learner, step : Learner, Step
        The parts; the learning rate is a part of the step.
    patience_limit : PatienceLimit, optional
        Limits to the patience of early stopping.
    refits : bool, default=True
        Whether a fit that refits does so with this model; otherwise it stays as early stopping left it.
    condition : TrainingCondition, optional
        What the results of other members must be for this one to be trained.
    pool_size : int, optional
        Size of the sample of far more rows, redrawn periodically; by default the learner's.
    """

    learner: Learner
    step: Step
    patience_limit: PatienceLimit | None = None
    refits: bool = True
    condition: TrainingCondition | None = None
    pool_size: int | None = None

    @property
    def sample_size(self) -> int | None:
        """Size of the sample of far more rows, redrawn periodically; None for all rows."""
        return self.learner.pool_size if self.pool_size is None else self.pool_size


@dataclass(frozen=True)
class Trainer:
    """Trains models of one member.

    Parameters
    ----------
    loss : Loss
        The loss, prepared.
    member : Member
        Learner and step.
    standardize : bool
        Whether learners get features of mean 0 and variance 1.
    seed : int
        Seed of the rounds.
    n_jobs : int
        Threads.
    precision : str
        Precision of the compiled passes.
    learner_state : dict
        The state of learners across rounds, independent of single rows; filled by the fit.
    recorder : FitRecorder
        Records the progress of the models.
    evaluation : Evaluation, optional
        What early stopping and callbacks monitor; early stopping monitors the loss by default.
    expansion : ImputeAndEncode, optional
        Imputation and encoding of columns with missing values or categories.
    clipping : ClipAndLog, optional
        The range beyond which terms are constant, and the log transform of skewed features.
    label : ModelLabel
        Which of the models of the fit is trained, for callbacks.
    """

    loss: Loss
    member: Member
    standardize: bool
    seed: int
    n_jobs: int
    precision: str
    learner_state: dict[Hashable, Any] = field(default_factory=dict)
    recorder: FitRecorder = field(default_factory=FitRecorder)
    evaluation: Evaluation | None = None
    expansion: ImputeAndEncode | None = None
    clipping: ClipAndLog | None = None
    label: ModelLabel = field(default_factory=ModelLabel)

    def independent(self, k: int) -> Trainer:
        """The same parts for an independent fit, of fold k, which shares no state with others."""
        label = replace(self.label, fold=k)
        return replace(self, seed=(self.seed + k) % 2**31, learner_state={}, label=label)

    def baseline(self, data: Dataset) -> Ensemble:
        """The ensemble before the first round."""
        return initial_ensemble(self.loss, data.observations)

    def fit(
        self,
        data: Dataset,
        n_estimators: int,
        callbacks: Sequence[Callback] = (),
        init: Ensemble | None = None,
        init_raw: Array | None = None,
        validation: Dataset | None = None,
        replay: Ensemble | None = None,
    ) -> Ensemble:
        """Boost until `n_estimators` rounds are done, those of `init` included; callbacks see `validation`.

        With `replay` its terms are fitted again.
        """
        columns = self.expansion, self.clipping
        scaling = fit_scaling(data.X, data.weight, *columns) if self.standardize else (None, None)
        # The given scores are of all rows, those of a sample are not among them.
        raw = None if self.samples_rows(len(data)) else init_raw
        state = FitState(
            self.baseline(data) if init is None else init,
            raw,
            self.learner_state,
            callbacks,
            n_samples=None if self.samples_rows(len(data)) else len(data),
            n_features=data.X.shape[1] if self.expansion is None else self.expansion.n_expanded,
        )
        self.recorder.resume(state)
        if self.evaluation is not None:
            state.history = self.evaluation.history(state.ensemble, validation)
        chances = self._sampling_probabilities(data, state.ensemble.baseline)
        try:
            while not state.finished:
                self._advance(state, data, chances, scaling, n_estimators, replay)
                self.recorder.record(state)
        except Interrupted:
            raise
        except KeyboardInterrupt as error:
            raise Interrupted(state.ensemble) from error
        return state.ensemble

    def fit_stopping(
        self,
        data: Dataset,
        validation: Dataset,
        n_estimators: int,
        patience: Patience,
        tol: float,
        callbacks: Sequence[Callback] = (),
        init: Ensemble | None = None,
        extra_rounds: float = 1.0,
    ) -> EarlyStoppedModel:
        """Boost while the error on `validation` falls; keep `extra_rounds` times the best number of rounds."""
        before = self.baseline(data) if init is None else init
        limit = self.member.patience_limit
        if limit is not None:
            patience, tol = patience.limited_to(limit.rounds), max(tol, limit.tol)
        error = MeanLoss(self.loss) if self.evaluation is None else self.evaluation.error
        raw = before.raw(validation.X)
        floor = least_error(error, validation.observations, raw)
        monitor = EarlyStopping(validation, error, raw, patience, tol, floor)
        done = 0 if init is None else len(init)

        def result(ensemble: Ensemble) -> EarlyStoppedModel:
            best = done + monitor.best_round_
            length = min(max(1, done + round(extra_rounds * monitor.best_round_)), len(ensemble))
            model, scores = ensemble.truncated(length), np.array(monitor.scores_)
            self.recorder.keep_result(model, scores)
            return EarlyStoppedModel(model, scores, monitor.raw_after(model.rounds[best:]), floor)

        try:
            return result(self.fit(data, n_estimators, [*callbacks, monitor], before, validation=validation))
        except Interrupted as stop:
            result(stop.ensemble)
            raise

    def replays(self, data: Dataset) -> bool:
        """Whether a refit on these rows replays the rounds of a model."""
        return self.member.learner.replays(Design(data.X, expansion=self.expansion))

    def samples_rows(self, n_samples: int) -> bool:
        """Whether a fit on so many rows sees a sample at a time."""
        size = self.member.sample_size
        return size is not None and n_samples > 2 * size

    def _sampling_probabilities(self, data: Dataset, baseline: Array) -> Array | None:
        """The probabilities (n,) by which rows are drawn; None if all rows are used at once."""
        size = self.member.sample_size
        return (
            data.sampling_probabilities(self.loss, baseline, size)
            if size and self.samples_rows(len(data))
            else None
        )

    def _sample(self, data: Dataset, chances: Array, index: int) -> Dataset:
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index, 1)))
        assert self.member.sample_size is not None
        return data.sample(rng, chances, self.member.sample_size)

    def _advance(
        self,
        state: FitState,
        data: Dataset,
        chances: Array | None,
        scaling: tuple[Array | None, Array | None],
        n_estimators: int,
        replay: Ensemble | None,
    ) -> None:
        """Train on one sample up to the next record; caches of learners end with the sample."""
        done, target, every = len(state.ensemble), n_estimators, self.recorder.every
        if chances is not None:
            index = done // ROUNDS_PER_SAMPLE
            target, data = min(target, (index + 1) * ROUNDS_PER_SAMPLE), self._sample(data, chances, index)
        forwarder, scores = CallbackForwarder(state, n_estimators, self.label), ScoreRecorder(state.raw)
        if every is not None:
            target = min(target, (done // every + 1) * every)
        callbacks: list[Callback] = [forwarder] if every is None else [self.recorder.inspect, forwarder, scores]
        design = Design(
            *(data.X, *scaling, self.n_jobs, self.precision, self.learner_state, self.expansion, self.clipping)
        )
        terms = () if replay is None else replay.terms
        learner, step = self.member.learner, self.member.step
        fitter = RoundFitter(design, data.observations, self.loss, learner, step, self.seed, terms)
        state.ensemble = boost_rounds(fitter, state.ensemble, state.raw, max(target, 1), callbacks)
        state.finished = forwarder.stopped or len(state.ensemble) >= n_estimators
        # The next sample has other rows.
        sample_ends = chances is not None and len(state.ensemble) % ROUNDS_PER_SAMPLE == 0
        state.raw = None if sample_ends else scores.raw
