"""Trains one model on any rows: in samples if there are many, with or without early stopping."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core import Loss
from ..data.dataset import Dataset
from ..learners.design import Design
from ..preprocessing.feature_expansion import fit_scaling
from ..terms import ClipAndLog, FeatureMap, ImputeAndEncode
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .callbacks import Callback, ModelLabel
from .early_stopping.monitor import EarlyStopping, MeanLoss, least_error
from .evaluation import Evaluation
from .fit_state import CallbackForwarder, FitRecorder, FitState
from .loop import RoundFitter, boost_rounds, initial_ensemble
from .plan import Interrupted, Member, Model, Parts, Plan

# Number of rounds trained on one sample of the rows.
ROUNDS_PER_SAMPLE = 50


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
        samples = self.member.samples_rows(len(data))
        state = FitState(
            self.baseline(data) if init is None else init,
            # The given scores are of all rows, those of a sample are not among them.
            None if samples else init_raw,
            self.learner_state,
            callbacks,
            n_samples=None if samples else len(data),
            n_features=data.X.shape[1] if self.expansion is None else self.expansion.n_expanded,
        )
        self.recorder.resume(state)
        if self.evaluation is not None:
            state.history = self.evaluation.history(state.ensemble, validation)
        chances = None
        if samples and self.member.pool_size:
            baseline = state.ensemble.baseline
            chances = data.sampling_probabilities(self.loss, baseline, self.member.pool_size)
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
        plan: Plan,
        callbacks: Sequence[Callback] = (),
        init: Ensemble | None = None,
        extra_rounds: float = 1.0,
    ) -> Model:
        """Boost while the error on `validation` falls; keep `extra_rounds` times the best number of rounds."""
        assert plan.patience is not None
        before = self.baseline(data) if init is None else init
        patience, tol, limit = plan.patience, plan.tol, self.member.patience_limit
        if limit is not None:
            patience, tol = patience.limited_to(limit.rounds), max(tol, limit.tol)
        error = MeanLoss(self.loss) if self.evaluation is None else self.evaluation.error
        raw = before.raw(validation.X)
        floor = least_error(error, validation.observations, raw)
        monitor = EarlyStopping(validation, error, raw, patience, tol, floor)
        done = 0 if init is None else len(init)

        def result(ensemble: Ensemble) -> Model:
            best = done + monitor.best_round_
            length = min(max(1, done + round(extra_rounds * monitor.best_round_)), len(ensemble))
            model, scores = ensemble.truncated(length), np.array(monitor.scores_)
            self.recorder.keep_result(model, scores)
            return Model(model, scores, monitor.raw_after(model.rounds[best:]), floor)

        try:
            return result(self.fit(data, plan.n_estimators, [*callbacks, monitor], before, validation=validation))
        except Interrupted as stop:
            result(stop.ensemble)
            raise

    def _sample(self, data: Dataset, chances: Array, index: int) -> Dataset:
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index, 1)))
        assert self.member.pool_size is not None
        return data.sample(rng, chances, self.member.pool_size)

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
        forwarder = CallbackForwarder(state, n_estimators, self.label)
        callbacks: list[Callback] = [forwarder]
        if every is not None:
            target, callbacks = min(target, (done // every + 1) * every), [self.recorder.inspect, forwarder]
        feature_map = FeatureMap(self.expansion, self.clipping, *scaling)
        design = Design(data.X, feature_map, self.n_jobs, self.precision, self.learner_state)
        terms = () if replay is None else replay.terms
        parts = Parts(self.loss, self.member.learner, self.member.step)
        fitter = RoundFitter(design, data.observations, parts, self.seed, terms)
        state.ensemble = boost_rounds(fitter, state.ensemble, state.raw, max(target, 1), callbacks)
        state.finished = forwarder.stopped or len(state.ensemble) >= n_estimators
        # The next sample has other rows.
        sample_ends = chances is not None and len(state.ensemble) % ROUNDS_PER_SAMPLE == 0
        state.raw = None if sample_ends else forwarder.raw
