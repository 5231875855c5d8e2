"""Trains one model on any rows: in samples if there are many, with or without early stopping."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..core import Loss, Round, Term
from ..learners.design import Design
from ..rows.dataset import Dataset
from ..rows.feature_expansion import fit_scaling
from ..terms import FeatureMap
from ..terms.ensemble import Ensemble, mean_ensemble
from ..utils.typing import Array
from .callbacks import Callback, Curves, ModelLabel, Progress, stops_training
from .early_stopping.monitor import EarlyStopping, ErrorFunction, MeanLoss, least_error
from .early_stopping.patience import Model, PatienceLimit
from .evaluation import Evaluation, EvaluationHistory
from .loop import Parts, RoundFitter, boost_rounds, initial_ensemble
from .plan import Interrupted, Member, Plan, Result


@dataclass
class CallbackForwarder:
    """Calls the callbacks of a model after each round, and keeps the latest scores.

    Parameters
    ----------
    callbacks : sequence of callable
    history : EvaluationHistory or None
        The metrics of the model, which callbacks can read.
    n_estimators : int
        The total number of rounds, where the loop trains fewer at a time.
    model : ModelLabel
        Which of the models of the fit it is.
    baseline : ndarray of shape (C,)
        The scores before the first round.
    raw : ndarray of shape (n, C), optional
        The scores from which the loop continues, if they are known.
    """

    callbacks: Sequence[Callback]
    history: EvaluationHistory | None
    n_estimators: int
    model: ModelLabel
    baseline: Array
    raw: Array | None = None
    stopped: bool = False

    def __call__(self, round: Round, term: Term, keep: float, length: float, raw: Array) -> bool:
        self.raw = raw
        if self.history is None and not self.callbacks:
            return False
        curves: Callable[[], Curves] = dict if self.history is None else self.history.curves
        moved = term, keep, length, raw
        progress = Progress(round, self.n_estimators, *moved, self.baseline, self.model, curves)
        if self.history is not None:
            self.history.add(progress)
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
    done : list of Model
        The models that early stopping has trained, in case the fit is interrupted.
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
    done: list[Model] = field(default_factory=list)
    evaluation: Evaluation | None = None
    feature_map: FeatureMap = field(default_factory=FeatureMap)
    label: ModelLabel = field(default_factory=ModelLabel)

    def independent(self, k: int) -> Trainer:
        """The same parts for an independent fit, of fold k, which shares no state with others."""
        label = replace(self.label, fold=k)
        return replace(self, seed=(self.seed + k) % 2**31, learner_state={}, label=label)

    @property
    def error(self) -> ErrorFunction:
        """The error that early stopping monitors."""
        return MeanLoss(self.loss) if self.evaluation is None else self.evaluation.metrics[-1].error

    def fit(
        self,
        data: Dataset,
        n_estimators: int,
        callbacks: Sequence[Callback] = (),
        init: Ensemble | None = None,
        init_raw: Array | None = None,
        validation: Dataset | None = None,
        replay: Ensemble | None = None,
        prior_weight: float = 0.0,
    ) -> Ensemble:
        """Boost until `n_estimators` rounds are done, those of `init` included; callbacks see `validation`.

        With `replay` its terms are fitted again to all rows; their old values have the weight of some rows.
        """
        feature_map, pool_size = self.feature_map, None if replay is not None else self.member.pool_size
        if self.standardize:
            center, scale = fit_scaling(data.X, data.weight, feature_map.expansion, feature_map.clipping)
            feature_map = replace(feature_map, center=center, scale=scale)
        ensemble = initial_ensemble(self.loss, data.observations) if init is None else init
        history = None if self.evaluation is None else self.evaluation.history(ensemble, validation)
        chances = None
        if pool_size is not None and len(data) > 2 * pool_size:
            chances = data.sampling_probabilities(self.loss, ensemble.baseline, pool_size)
            # The given scores are of all rows, those of a sample are not among them.
            init_raw = None
        forwarder = CallbackForwarder(callbacks, history, n_estimators, self.label, ensemble.baseline, init_raw)
        parts = Parts(self.loss, self.member.learner, self.member.step)
        terms = () if replay is None else replay.terms

        def advanced(done: Ensemble) -> Ensemble:
            """The rounds of one sample, or all of them; caches of learners end with the sample."""
            rows, target = data, n_estimators
            if chances is not None and pool_size is not None:
                index = len(done) // ROUNDS_PER_SAMPLE
                rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(index, 1)))
                rows = data.sample(rng, chances, pool_size)
                target = min(n_estimators, (index + 1) * ROUNDS_PER_SAMPLE)
            design = Design(rows.X, feature_map, self.n_jobs, self.precision, self.learner_state)
            fitter = RoundFitter(design, rows.observations, parts, self.seed, terms, prior_weight)
            return boost_rounds(fitter, done, forwarder.raw, max(target, 1), forwarder)

        try:
            ensemble = advanced(ensemble)
            while not forwarder.stopped and len(ensemble) < n_estimators:
                # The next sample has other rows.
                forwarder.raw = None
                ensemble = advanced(ensemble)
        except Interrupted:
            raise
        except KeyboardInterrupt as error:
            raise Interrupted(ensemble) from error
        return ensemble

    def outcome(self, train: Callable[[], Result]) -> Result:
        """What `train` returns, with its evaluations.

        After an interrupt it is the mean of the models that are done, or else the rounds of the first one. A refit
        that is not complete is discarded.

        Raises
        ------
        KeyboardInterrupt
            If the user interrupts it before any model has a round.
        """
        try:
            result = train()
        except KeyboardInterrupt as stop:
            left = [stop.ensemble] if isinstance(stop, Interrupted) and len(stop.ensemble) else []
            if not (models := [one.ensemble for one in self.done] or left):
                raise
            ensemble, scores = mean_ensemble(models), [one.scores for one in self.done]
            result = Result(ensemble, [scores] if scores else [], interrupt=Interrupted(ensemble))
        evaluation = self.evaluation or Evaluation()
        try:
            history = evaluation.history(result.ensemble)
            curves = {} if history is None else history.curves()
        except KeyboardInterrupt:
            return replace(result, interrupt=Interrupted(result.ensemble))
        evaluations = {"evals_result_": curves} if curves else {}
        best = evaluation.best(curves, result.score, len(result.ensemble))
        return replace(result, evaluations=evaluations | best)

    def fit_stopping(
        self,
        data: Dataset,
        validation: Dataset,
        plan: Plan,
        callbacks: Sequence[Callback] = (),
        init: Ensemble | None = None,
        extra_rounds: float = 1.0,
        rival: float = np.inf,
    ) -> Model:
        """Boost while the error on `validation` falls; keep `extra_rounds` times the best number of rounds.

        `rival` is the least error of the members before on these rows.
        """
        assert plan.patience is not None
        before = initial_ensemble(self.loss, data.observations) if init is None else init
        patience, tol, limit = plan.patience, plan.tol, self.member.limit or PatienceLimit()
        patience, tol = replace(patience, rounds=int(min(patience.rounds, limit.rounds))), max(tol, limit.tol)
        error = self.error
        raw = before.raw(validation.X)
        floor = least_error(error, validation.observations, raw)
        monitor = EarlyStopping(validation, error, raw, patience, tol, floor, rival, limit.trailing_tol)
        done = 0 if init is None else len(init)

        def result(ensemble: Ensemble) -> Model:
            best = done + monitor.best_round_
            length = min(max(1, done + round(extra_rounds * monitor.best_round_)), len(ensemble))
            model = ensemble.truncated(length)
            return Model(model, np.array(monitor.scores_), monitor.raw_after(model.rounds[best:]), floor)

        try:
            return result(self.fit(data, plan.n_estimators, [*callbacks, monitor], before, validation=validation))
        except Interrupted as stop:
            partial = result(stop.ensemble)
            if len(partial.ensemble):
                self.done.append(partial)
            raise
