"""Base class of classifier and regressor: parameters, their checks, and the call of the boosting loop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..boosting.callbacks import CALLBACKS, Callback, KeepScores, Printer, closing_callbacks
from ..boosting.evaluation import evaluation_of
from ..boosting.evaluation_history import EvaluationHistory
from ..boosting.fit_plan import FitResult
from ..boosting.fit_state import FitRecorder
from ..boosting.interruption import Interrupted
from ..boosting.metrics import EvalMetricCheck
from ..boosting.stacking import mean_curve
from ..boosting.steps import RATE, Shrunk
from ..boosting.training import Trainer
from ..core import Learner, Loss, Step
from ..data.dataset import Dataset
from ..data.sample_weight import merge_duplicate_rows, warn_if_light
from ..inspection.importance import sampled_importances
from ..losses.validation import compute_baseline, prepare_loss
from ..persistence.checkpoint import Checkpoint, recorder_for
from ..persistence.model_file import ModelFileMixin
from ..preprocessing.log_transform import choose_log_transform
from ..preprocessing.scaling import fit_clipping
from ..terms.ensemble import Ensemble
from ..utils.parallel import threads
from ..utils.param_validation import (
    BOOL,
    EXTRAPOLATION,
    NON_NEGATIVE,
    OPTIONAL,
    PRECISION,
    SEED,
    THREADS,
    Integer,
    OneOf,
    Real,
    is_auto,
)
from ..utils.typing import Array
from .composition import with_own_parts
from .defaults import CEILING, FINE, ROUNDS, PolicyEstimator, TableSize
from .explanation import ExplainMixin
from .init_model import InitModel
from .init_model import read_init_model as read_init_model
from .warm_start import BeginningMixin

E = TypeVar("E", bound="BaseRFFBoost")

AUTO = OneOf(("auto",))
# What only fits with early stopping have.
OF_STOPPING = "validation_scores_", "n_folds_", "learners_", "learner_weights_"


class BaseRFFBoost(BeginningMixin, ExplainMixin, ModelFileMixin, TransformerMixin, PolicyEstimator):
    """Base class of classifier and regressor: everything but the encoding of the target."""

    task: ClassVar[str]
    default_loss: ClassVar[str]
    n_features_in_: int
    _seed: int
    _interrupt: Interrupted
    _loss_given: str = ""

    constraints = {
        "n_estimators": Integer(1) | OPTIONAL,
        "learning_rate": RATE | AUTO,
        "standardize": BOOL | AUTO,
        "extrapolation": EXTRAPOLATION,
        "early_stopping": BOOL | AUTO,
        "validation_fraction": Real(0.0, 0.9),
        "n_iter_no_change": Integer(1) | AUTO,
        "tol": NON_NEGATIVE,
        "n_folds": Integer(1) | AUTO,
        "refit": BOOL | AUTO,
        "quality": OneOf(("auto", "fast", "high")),
        "eval_metric": EvalMetricCheck(),
        "callbacks": CALLBACKS | OPTIONAL,
        "warm_start": BOOL,
        "random_state": SEED,
        "precision": PRECISION,
        "n_jobs": THREADS,
        "verbose": Integer(0) | BOOL,
        **BeginningMixin.column_constraints,
    }

    def __init__(
        self,
        loss: str | Loss = "auto",
        learner: str | Learner = "auto",
        *,
        step: str | Step = "auto",
        n_estimators: int | None = None,
        learning_rate: float | str | Callable[[int], float] = "auto",
        standardize: bool | str = "auto",
        extrapolation: str = "constant",
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.1,
        n_iter_no_change: int | str = "auto",
        tol: float = 1e-4,
        n_folds: int | str = "auto",
        refit: bool | str = "auto",
        quality: str = "auto",
        eval_metric: Any = None,
        callbacks: Sequence[Callback] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        precision: str = "float32",
        categorical_features: Any = "from_dtype",
        missing: str = "error",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.learner = learner
        self.step = step
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.standardize = standardize
        self.extrapolation = extrapolation
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.n_folds = n_folds
        self.refit = refit
        self.quality = quality
        self.eval_metric = eval_metric
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.random_state = random_state
        self.precision = precision
        self.categorical_features = categorical_features
        self.missing = missing
        self.n_jobs = n_jobs
        self.verbose = verbose

    def transform(self, X: Any) -> Array:
        """The learned representation, (n, p): each cosine, and each output of the other kinds of terms.

        Cosines of a frequency that many rounds share are joined. The intercept of "rff_ridge" is a column, too.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, p)
        """
        X = self._validated(X)
        return self.ensemble_.outputs(X)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of :meth:`transform`, (p,).

        Parameters
        ----------
        input_features : ignored
            There for scikit-learn: what is learned has no names of the features.
        """
        check_is_fitted(self)
        width = self.ensemble_.outputs(np.zeros((1, self.n_features_in_))).shape[1]
        return np.array([f"{type(self).__name__.lower()}{i}" for i in range(width)], dtype=object)

    @property
    def n_estimators_(self) -> int:
        """Rounds in the fitted ensemble."""
        return len(self.ensemble_)

    def _raw(self, X: Any) -> Array:
        X = self._validated(X)
        with threads(self.n_jobs):
            return self.ensemble_.raw(X)

    def _staged_raw(self, X: Any) -> Iterator[Array]:
        X = self._validated(X)
        stages = self.ensemble_.staged(X)
        next(stages)
        for _ in range(len(self.ensemble_)):
            with threads(self.n_jobs):
                raw = next(stages)
            yield raw

    def _prepared(
        self, parts: tuple[Loss, Learner, Step], y: Array, weight: Array, n_classes: int | None = None
    ) -> tuple[Loss, Learner, Step]:
        """The parts prepared for a target; a warm start keeps the prepared loss of the previous fit."""
        loss, learner, _ = parts
        if self._goes_on():
            self._require_columns(y)
            loss = self.loss_ if repr(loss) == self._loss_given else loss
        loss = prepare_loss(loss, y, weight, n_classes)
        return loss, learner, self._step_for(loss, learner, np.size(compute_baseline(loss, y, weight)))

    def _fit(
        self: E,
        rows: Dataset,
        parts: tuple[Loss, Learner, Step],
        given: InitModel | None = None,
        classes: Array | None = None,
        sets: Mapping[str, Dataset] | None = None,
    ) -> E:
        """Boost on validated data; `sets` are the rows to evaluate on, if the user has given any."""
        warn_if_light(rows.weight)
        loss, learner, step = parts
        init, n_given = self._beginning(given, loss, rows, classes)
        evaluation = evaluation_of(self, sets or {}, loss, rows, classes)
        stops = self._stops(learner, evaluation.watched, len(rows))
        n_rounds = (self.n_estimators or (CEILING if stops else ROUNDS)) + n_given
        self._require_room(init, n_rounds)
        # With early stopping duplicates stay: how often a row occurs is part of what is to be predicted.
        if learner.merges_rows(len(rows)) and not stops:
            rows = Dataset(*merge_duplicate_rows(rows.X, rows.y, rows.weight))
        self._learn_columns(rows.X, rows.weight)
        journal = recorder_for(self, rows, sets or None, init)
        split_seed, seed = journal.seeds(self._seeds())
        learner_state = deepcopy(self._learner_state) if self._goes_on() else {}
        scores = KeepScores(self._scores_left_by_last_fit(rows))
        with threads(self.n_jobs) as n_jobs, self._announcing(), closing_callbacks(self.callbacks or ()):
            size = TableSize(*rows.X.shape)
            pace = self._pace(size, evaluation.watched, init) if stops else FINE
            self.learning_rate_ = self._rate(pace)
            step = Shrunk(step, self.learning_rate_, n_given)
            more = self._seen(rows, loss, learner, seed)
            more |= {"learner_state": learner_state, "journal": journal, "error": evaluation.error}
            trainer = Trainer(loss, learner, step, bool(self.standardize), seed, n_jobs, self.precision, **more)
            history = evaluation.history(lambda: trainer.start(rows) if init is None else init)
            callbacks = self._callbacks(history)
            try:
                if stops:
                    trainers = self._trainers(trainer, size, init)
                    plan = self._plan(rows.y, n_rounds, init, pace)
                    found = plan.fit(trainers, rows, evaluation.watched, split_seed, callbacks, init)
                    ensemble = self._kept(found)
                else:
                    callbacks += [scores] if self.warm_start else []
                    ensemble = trainer.fit(rows, n_rounds, callbacks, init, scores.raw)
                journal.close()
            except Interrupted as stop:
                ensemble, scores.raw = self._left(journal, stop), None
        self._keep_state(rows, scores.raw, learner_state, stops)
        self._keep_curves(history, stops)
        self.ensemble_, self.loss_, self._seed, self._rounds_given = ensemble, loss, seed, n_given
        self._importances = sampled_importances(ensemble, rows, seed, loss)
        return self

    def _with_ensemble(self: E, ensemble: Ensemble, importances: Array | None) -> E:
        """A fitted copy with another ensemble, parameters of its own, and nothing that belongs to a single fit."""
        made = with_own_parts(self)
        made.ensemble_, made._importances = ensemble, importances
        made._scores, made._learner_state = None, {}
        made._forget(("evals_result_", "learning_rate_", *OF_STOPPING))
        return made

    def _kept(self, found: FitResult) -> Ensemble:
        """The ensemble that early stopping has found, what else it has found being kept."""
        values = found.scores, found.n_folds, found.learners, found.weight
        for name, value in zip(OF_STOPPING, values, strict=True):
            setattr(self, name, value)
        return found.ensemble

    def _left(self, journal: FitRecorder, stop: Interrupted) -> Ensemble:
        """The ensemble that an interrupted fit leaves, and its curves."""
        self._interrupt, curves = journal.usable(stop)
        if curves:
            self._forget(OF_STOPPING)
            self.validation_scores_ = mean_curve(curves)
        return self._interrupt.ensemble

    def _forget(self, names: Iterable[str]) -> None:
        """Remove attributes of an earlier fit."""
        for name in names:
            self.__dict__.pop(name, None)

    def _seen(self, rows: Dataset, loss: Loss, learner: Learner, seed: int) -> dict[str, Any]:
        """The expansion of the columns for learners, and its range, beyond which terms are constant."""
        expansion = self._expansion
        clipping = fit_clipping(rows.X, expansion) if self.extrapolation == "constant" else None
        if clipping is not None and learner.supports_log_transform and is_auto(self.standardize):
            clipping = choose_log_transform(clipping, rows, loss, expansion, seed)
        return {"expansion": expansion, "clipping": clipping}

    def _keep_curves(self, history: EvaluationHistory | None, stops: bool) -> None:
        """Keep the evaluation curves of this fit, and none of an earlier one."""
        self._forget(["evals_result_", *([] if stops else OF_STOPPING)])
        if history is not None:
            self.evals_result_ = history.curves

    def _announcing(self) -> AbstractContextManager[None]:
        """A context that announces compilation if the fit is verbose."""
        if not self.verbose:
            return nullcontext()
        from ..kernels.compile_notice import compilation_announced

        return compilation_announced()

    def _callbacks(self, history: EvaluationHistory | None) -> list[Callback]:
        """The callback that evaluates, then the user's, then the one that prints."""
        made: list[Callback] = [] if history is None else [history]
        made += [one for one in self.callbacks or () if not isinstance(one, Checkpoint)]
        if self.verbose:
            made.append(Printer(self.verbose) if history is None else Printer(self.verbose, history.latest))
        return made

    def _seeds(self) -> tuple[int, int]:
        """Seeds of the split for early stopping and of the rounds; a warm start keeps the latter."""
        random = check_random_state(self.random_state)
        split, rounds = (int(random.randint(2**31 - 1)) for _ in range(2))
        return split, self._seed if self._goes_on() else rounds


@read_init_model.register
def _(model: BaseRFFBoost) -> InitModel:
    check_is_fitted(model)
    classes, names = (getattr(model, name, None) for name in ("classes_", "feature_names_in_"))
    link, d = model.loss_.inverse_link, model.n_features_in_
    return InitModel(model.ensemble_, link, d, classes, model._coding, names=names, shown=repr(model))
