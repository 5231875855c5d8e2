"""Trains one model on any rows: in samples if there are many, with or without early stopping."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core import Loss
from ..data.dataset import Dataset
from ..learners.design import Design
from ..learners.stored_state import check_learner_state
from ..preprocessing.feature_expansion import fit_scaling
from ..terms import FeatureMap
from ..terms.ensemble import Ensemble, mean_ensemble
from ..utils.typing import Array
from .callbacks import Callback, ModelLabel, Progress, stops_training
from .early_stopping.monitor import EarlyStopping, MeanLoss, least_error
from .evaluation import Evaluation, EvaluationHistory
from .loop import RoundFitter, boost_rounds, initial_ensemble
from .plan import Interrupted, Member, Model, Parts, Plan


@dataclass
class FitState:
    """A model in training.

    Parameters
    ----------
    ensemble : Ensemble
        Its rounds so far.
    raw : ndarray of shape (n, C), optional
        The scores from which the loop continues; by default those of the ensemble.
    learner_state : dict
        The state of learners across rounds.
    callbacks : sequence of callable
        Called after each round.
    finished : bool
        Whether its training is complete.
    history : EvaluationHistory, optional
        Its metrics, which callbacks can read.
    n_samples : int, optional
        Number of rows, n; None if each round sees a sample of them.
    n_features : int
        Number of features that learners see, imputed and one-hot encoded.
    """

    ensemble: Ensemble
    raw: Array | None
    learner_state: dict[Hashable, Any]
    callbacks: Sequence[Callback]
    finished: bool = False
    history: EvaluationHistory | None = None
    n_samples: int | None = None
    n_features: int = 0

    def state(self) -> dict[str, Any]:
        """The whole state as plain values."""
        states = [[type(callback).__name__, callback.state()] for callback in self._stateful()]
        # Names in files do not change with those of attributes.
        return {
            "ensemble": self.ensemble,
            "raw": self.raw,
            "lasting": self.learner_state,
            "finished": self.finished,
            "callbacks": states,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore what :meth:`state` returned; a ValueError if it is of another model or of other callbacks."""
        require_state(state, self.ensemble, [type(one).__name__ for one in self._stateful()], self.n_samples)
        check_learner_state(state["lasting"], self.n_features, self.ensemble.n_outputs)
        self.ensemble, self.raw, self.finished = (state[name] for name in ("ensemble", "raw", "finished"))
        self.learner_state.clear()
        self.learner_state.update(state["lasting"])
        for callback, (_, kept) in zip(self._stateful(), state["callbacks"], strict=True):
            callback.restore(kept)

    def _stateful(self) -> list[Any]:
        """The callbacks that have a state and can restore it."""
        return [one for one in self.callbacks if hasattr(one, "state") and hasattr(one, "restore")]


def require_state(state: Any, ensemble: Ensemble, callbacks: list[str], n_samples: int | None) -> None:
    """Raise a ValueError unless a state is one of a model with this ensemble, these callbacks and so many rows."""
    types = {"ensemble": Ensemble, "lasting": dict, "finished": bool, "callbacks": list, "raw": np.ndarray | None}
    if not isinstance(state, dict) or set(state) != set(types):
        raise ValueError(f"holds a model that must have {', '.join(types)}")
    for name, kind in types.items():
        if not isinstance(state[name], kind):
            raise ValueError(f"holds a model whose {name} is {state[name]!r}")
    state["ensemble"].check(None)
    if state["ensemble"].n_outputs != ensemble.n_outputs:
        raise ValueError(f"holds a model of {state['ensemble'].n_outputs} outputs, not {ensemble.n_outputs}")
    raw = state["raw"]
    if raw is not None:
        shape = len(raw) if n_samples is None and raw.ndim else n_samples, ensemble.n_outputs
        if raw.dtype != np.float64 or raw.shape != shape or not np.isfinite(raw).all():
            raise ValueError(
                f"holds a model whose scores must be finite, float64 and of shape {shape}, got {raw.dtype} and "
                f"{raw.shape}"
            )
    stored = [one[0] if isinstance(one, list) and len(one) == 2 else one for one in state["callbacks"]]
    if stored != callbacks:
        raise ValueError(f"holds the states of the callbacks {stored}, not of {callbacks}")


