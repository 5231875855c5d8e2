"""What differs between XGBoost and LightGBM: one adapter for each."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

from sklearn.utils.validation import check_is_fitted

from ..core import Loss, Term
from ..estimators.init_model import InitModel
from ..rows.category_encoding import CategoryEncoding, sorted_codes
from ..terms.ensemble import Ensemble
from ..utils.typing import Array


@dataclass(frozen=True, kw_only=True)
class HostModel(InitModel):
    """A host's model, with scores in the host's units. Categorical splits act on the host's codes.

    Attributes
    ----------
    booster : Booster
    objective : str
        The name of the objective that it records.
    read_categories : callable
        Returns the categories of each column in the order of the host's codes, None for numbers; an empty list if
        all are numbers. It raises a ValueError if the model does not have them intact.
    has_exact_names : bool
        Whether the names are the user's; else an underscore may be a space in the user's table.
    n_targets : int
        Targets of several outputs that are not the classes of one.
    averages : bool
        Whether the ensemble is the mean over the rounds of a random forest; LightGBM returns raw scores as sums.
    """

    booster: Any
    objective: str
    n_features: int
    read_categories: Callable[[], Sequence[Array | None]]
    has_exact_names: bool = True
    n_targets: int = 1
    averages: bool = False

    def encoded(self, ensemble: Ensemble) -> tuple[Ensemble, CategoryEncoding | None]:
        """An ensemble of these trees on sorted codes, and their encoding, None if all columns are numbers."""
        return sorted_codes(ensemble, self.read_categories())


class Host(ABC):
    """A library that boosts trees by a callable objective: its matrices, its models and its estimators.

    A matrix is a ``DMatrix`` or a ``Dataset``. Adapters have no state.
    """

    name: ClassVar[str]
    unset_score: ClassVar[float]
    """Where a training with a callable starts by default."""
    stores_start: ClassVar[bool]
    """Whether a model has its initial scores after a training with a callable."""
    slicing: ClassVar[str]
    """Name of the method of a matrix that returns some of its rows."""
    metric_direction: ClassVar[tuple[bool, ...]]
    """What follows name and value in the result of a metric whose lower values are better."""
    features_advice: ClassVar[str]
    """What to do if :meth:`features` returns None."""
    score_argument: ClassVar[str]
    """The argument of an estimator's ``predict`` that requests scores."""
    estimator: ClassVar[Any]
    """The base class of its estimators."""
    booster: ClassVar[Any]
    """The class of its models."""
    continued: ClassVar[str]
    """The argument of an estimator's ``fit`` that is a model to continue."""
    replaced_params: ClassVar[Sequence[str]]
    """Parameters of estimators that only the host's own objectives read, which our loss replaces."""
    monotone_params: ClassVar[Sequence[str]] = ("monotone_constraints",)
    """The parameter of estimators with monotone constraints, and its aliases."""
    ranking_metrics: ClassVar[Sequence[str]]
    """Metrics of the host for two classes that depend on the order of scores only."""

    @abstractmethod
    def labels(self, matrix: Any) -> Array | None:
        """The labels of a matrix, or the bounds in their place; None or empty without any."""

    @abstractmethod
    def weights(self, matrix: Any) -> Array | None:
        """The weights of the rows of a matrix; None or empty without any."""

    @abstractmethod
    def queries(self, matrix: Any) -> Array | None:
        """The number of the query of each row of a matrix, (n,); None without any."""

    def whole(self, matrix: Any) -> Any:
        """The matrix that a matrix refers to as a part of it; None if it does not."""
        return None

    @abstractmethod
    def features(self, matrix: Any) -> Array | None:
        """The features of a matrix, (n, d), NaN for missing ones; None if they are not available as numbers."""

    @abstractmethod
    def start(self, loss: Loss, baseline: Array, matrices: Sequence[Any]) -> Any:
        """What makes a training on matrices start from the baseline of a prepared loss: parameters, or a score."""

    def booster_of(self, model: Any, name: str = "model") -> Any:
        """The booster of a model or of the file of one, or a TypeError that names the parameter."""
        if isinstance(model, str | os.PathLike):
            return self.booster(model_file=model)
        if isinstance(model, self.estimator):
            check_is_fitted(model)
            return model.get_booster() if hasattr(model, "get_booster") else model.booster_
        if not isinstance(model, self.booster):
            raise TypeError(f"{name} must be a model of {self.name} or the path of its file, got {model!r}")
        return model

    @abstractmethod
    def read(self, model: Any) -> HostModel:
        """A booster or a fitted estimator, with the rounds that its ``predict`` uses."""

    @abstractmethod
    def rounds(self, booster: Any, changed: Sequence[bool]) -> list[Term | None]:
        """The tree of each round of a booster up to its best, None for a round without one.

        `changed` says for each round of the training but the last whether it has changed the scores.
        """


HOSTS = ("xgboost", "lightgbm")
"""Packages with an adapter."""


def host_of(part: Any, expected: str) -> Host:
    """The adapter of the package of an object's class, or a TypeError that says what is wanted."""
    packages = {cls.__module__.partition(".")[0] for cls in type(part).__mro__}
    for package in packages.intersection(HOSTS):
        return adapter(package)
    raise TypeError(f"{expected}, got {part!r}")


@cache
def adapter(package: str) -> Host:
    """The adapter of a package, which is imported here."""
    host: Host = import_module(f"{__package__}.{package}_host").HOST
    return host
