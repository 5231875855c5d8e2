"""Base class of classifier and regressor: parameters, their checks, and the call of the boosting loop."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .boosting import Interrupted, prepared
from .callbacks import CALLBACKS, Callback, KeepScores, Printer, told_of_the_end
from .checkpoint import Checkpoint, journal_of
from .checks import (
    BOOL,
    EXTRAPOLATION,
    NON_NEGATIVE,
    OPTIONAL,
    PRECISION,
    SEED,
    Exactly,
    Integer,
    Real,
)
from .columns import ColumnsMixin
from .core import Array, Learner, Loss, Step
from .ensemble import Ensemble
from .evaluation import evaluation_of
from .explain import ExplainMixin
from .gaps import extent_of
from .history import History
from .importance import sampled_importances
from .metrics import Metrics
from .parallel import threads
from .policy import CEILING, FINE, ROUNDS, PolicyEstimator
from .rows import distinct_rows, warn_of_light
from .steps import RATE, Shrunk
from .stopping import joined
from .store import StoreMixin
from .terms import Expansion, Extent
from .training import Rows, Trainer

if TYPE_CHECKING:
    from .interop.initial import Given

E = TypeVar("E", bound="BaseRFFBoost")

AUTO = Exactly(("auto",))


class BaseRFFBoost(ColumnsMixin, ExplainMixin, StoreMixin, TransformerMixin, PolicyEstimator):
    """Base class of classifier and regressor: everything but the encoding of the target."""

    task: ClassVar[str]
    default_loss: ClassVar[str]
    ensemble_: Ensemble
    loss_: Loss
    n_features_in_: int
    _seed: int
    _scores: tuple[str, Array | None] | None = None
    _rounds_given: int = 0
    _lasting: dict[Hashable, Any]
    _interrupt: Interrupted
    _loss_given: str = ""

    constraints = {
        "n_estimators": Integer(1) | OPTIONAL,
        "learning_rate": RATE | AUTO,
        "standardize": BOOL,
        "extrapolation": EXTRAPOLATION,
        "early_stopping": BOOL | AUTO,
        "validation_fraction": Real(0.0, 0.9),
        "n_iter_no_change": Integer(1) | AUTO,
        "tol": NON_NEGATIVE,
        "n_folds": Integer(1) | AUTO,
        "refit": BOOL | AUTO,
        "quality": Exactly(("auto", "fast", "high")),
        "eval_metric": Metrics(),
        "callbacks": CALLBACKS | OPTIONAL,
        "warm_start": BOOL,
        "random_state": SEED,
        "precision": PRECISION,
        "n_jobs": Integer(1) | Integer(-1024, -1) | OPTIONAL,
        "verbose": Integer(0) | BOOL,
        **ColumnsMixin.column_constraints,
    }

    def __init__(
        self,
        loss: str | Loss = "auto",
        learner: str | Learner = "auto",
        *,
        step: str | Step = "auto",
        n_estimators: int | None = None,
        learning_rate: float | str | Callable[[int], float] = "auto",
        standardize: bool = True,
        extrapolation: str = "constant",
        early_stopping: bool | str = "auto",
        validation_fraction: float = 0.15,
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
        """Names of the columns of :meth:`transform`."""
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
        loss = prepared(loss, y, weight, n_classes)
        return loss, learner, self._step_for(loss, learner, np.size(loss.baseline(y, weight)))

    def _fit(
        self: E,
        rows: Rows,
        parts: tuple[Loss, Learner, Step],
        given: Given | None = None,
        classes: Array | None = None,
        sets: Mapping[str, Rows] | None = None,
    ) -> E:
        """Boost on validated data; `sets` are the rows to evaluate on, if the user has given any."""
        warn_of_light(rows.weight)
        loss, learner, step = parts
        init, n_given = self._beginning(given, loss, rows, classes)
        evaluation = evaluation_of(self, sets or {}, loss, rows, classes)
        stops = self._stops(learner, evaluation.watched)
        n_rounds = (self.n_estimators or (CEILING if stops else ROUNDS)) + n_given
        self._require_room(init, n_rounds)
        # With early stopping duplicates stay: how often a row occurs is part of what is to be predicted.
        if learner.merges_rows(len(rows)) and not stops:
            rows = Rows(*distinct_rows(rows.X, rows.y, rows.weight))
        self._learn_columns(rows.X, rows.weight)
        journal = journal_of(self, rows, sets or None, init)
        split_seed, seed = journal.seeds(self._seeds())
        lasting = deepcopy(self._lasting) if self._goes_on() else {}
        scores = KeepScores(self._scores_left_by_last_fit(rows))
        with threads(self.n_jobs) as n_jobs, self._announcing(), told_of_the_end(self.callbacks or ()):
            pace = self._pace(len(rows), evaluation.watched, init) if stops else FINE
            way = Shrunk(step, self._rate(pace), n_given), self.standardize, seed, n_jobs, self.precision
            trainer = Trainer(loss, learner, *way, lasting, journal, evaluation.error_on, *self._seen(rows.X))
            history = evaluation.history(lambda: trainer.start(rows) if init is None else init)
            callbacks = self._callbacks(history)
            try:
                if stops:
                    trainers = self._trainers(trainer, len(rows), init)
                    plan = self._plan(len(rows), n_rounds, init, pace, self._most_folds(rows.y))
                    fitted = plan.fit(trainers, rows, evaluation.watched, split_seed, callbacks, init)
                    ensemble, self.validation_scores_ = fitted
                else:
                    kept: list[Callback] = [scores] if self.warm_start else []
                    ensemble = trainer.fit(rows, n_rounds, callbacks + kept, init, scores.raw)
                journal.close()
            except Interrupted as stop:
                self._interrupt, curves = journal.usable(stop)
                ensemble = self._interrupt.ensemble
                scores.raw = None
                if curves:
                    self.validation_scores_ = joined(curves)
        self._keep_state(rows, scores.raw, lasting, stops)
        self._keep_curves(history, stops)
        self.ensemble_, self.loss_, self._seed, self._rounds_given = ensemble, loss, seed, n_given
        self._importances = sampled_importances(ensemble, rows.X, rows.weight, seed)
        return self

    def _seen(self, X: Array) -> tuple[Expansion | None, Extent | None]:
        """The expansion of the columns of X for learners, and its range, beyond which terms are held constant."""
        held = self.extrapolation == "constant"
        return self._expansion, extent_of(X, self._expansion) if held else None

    def _keep_state(self, rows: Rows, raw: Array | None, lasting: dict[Hashable, Any], stops: bool) -> None:
        """Keep what a warm start needs to continue from this fit, if it can."""
        resumable = self.warm_start and not stops
        self._scores = (_data_key(rows), raw) if resumable else None
        self._lasting = lasting if resumable else {}

    def _keep_curves(self, history: History | None, stops: bool) -> None:
        """Keep the evaluation curves of this fit, and none of an earlier one."""
        if not stops:
            self.__dict__.pop("validation_scores_", None)
        self.__dict__.pop("evals_result_", None)
        if history is not None:
            self.evals_result_ = history.curves

    def _announcing(self) -> AbstractContextManager[None]:
        """A context that announces compilation if the fit is verbose."""
        if not self.verbose:
            return nullcontext()
        from .kernels.notice import compilation_announced

        return compilation_announced()

    def _callbacks(self, history: History | None) -> list[Callback]:
        """The callback that evaluates, then the user's, then the one that prints."""
        made: list[Callback] = [] if history is None else [history]
        made += [one for one in self.callbacks or () if not isinstance(one, Checkpoint)]
        if self.verbose:
            made.append(Printer(self.verbose) if history is None else Printer(self.verbose, history.latest))
        return made

    def _beginning(
        self, given: Given | None, loss: Loss, rows: Rows, classes: Array | None
    ) -> tuple[Ensemble | None, int]:
        """The ensemble that the fit continues from, and how many of its rounds come on top of ``n_estimators``."""
        if given is None:
            return self._initial(loss), self._rounds_given if self._goes_on() else 0
        init = self._given(given, loss, rows, classes)
        return init, len(init)

    def _initial(self, loss: Loss) -> Ensemble | None:
        """The ensemble that a warm start continues from."""
        if not self._goes_on():
            return None
        if repr(loss) != repr(self.loss_):
            raise ValueError(
                f"{type(self).__name__}: loss must be that of the previous fit, {self.loss_!r}, when warm_start "
                f"is set, got {loss!r}"
            )
        return self.ensemble_

    def _require_columns(self, y: Array) -> None:
        """Raise a ValueError if a target does not have the columns of the fit that a warm start continues."""
        wanted = self.ensemble_.n_outputs
        if self.task == "regression" and y.shape[1] != wanted:
            raise ValueError(
                f"{type(self).__name__}: y must have the {wanted} columns of the previous fit when warm_start is "
                f"set, got {y.shape[1]}"
            )

    def _require_room(self, init: Ensemble | None, n_rounds: int) -> None:
        """Raise a ValueError if the model to continue from has more rounds than requested."""
        if init is not None and len(init) > n_rounds:
            given = self.n_estimators or f"None, for {n_rounds}"
            raise ValueError(
                f"{type(self).__name__}: n_estimators must be at least the {len(init)} rounds already fitted when "
                f"warm_start is set (all models of a fit with early stopping counted), got {given}"
            )

    def _read(self, init_model: Any) -> Given | None:
        """What is known of the user's model to continue from, if there is one."""
        if init_model is None:
            return None
        if self._goes_on():
            raise ValueError(
                f"{type(self).__name__}: init_model must be None when warm_start goes on from the previous fit"
            )
        from .interop.initial import read

        return read(init_model)

    def _given(self, given: Given, loss: Loss, rows: Rows, classes: Array | None) -> Ensemble:
        """The ensemble of the user's model, whose rounds come on top of ``n_estimators``."""
        from .interop.initial import initial_ensemble

        n_outputs = np.size(loss.baseline(rows.y, rows.weight))
        names = getattr(self, "feature_names_in_", None)
        init = initial_ensemble(given, loss, rows.X.shape[1], n_outputs, classes, self._coding, names)
        self._require_scores(init, rows.X)
        return init

    def _seeds(self) -> tuple[int, int]:
        """Seeds of the split for early stopping and of the rounds; a warm start keeps the latter."""
        random = check_random_state(self.random_state)
        split, rounds = (int(random.randint(2**31 - 1)) for _ in range(2))
        return split, self._seed if self._goes_on() else rounds

    def _goes_on(self) -> bool:
        """Whether a fit continues from the rounds of the previous one."""
        return bool(self.warm_start) and hasattr(self, "ensemble_")

    def _scores_left_by_last_fit(self, rows: Rows) -> Array | None:
        if not self._goes_on() or self._scores is None or self._scores[0] != _data_key(rows):
            return None
        raw = self._scores[1]
        # A fit in pools leaves the scores of its last pool.
        return raw if raw is not None and len(raw) == len(rows) else None


def _data_key(rows: Rows) -> str:
    """A hash that identifies the data."""
    from joblib import hash

    return str(hash((rows.X, rows.y, rows.weight)))
