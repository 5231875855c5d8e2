"""What classifier and regressor share: parameters, their checks, and the call of the loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .boosting import boost
from .callbacks import Callback, EarlyStopping, KeepScores, print_progress
from .checks import (
    BOOL,
    NON_NEGATIVE,
    OPTIONAL,
    POSITIVE,
    Callables,
    Exactly,
    Instance,
    Integer,
    Real,
    require_all,
)
from .core import Array, Learner, Loss, Step, check_composition
from .design import Design, moments
from .ensemble import Ensemble
from .learners import LEARNERS
from .losses import LOSSES, Signed
from .parallel import threads
from .registry import Registry, resolve_names
from .rows import distinct_rows
from .steps import STEPS, Shrunk, natural_step

E = TypeVar("E", bound="BaseRFFBoost")

ROLES: dict[str, Registry[Any]] = {"loss": LOSSES, "learner": LEARNERS, "step": STEPS}

PARAMETERS = """loss : str or Loss, default="auto"
        What is minimised: a registered name or an instance; "auto" is {loss}.
    learner : str or Learner, default="rff_1"
        What is fitted in each round: a registered name or an instance.
    step : str or Step, default="auto"
        How far each round moves; "auto" takes what suits loss and learner.
    n_estimators : int, default=100
        Boosting rounds; a ceiling where early stopping is on.
    learning_rate : float, default=0.1
        Factor on every step.
    standardize : bool, default=True
        Whether Fourier learners see features of mean 0 and variance 1. The fitted ensemble acts on the
        features as they come in either case.
    early_stopping : bool, default=False
        Whether to hold out rows and stop when their loss no longer improves.
    validation_fraction : float, default=0.1
        Share of rows held out for early stopping.
    n_iter_no_change : int, default=10
        Rounds without improvement after which early stopping ends the fit.
    tol : float, default=1e-7
        What early stopping counts as an improvement.
    callbacks : sequence of callable, optional
        Each is called with a :class:`~rffboost_ext.callbacks.Progress` after every round; a true result ends
        the fit.
    warm_start : bool, default=False
        Whether a fit goes on from the rounds of the previous one, up to ``n_estimators``.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same bits.
    precision : "float32" or "float64", default="float32"
        Precision of the compiled passes over the features in fit; sums over rows are in float64. Predictions
        are in the precision of X.
    n_jobs : int or None, default=None
        Threads: None for one, -1 for all. The result does not depend on it.
    verbose : int, default=0
        1 prints the training loss ten times in a fit, on standard error, and says when the passes over the data
        are compiled: once for a machine."""


class BaseRFFBoost(TransformerMixin, BaseEstimator):
    """What classifier and regressor share: everything but the encoding of the target."""

    task: ClassVar[str]
    default_loss: ClassVar[str]
    ensemble_: Ensemble
    loss_: Loss
    n_features_in_: int
    _seed: int
    _scores: tuple[str, Array | None] | None = None
    _rounds_given: int = 0

    constraints = {
        "n_estimators": Integer(1),
        "learning_rate": POSITIVE,
        "standardize": BOOL,
        "early_stopping": BOOL,
        "validation_fraction": Real(0.0, 0.9),
        "n_iter_no_change": Integer(1),
        "tol": NON_NEGATIVE,
        "callbacks": Callables() | OPTIONAL,
        "warm_start": BOOL,
        "random_state": Integer(0, 2**32 - 1) | Instance(np.random.RandomState) | OPTIONAL,
        "precision": Exactly(("float32", "float64")),
        "n_jobs": Integer(1) | Integer(-1024, -1) | OPTIONAL,
        "verbose": Integer(0) | BOOL,
    }

    def __init__(
        self,
        loss: str | Loss = "auto",
        learner: str | Learner = "rff_1",
        *,
        step: str | Step = "auto",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        standardize: bool = True,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-7,
        callbacks: Sequence[Callback] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        precision: str = "float32",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.learner = learner
        self.step = step
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.standardize = standardize
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.callbacks = callbacks
        self.warm_start = warm_start
        self.random_state = random_state
        self.precision = precision
        self.n_jobs = n_jobs
        self.verbose = verbose

    def set_params(self: E, **params: Any) -> E:
        """Set parameters, nested ones such as ``learner__gamma`` too, also of a part that is given by name.

        Parameters
        ----------
        **params
            Names and values.

        Returns
        -------
        self
        """
        if any(name.startswith("step__") for name in params) and params.get("step", self.step) == "auto":
            raise ValueError(
                f"{type(self).__name__}: step='auto' has no parameters of its own; choose one of {STEPS.names()}"
            )
        if any(name.startswith("loss__") for name in params) and params.get("loss", self.loss) == "auto":
            params["loss"] = self.default_loss
        return super().set_params(**resolve_names(self, params, ROLES))

    def transform(self, X: Any) -> Array:
        """The learned representation, (n, p): each cosine, and each output of a round of another kind.

        Parameters
        ----------
        X : array-like of shape (n, d)

        Returns
        -------
        ndarray of shape (n, p)
        """
        return self.ensemble_.outputs(self._validated(X))

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

    def _validated(self, X: Any) -> Array:
        check_is_fitted(self)
        if self._is_valid(X):
            return np.asarray(X)
        return np.asarray(validate_data(self, X, reset=False, dtype=[np.float64, np.float32]))

    def _is_valid(self, X: Any) -> bool:
        """Whether X is a small array that full validation would return unchanged, at a higher price."""
        return (
            type(X) is np.ndarray
            and X.dtype in (np.float64, np.float32)
            and X.ndim == 2
            and 0 < X.size <= 4096
            and X.shape[1] == self.n_features_in_
            and not hasattr(self, "feature_names_in_")
            and bool(np.isfinite(X).all())
        )

    def _parts(self) -> tuple[Loss, Learner, Step]:
        """The parts of this booster, checked one by one and against one another."""
        require_all(self, self.constraints)
        loss = LOSSES.create(self.default_loss if self._loss_is_auto() else self.loss)
        learner = LEARNERS.create(self.learner)
        if self.task == "classification" and loss.task == "regression":
            loss = Signed(loss)
        if loss.task != self.task:
            raise ValueError(f"{type(self).__name__}: loss {self.loss!r} is for {loss.task}, not for {self.task}")
        auto = isinstance(self.step, str) and self.step == "auto"
        step = natural_step(loss, learner) if auto else STEPS.create(self.step)
        check_composition(loss, learner, step)
        return loss, learner, Shrunk(step, self.learning_rate)

    def _loss_is_auto(self) -> bool:
        return isinstance(self.loss, str) and self.loss == "auto"

    def _fit(
        self: E,
        X: Array,
        y: Array,
        weight: Array,
        parts: tuple[Loss, Learner, Step],
        init_model: Any = None,
        classes: Array | None = None,
    ) -> E:
        """Boost on validated data: y is (n, 1) and encoded, all weights are positive."""
        loss, learner, step = parts
        if init_model is None:
            init, given = self._initial(loss), self._rounds_given if self._goes_on() else 0
        else:
            init = self._given(init_model, loss, X.shape[1], len(loss.baseline(y, weight)), classes)
            given = len(init)
        if learner.merges_rows(len(X)):
            X, y, weight = distinct_rows(X, y, weight)
        split_seed, seed = self._seeds()
        stopping = None
        if self.early_stopping:
            X, y, weight, held_out = self._hold_out(X, y, weight, split_seed)
            before = Ensemble(loss.baseline(y, weight), (), np.empty((0, 2))) if init is None else init
            stopping = EarlyStopping(*held_out, loss, before.raw(held_out[0]), self.n_iter_no_change, self.tol)
        scores = KeepScores(self._scores_left_by_last_fit(X, y, weight))
        with threads(self.n_jobs) as n_jobs, self._announcing():
            center, scale = moments(X, weight) if self.standardize else (None, None)
            ensemble = boost(
                Design(X, center, scale, n_jobs, self.precision),
                y,
                loss=loss,
                learner=learner,
                step=step,
                n_estimators=self.n_estimators + given,
                weight=weight,
                random_state=seed,
                callbacks=self._all_callbacks(stopping, scores),
                init=init,
                init_raw=scores.raw,
            )
        if stopping is not None:
            done = 0 if init is None else len(init)
            ensemble = ensemble.truncated(max(1, done + stopping.best_round_))
            self.validation_scores_ = np.array(stopping.scores_)
        resumable = self.warm_start and stopping is None
        self._scores = (_data_key(X, y, weight), scores.raw) if resumable else None
        self.ensemble_, self.loss_, self._seed, self._rounds_given = ensemble, loss, seed, given
        return self

    def _announcing(self) -> AbstractContextManager[None]:
        """Where the fit is to say what it does: a word about compilation too."""
        if not self.verbose:
            return nullcontext()
        from .kernels.notice import compilation_announced

        return compilation_announced()

    def _all_callbacks(self, stopping: EarlyStopping | None, scores: KeepScores) -> list[Callback]:
        """The user's callbacks, then those that the parameters ask for."""
        callbacks = list(self.callbacks or ())
        if self.verbose:
            callbacks.append(print_progress)
        if stopping is not None:
            callbacks.append(stopping)
        if self.warm_start:
            callbacks.append(scores)
        return callbacks

    def _initial(self, loss: Loss) -> Ensemble | None:
        """The ensemble that a warm start goes on from."""
        if not self._goes_on():
            return None
        if repr(loss) != repr(self.loss_):
            raise ValueError(
                f"{type(self).__name__}: loss must be that of the previous fit, {self.loss_!r}, when warm_start "
                f"is set, got {loss!r}"
            )
        if len(self.ensemble_) > self.n_estimators + self._rounds_given:
            raise ValueError(
                f"{type(self).__name__}: n_estimators must be at least the {len(self.ensemble_)} rounds already "
                f"fitted when warm_start is set, got {self.n_estimators}"
            )
        return self.ensemble_

    def _given(self, model: Any, loss: Loss, n_features: int, n_outputs: int, classes: Array | None) -> Ensemble:
        """The ensemble of the user's model, whose rounds come on top of ``n_estimators``."""
        from .interop.initial import initial_ensemble

        if self._goes_on():
            raise ValueError(
                f"{type(self).__name__}: init_model must be None when warm_start goes on from the previous fit"
            )
        return initial_ensemble(model, loss, n_features, n_outputs, classes)

    def _seeds(self) -> tuple[int, int]:
        """Seeds of the split for early stopping and of the rounds; a warm start keeps the latter."""
        random = check_random_state(self.random_state)
        split, rounds = (int(random.randint(2**31 - 1)) for _ in range(2))
        return split, self._seed if self._goes_on() else rounds

    def _goes_on(self) -> bool:
        """Whether a fit starts from the rounds of the previous one."""
        return bool(self.warm_start) and hasattr(self, "ensemble_")

    def _scores_left_by_last_fit(self, X: Array, y: Array, weight: Array) -> Array | None:
        if not self._goes_on() or self._scores is None or self._scores[0] != _data_key(X, y, weight):
            return None
        return self._scores[1]

    def _hold_out(
        self, X: Array, y: Array, weight: Array, seed: int
    ) -> tuple[Array, Array, Array, tuple[Array, Array, Array]]:
        from sklearn.model_selection import train_test_split

        kept, held = train_test_split(
            np.arange(len(X)),
            test_size=self.validation_fraction,
            random_state=seed,
            stratify=y if self.task == "classification" else None,
        )
        return X[kept], y[kept], weight[kept], (X[held], y[held], weight[held])


def _data_key(X: Array, y: Array, weight: Array) -> str:
    """A hash that tells data apart."""
    from joblib import hash

    return str(hash((X, y, weight)))