class FitRecorder:
    """Keeps the progress of a fit in memory, in case it is interrupted."""

    every: int | None = None
    """Rounds between two records of a model in training; None for a record at its end only."""

    def __init__(self) -> None:
        self.results: list[tuple[Ensemble, Array]] = []

    def seeds(self, new: tuple[int, int]) -> tuple[int, int]:
        """The seeds of the fit: the given ones, unless it is resumed."""
        return new

    def resume(self, state: FitState) -> None:
        """Restore the progress of the next model."""

    def inspect(self, progress: Progress) -> None:
        """Inspect a round."""

    def record(self, state: FitState) -> None:
        """Record the state of a model."""

    def close(self) -> None:
        """Record that the fit is done."""

    def keep_result(self, ensemble: Ensemble, scores: Array) -> None:
        """Keep the result of a fit with early stopping, and its curve."""
        if len(ensemble):
            self.results.append((ensemble, scores))

    def partial_result(self, stop: Interrupted) -> tuple[Interrupted, list[Array]]:
        """The interrupt with the model of an interrupted fit, and its curves of early stopping.

        The model is the mean of the models trained with early stopping so far, if any; an incomplete refit is
        discarded.
        """
        if not self.results and not len(stop.ensemble):
            raise stop
        models = [ensemble for ensemble, _ in self.results] or [stop.ensemble]
        return Interrupted(mean_ensemble(models)), [scores for _, scores in self.results]


class CallbackForwarder:
    """Calls the callbacks of a model with what the loop does not know, and keeps the latest scores.

    Parameters
    ----------
    state : FitState
        The callbacks, and the metrics that they can read.
    n_estimators : int
        The total number of rounds, where the loop trains fewer at a time.
    model : ModelLabel
        Which of the models of the fit it is.
    """

    def __init__(self, state: FitState, n_estimators: int, model: ModelLabel) -> None:
        self.callbacks, self.history, self.stopped, self.raw = state.callbacks, state.history, False, state.raw
        self.known: dict[str, Any] = {"n_estimators": n_estimators, "model": model}
        if self.history is not None:
            self.known["evaluations"] = self.history.curves

    def __call__(self, progress: Progress) -> bool:
        if self.history is not None:
            self.history.add(progress)
        self.raw = progress.raw
        progress = replace(progress, **self.known)
        self.stopped = any([stops_training(callback, progress) for callback in self.callbacks])  # noqa: C419 - each is called
        return self.stopped


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
    feature_map : FeatureMap
        Imputation, encoding, ranges and log transforms of the columns; each model has its own scale.
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
    feature_map: FeatureMap = field(default_factory=FeatureMap)
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
        feature_map = self._scaled(data)
        samples = self.member.samples_rows(len(data))
        state = FitState(
            self.baseline(data) if init is None else init,
            # The given scores are of all rows, those of a sample are not among them.
            None if samples else init_raw,
            self.learner_state,
            callbacks,
            n_samples=None if samples else len(data),
            n_features=data.X.shape[1] if feature_map.expansion is None else feature_map.expansion.n_expanded,
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
                self._advance(state, data, chances, feature_map, n_estimators, replay)
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

    def _scaled(self, data: Dataset) -> FeatureMap:
        """The feature map with the mean and the scale of some rows."""
        given = self.feature_map
        if not self.standardize:
            return given
        center, scale = fit_scaling(data.X, data.weight, given.expansion, given.clipping)
        return replace(given, center=center, scale=scale)

    def _advance(
        self,
        state: FitState,
        data: Dataset,
        chances: Array | None,
        feature_map: FeatureMap,
        n_estimators: int,
        replay: Ensemble | None,
    ) -> None:
        """Train on one sample up to the next record; caches of learners end with the sample."""
        done, target, every = len(state.ensemble), n_estimators, self.recorder.every
        if chances is not None and self.member.pool_size:
            index = done // ROUNDS_PER_SAMPLE
            rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index, 1)))
            target = min(target, (index + 1) * ROUNDS_PER_SAMPLE)
            data = data.sample(rng, chances, self.member.pool_size)
        forwarder = CallbackForwarder(state, n_estimators, self.label)
        callbacks: list[Callback] = [forwarder]
        if every is not None:
            target, callbacks = min(target, (done // every + 1) * every), [self.recorder.inspect, forwarder]
        design = Design(data.X, feature_map, self.n_jobs, self.precision, self.learner_state)
        terms = () if replay is None else replay.terms
        parts = Parts(self.loss, self.member.learner, self.member.step)
        fitter = RoundFitter(design, data.observations, parts, self.seed, terms)
        state.ensemble = boost_rounds(fitter, state.ensemble, state.raw, max(target, 1), callbacks)
        state.finished = forwarder.stopped or len(state.ensemble) >= n_estimators
        # The next sample has other rows.
        sample_ends = chances is not None and len(state.ensemble) % ROUNDS_PER_SAMPLE == 0
        state.raw = None if sample_ends else forwarder.raw
