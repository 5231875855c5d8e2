"""Parameters that all boosters share, and the resolution of their parts."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from copy import copy
from functools import wraps
from types import FunctionType
from typing import Any, ClassVar, Concatenate, ParamSpec, Self, TypeVar

from sklearn.base import BaseEstimator, clone

from ..boosting.callbacks import CALLBACKS, Callback
from ..boosting.early_stopping.validation_split import SplitterCheck
from ..boosting.metrics import EVAL_METRIC
from ..boosting.steps import RATE, STEPS
from ..core import Learner, Loss, Step
from ..learners.registry import LEARNERS
from ..learners.trees.constraints import SIGNS
from ..losses.registry import LOSSES
from ..rows.feature_encoder import FeatureEncoder
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
    Instance,
    Integer,
    OneOf,
    Real,
    is_auto,
)
from ..utils.registry import Registry, resolve_names
from .docstrings import documented
from .recipe import Recipe

B = TypeVar("B", bound=BaseEstimator)


def resolve_nested(estimator: Any, params: dict[str, Any]) -> dict[str, Any]:
    """`params` for ``set_params``, extended so that nested ones also work for parts given by name or "auto"."""
    nested = {name.partition("__")[0] for name in params if "__" in name}
    defaults = {
        role: getattr(estimator, f"default_{role}")
        for role in nested & {"loss", "learner"}
        if is_auto(params.get(role, getattr(estimator, role)))
    }
    return resolve_names(estimator, params | defaults, estimator.roles)


def has_attribute(estimator: Any, role: str, name: str) -> bool:
    """A boolean attribute of a part, for scikit-learn's tags, which are read before the part is checked."""
    return bool(getattr(estimator.roles[role].make(part_of(estimator, role)), name, False))


def loss_of_classes(estimator: Any) -> Loss | None:
    """The loss of a classifier before a fit; None if it is none of classes."""
    loss = LOSSES.make(part_of(estimator, "loss"))
    return loss if isinstance(loss, Loss) and loss.task == "classification" else None


def part_of(estimator: Any, role: str) -> Any:
    """The loss or the learner, the default one if it is "auto"."""
    part = getattr(estimator, role)
    return getattr(estimator, f"default_{role}") if is_auto(part) else part


def copy_with_own_parts(estimator: B) -> B:
    """A copy of a fitted estimator whose parts are copies too: nested parameters are then set on its own."""
    copied = copy(estimator)
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, BaseEstimator):
            setattr(copied, name, clone(value))
    return copied


Q = ParamSpec("Q")
M = TypeVar("M")
R = TypeVar("R")

AUTO = OneOf(("auto",))


def explain_unknown(function: Callable[Concatenate[M, Q], R]) -> Callable[Concatenate[M, Q], R]:
    """A method, such as ``__init__``, whose errors for unknown parameters say what to write instead.

    ``inspect.signature`` shows the signature of the method itself. ``__init__`` also takes nested parameters.
    """
    parameters = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return function
    own, method = dict.fromkeys(list(parameters)[1:]), function.__name__.strip("_")

    @wraps(function)
    def checked(owner: M, *args: Q.args, **params: Q.kwargs) -> R:
        if params.keys() <= own.keys():
            return function(owner, *args, **params)
        nested = {name: params.pop(name) for name in list(params) if method == "init" and "__" in name}
        if unknown := [name for name in params if name not in own]:
            kind, where = type(owner).__name__, "" if method == "init" else method
            constructor = inspect.signature(type(owner)).parameters if where else {}
            listed = "; ".join(
                f"{name!r} (use {kind}({name}=...))"
                if name in constructor
                else f"{name!r}{advice(name, list(own), kind, where)}"
                for name in unknown
            )
            raise TypeError(
                f"{kind}{'.' * bool(where)}{where}: unknown parameters: {listed}; see docs/migration.md"
            )
        result = function(owner, *args, **params)
        set_nested(owner, nested)
        return result

    return checked


def set_nested(estimator: Any, nested: dict[str, Any]) -> None:
    """Set nested parameters on copies of the parts of an estimator, which others may share."""
    own = estimator.get_params(deep=False)
    parts = {name: part for name, part in own.items() if isinstance(part, BaseEstimator)}
    estimator.set_params(**{name: clone(value, safe=False) for name, value in (parts | nested).items()})


def with_keywords_of(owner: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """List the keywords of another ``__init__`` in the signature of an ``__init__(self, ..., **params)``."""

    def decorated(init: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(init)
        *own, _ = signature.parameters.values()
        theirs = inspect.signature(owner.__init__).parameters.values()  # type: ignore[misc]
        keywords = [one for one in theirs if one.kind is one.KEYWORD_ONLY]
        # Sorting is stable: own keywords come last.
        listed = sorted([*keywords, *own], key=lambda one: one.kind)
        init.__signature__ = signature.replace(parameters=listed)  # type: ignore[attr-defined]
        return explain_unknown(init)

    return decorated


class BoosterParameters(BaseEstimator):
    """Parameters, their allowed values, and how they are set."""

    roles: ClassVar[dict[str, Registry[Any]]] = {"loss": LOSSES, "learner": LEARNERS, "step": STEPS}
    constraints: ClassVar[dict[str, Check]] = {
        "n_estimators": Integer(1) | OPTIONAL,
        "learning_rate": RATE | AUTO,
        "standardize": BOOL | AUTO,
        "extrapolation": EXTRAPOLATION,
        "early_stopping": BOOL | AUTO,
        "validation_fraction": Real(0.0, 0.9) | SplitterCheck(),
        "n_iter_no_change": Integer(1) | AUTO,
        "tol": NON_NEGATIVE,
        "n_folds": Integer(1) | AUTO,
        "refit": BOOL | AUTO,
        "quality": OneOf(("auto", "fast")) | Instance(Recipe),
        "eval_metric": EVAL_METRIC,
        "callbacks": CALLBACKS | OPTIONAL,
        "warm_start": BOOL,
        "random_state": SEED,
        "precision": PRECISION,
        "monotone_constraints": SIGNS | OPTIONAL,
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
        validation_fraction: Any = 0.1,
        n_iter_no_change: int | str = "auto",
        tol: float = 1e-4,
        n_folds: int | str = "auto",
        refit: bool | str = "auto",
        quality: str | Recipe = "auto",
        eval_metric: Any = None,
        callbacks: Sequence[Callback] | None = None,
        warm_start: bool = False,
        random_state: Any = None,
        precision: str = "float32",
        monotone_constraints: Any = None,
        categorical_features: Any = "from_dtype",
        missing: str = "auto",
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        for name, value in list(locals().items()):
            if name != "self":
                setattr(self, name, value)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name, method in list(vars(documented(cls)).items()):
            if isinstance(method, FunctionType) and not name.startswith("_"):
                setattr(cls, name, explain_unknown(method))

    def set_params(self, **params: Any) -> Self:
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
        try:
            return super().set_params(**resolve_nested(self, params))
        except ValueError as error:
            text = str(error)
            unknown = [name for name in params if text.startswith(f"Invalid parameter {name.split('__')[-1]!r}")]
            if not unknown:
                raise
            raise ValueError(f"{text}{advice(unknown[0], self._get_param_names())}") from error
