"""From validated data to an ensemble: the loop on any rows, in pools where there are many, with early stopping."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core import Learner, Loss, Step
from ..data.dataset import Dataset
from ..learners.design import Design
from ..preprocessing.scaling import fit_scaling
from ..terms import ClipAndLog, ImputeAndEncode
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .callbacks import Callback, KeepScores
from .early_stopping import EarlyStopping, Patience, PatienceLimit
from .fit_state import CallbackForwarder, FitRecorder, FitState
from .interruption import Interrupted
from .loop import boost, initial_ensemble
from .mean_loss import ErrorFunction, MeanLoss
from .training_condition import TrainingCondition

# Number of rounds trained on one pool of rows.
POOL_ROUNDS = 50


@dataclass(frozen=True)
class EarlyStoppedModel:
    """The result of a fit with early stopping.

    Parameters
    ----------
    ensemble : Ensemble
        The ensemble with the best number of rounds, or with more.
    scores : ndarray of shape (T + 1,)
        The loss on the held-out rows before the first and after every round.
    raw : ndarray of shape (n, C)
        The raw scores of the held-out rows by that ensemble.
    """

    ensemble: Ensemble
    scores: Array
    raw: Array


@dataclass(frozen=True)
class Trainer:
    """Boosts on any rows with the same parts.

    Parameters
    ----------
    loss, learner, step : Loss, Learner, Step
        The parts.
    standardize : bool
        Whether learners see features of mean 0 and variance 1.
    seed : int
        Seed of the rounds.
    n_jobs : int
        Threads.
    precision : str
        Precision of the compiled passes.
    learner_state : dict
        The state that learners keep across rounds, independent of single rows; filled by the fit.
    journal : Journal
        Records the progress of the models.
    error : callable, optional
        The error that early stopping monitors, ``error(y, raw, weight) -> float``; the loss by default.
    expansion : ImputeAndEncode, optional
        Imputation and encoding of columns with missing values or categories.
    extent : ClipAndLog, optional
        The range of what learners see, beyond which their terms are held constant, and its bends.
    haste : Haste, optional
        Limits to the patience of early stopping.
    refits : bool
        Whether a plan that refits does so with this model; otherwise it stays as early stopping has left it.
    demand : Demand, optional
        What must have come of other trainers for a plan to use this one.
    """

    loss: Loss
    learner: Learner
    step: Step
    standardize: bool
    seed: int
    n_jobs: int
    precision: str
    learner_state: dict[Hashable, Any] = field(default_factory=dict)
    journal: FitRecorder = field(default_factory=FitRecorder)
    error: ErrorFunction | None = None
    expansion: ImputeAndEncode | None = None
    clipping: ClipAndLog | None = None
    haste: PatienceLimit | None = None
    refits: bool = True
    demand: TrainingCondition | None = None

    def fit(
        self,
        rows: Dataset,
        n_estimators: int,
        callbacks: Sequence[Callback] = (),
        init: Ensemble | None = None,
        init_raw: Array | None = None,
    ) -> Ensemble:
        """Boost on `rows` until `n_estimators` rounds are done, those of `init` included."""
        columns = self.expansion, self.clipping
        scaling = fit_scaling(rows.X, rows.weight, *columns) if self.standardize else (None, None)
        # The given scores are of all rows, pools have only some.
        raw = None if self.in_pools(len(rows)) else init_raw
        growth = FitState(self.start(rows) if init is None else init, raw, self.learner_state, callbacks)
        self.journal.resume(growth)
        chances = self._chances(rows, growth.ensemble.baseline)
        try:
            while not growth.finished:
                self._stretch(growth, rows, chances, scaling, n_estimators)
                self.journal.note(growth)
        except Interrupted:
            raise
        except KeyboardInterrupt as error:
            raise Interrupted(growth.ensemble) from error
        return growth.ensemble

    def start(self, rows: Dataset) -> Ensemble:
        """The ensemble before the first round."""
        return initial_ensemble(self.loss, rows.y, rows.weight)

    def _stretch(
        self,
        growth: FitState,
        rows: Dataset,
        chances: Array | None,
        scaling: tuple[Array | None, Array | None],
        n_estimators: int,
    ) -> None:
        """Train a model on one pool up to the next note; what learners cache about a pool ends with it."""
        done, target, every = len(growth.ensemble), n_estimators, self.journal.every
        if chances is not None:
            index = done // POOL_ROUNDS
            target, rows = min(target, (index + 1) * POOL_ROUNDS), self._pool(rows, chances, index)
        relay, scores = CallbackForwarder(growth.callbacks, n_estimators), KeepScores(growth.raw)
        if every is not None:
            target = min(target, (done // every + 1) * every)
        callbacks: list[Callback] = [relay] if every is None else [self.journal.watch, relay, scores]
        growth.ensemble = self._boost(rows, scaling, max(target, 1), callbacks, growth.ensemble, growth.raw)
        growth.finished = relay.stopped or len(growth.ensemble) >= n_estimators
        # The next pool has other rows.
        growth.raw = None if chances is not None and len(growth.ensemble) % POOL_ROUNDS == 0 else scores.raw

    def again(self, k: int) -> Trainer:
        """The same parts for an independent fit, number k, which shares no state with others."""
        return replace(self, seed=(self.seed + k) % 2**31, learner_state={})

    def in_pools(self, n_samples: int) -> bool:
        """Whether a fit on so many rows sees them a pool at a time."""
        return self.learner.pool_size is not None and n_samples > 2 * self.learner.pool_size

    def _chances(self, rows: Dataset, baseline: Array) -> Array | None:
        """The probabilities (n,) by which the rows of a pool are drawn; None if all rows are seen at once."""
        size = self.learner.pool_size
        return (
            rows.sampling_probabilities(self.loss, baseline, size) if size and self.in_pools(len(rows)) else None
        )

    def _pool(self, rows: Dataset, chances: Array, index: int) -> Dataset:
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index, 1)))
        assert self.learner.pool_size is not None
        return rows.sample(rng, chances, self.learner.pool_size)

    def _boost(
        self,
        rows: Dataset,
        scaling: tuple[Array | None, Array | None],
        n_estimators: int,
        callbacks: Sequence[Callback],
        init: Ensemble | None,
        init_raw: Array | None = None,
    ) -> Ensemble:
        return boost(
            Design(
                rows.X, *scaling, self.n_jobs, self.precision, self.learner_state, self.expansion, self.clipping
            ),
            rows.y,
            loss=self.loss,
            learner=self.learner,
            step=self.step,
            n_estimators=n_estimators,
            weight=rows.weight,
            random_state=self.seed,
            callbacks=callbacks,
            init=init,
            init_raw=init_raw,
        )

    def fit_stopping(
        self,
        rows: Dataset,
        held: Dataset,
        n_estimators: int,
        patience: Patience,
        tol: float,
        callbacks: Sequence[Callback] = (),
        init: Ensemble | None = None,
        beyond: float = 1.0,
    ) -> EarlyStoppedModel:
        """Boost on `rows` while the loss on `held` falls; keep `beyond` times the best number of rounds."""
        before = self.start(rows) if init is None else init
        if self.haste is not None:
            patience, tol = patience.within(self.haste.rounds), max(tol, self.haste.tol)
        watched = MeanLoss(self.loss) if self.error is None else self.error
        watch = EarlyStopping(held.X, held.y, held.weight, watched, before.raw(held.X), patience, tol)
        done = 0 if init is None else len(init)

        def result(ensemble: Ensemble) -> EarlyStoppedModel:
            best = done + watch.best_round_
            length = min(max(1, done + round(beyond * watch.best_round_)), len(ensemble))
            model, scores = ensemble.truncated(length), np.array(watch.scores_)
            self.journal.keep(model, scores)
            return EarlyStoppedModel(model, scores, watch.raw_beyond(model.rounds[best:]))

        try:
            return result(self.fit(rows, n_estimators, [*callbacks, watch], before))
        except Interrupted as stop:
            result(stop.ensemble)
            raise
