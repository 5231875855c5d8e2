"""The parameters that all boosters share."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, ClassVar, Concatenate, ParamSpec, TypeVar

from sklearn.base import BaseEstimator

from ..boosting.callbacks import CALLBACKS, Callback
from ..boosting.metrics import EvalMetricCheck
from ..boosting.steps import RATE
from ..core import Learner, Loss, Step
from ..preprocessing.feature_encoder import FeatureEncoder
from ..utils.migration import advice
from ..utils.param_validation import (
    BOOL,
    EXTRAPOLATION,
    NON_NEGATIVE,
    OPTIONAL,
    PRECISION,
    SEED,
    THREADS,
    Check,
    Integer,
    OneOf,
    Real,
)
from .composition import resolve_nested

P = TypeVar("P", bound="BoosterParameters")
Q = ParamSpec("Q")
M = TypeVar("M")

AUTO = OneOf(("auto",))


def explain_unknown(init: Callable[Concatenate[M, Q], None]) -> Callable[Concatenate[M, Q], None]:
    """An ``__init__`` whose errors for unknown parameters say what to write instead.

    ``inspect.signature`` shows the signature of the ``__init__`` itself.
    """
    known = list(inspect.signature(init).parameters)[1:]

    @wraps(init)
    def checked(owner: M, *args: Q.args, **params: Q.kwargs) -> None:
        if unknown := params.keys() - known:
            listed = "; ".join(f"{name!r}{advice(name, known)}" for name in params if name in unknown)
            raise TypeError(f"{type(owner).__name__}: unknown parameters: {listed}; see docs/migration.md")
        init(owner, *args, **params)

    return checked


def parameters_of(scope: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an ``__init__``, from its ``locals()``."""
    return {name: value for name, value in scope.items() if name not in ("self", "__class__")}


class BoosterParameters(BaseEstimator):
    """Parameters, their allowed values, and how they are set."""

    constraints: ClassVar[dict[str, Check]] = {
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
        **FeatureEncoder.constraints,
    }

    @explain_unknown
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
        missing: str = "auto",
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

    def set_params(self: P, **params: Any) -> P:
        """Set parameters, including nested ones such as ``learner__gamma``, also of a part given by name.

        Parameters
        ----------
        **params
            Names and values.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        return super().set_params(**resolve_nested(self, params))
