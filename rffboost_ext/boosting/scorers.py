"""What scorers of scikit-learn and functions of the user's say of raw scores."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ..core import Loss
from ..preprocessing.targets import decode_labels, squeeze
from ..utils.arrays import rows_equal
from ..utils.typing import Array

Score = Callable[[Array, Array, Array], float]
POSITIONAL = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
# How the first parameter of a scorer is called, and that of weights which a function asks for.
ESTIMATORS = ["est", "estimator", "clf", "classifier", "reg", "regressor", "model", "booster", "pipe", "pipeline"]
WEIGHTS = ["sample_weight", "sample_weights", "weight", "weights", "w"]


@dataclass(frozen=True)
class View:
    """What raw scores and encoded targets of one fit stand for.

    Parameters
    ----------
    loss : Loss
        What the fit minimises, prepared.
    name : str
        What the user calls that loss.
    classes : ndarray, optional
        Class labels; None in regression.
    prepare : callable
        From another loss to the same one prepared for the targets of this fit.
    n_targets : int, default=1
        Columns of the encoded target.
    """

    loss: Loss
    name: str
    classes: Array | None
    prepare: Callable[[Loss], Loss]
    n_targets: int = 1

    def target(self, y: Array) -> Array:
        """Targets as the user has them, (n,) or (n, C)."""
        if self.classes is not None:
            return np.asarray(self.classes[y[:, 0].astype(np.int64)])
        # A copy: a metric may work in place.
        return squeeze(y).copy()

    def prediction(self, raw: Array) -> Array:
        """What a metric sees: the mean (n,) or (n, C), probabilities (n, K), of two classes the second's (n,)."""
        response = self.loss.inverse_link(raw)
        if self.classes is not None and len(self.classes) == 2:
            return response[:, 1]
        return squeeze(response).copy()


def is_scorer(given: Callable[..., Any]) -> bool:
    """Whether a function is called as scikit-learn's scorers are, with an estimator, X and y: as it names these.

    Raises
    ------
    TypeError
        If it needs three arguments whose names do not tell what they are.
    """
    if hasattr(given, "_score_func"):
        return True
    taken = [one for one in parameters_of(given).values() if one.kind in POSITIONAL]
    names = [one.name.lower().strip("_") for one in taken]
    if len(names) > 2 and names[0] in ESTIMATORS and names[1].startswith("x"):
        return True
    n_required = sum(one.default is one.empty for one in taken)
    if n_required == 3 and names[2] not in WEIGHTS:
        raise TypeError(
            f"eval_metric: a function of three arguments must name them (estimator, X, y) if it is a scorer, or "
            f"(y, prediction, sample_weight) if it is a metric, got {given!r} of "
            f"({', '.join(one.name for one in taken)})"
        )
    return False


def scored(scorer: Any, view: View, X: Array) -> Score:
    """What a scorer of scikit-learn says of rows X (n, d)."""
    shell = Classified if view.classes is not None else Regressed
    taken = weight_of(getattr(scorer, "_score_func", scorer))
    X = X.view()
    X.flags.writeable = False

    def score(y: Array, raw: Array, weight: Array) -> float:
        given = () if taken is None or is_idle(taken, weight) else (weight.copy(),)
        if given and taken is not None and taken.kind is not taken.POSITIONAL_ONLY:
            # A scorer of scikit-learn's takes weights by this name, whatever its function calls them.
            name = "sample_weight" if hasattr(scorer, "_score_func") else taken.name
            return float(scorer(shell(view, raw, X), X, view.target(y), **{name: given[0]}))
        return float(scorer(shell(view, raw, X), X, view.target(y), *given))

    return score


def computed(function: Callable[..., Any], view: View) -> Score:
    """What a function of targets and predictions says, and of weights if it takes them."""
    taken = weight_of(function)

    def score(y: Array, raw: Array, weight: Array) -> float:
        seen = view.target(y), view.prediction(raw)
        if taken is None or is_idle(taken, weight):
            return float(function(*seen))
        if taken.kind is taken.POSITIONAL_ONLY:
            return float(function(*seen, weight.copy()))
        return float(function(*seen, **{taken.name: weight.copy()}))

    return score


def checked(name: str, score: Score, view: View) -> Score:
    """A score whose errors name the metric, and say what it sees."""
    seen = "targets and means"
    if view.classes is not None:
        seen = "labels and probabilities; a scorer of scikit-learn, by name, may take predicted labels"

    def told(y: Array, raw: Array, weight: Array) -> float:
        try:
            return score(y, raw, weight)
        except Exception as error:  # whatever a user's function may raise
            kind = TypeError if isinstance(error, TypeError | AttributeError) else ValueError
            reason = f"{type(error).__name__}: {error}"
            raise kind(f"eval_metric: {name!r} makes no number of {seen}{lacking(y, view)} ({reason})") from error

    return told


def lacking(y: Array, view: View) -> str:
    """Which classes no row has, in words, as that is what many a metric cannot do with."""
    if view.classes is None:
        return ""
    absent = np.setdiff1d(np.arange(len(view.classes)), y).astype(np.int64)
    return f"; none of these {len(y)} rows is of class {view.classes[absent].tolist()}" if len(absent) else ""


def weight_of(function: Callable[..., Any]) -> inspect.Parameter | None:
    """The parameter that takes sample weights: ``sample_weight``, or one by a like name that must be given."""
    for one in parameters_of(function).values():
        asks = one.default is one.empty and one.kind in (*POSITIONAL, one.KEYWORD_ONLY)
        if one.name == "sample_weight" or (asks and one.name.lower() in WEIGHTS):
            return one
    return None


def is_idle(taken: inspect.Parameter, weight: Array) -> bool:
    """Whether weights say nothing to a function that can do without them."""
    return taken.default is not taken.empty and np.ptp(weight) == 0.0


def parameters_of(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """The parameters of a function; none of a compiled one that does not tell."""
    try:
        return inspect.signature(function).parameters
    except ValueError:
        return {}


class Predicted(BaseEstimator):
    """An estimator that has predicted already, for scorers.

    Parameters
    ----------
    view : View
        What the raw scores stand for.
    raw : ndarray of shape (n, C)
        The raw scores of some rows.
    rows : ndarray of shape (n, d)
        These rows.
    """

    def __init__(self, view: View, raw: Array, rows: Array) -> None:
        self.view = view
        self.raw = raw
        self.rows = rows

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def raw_of(self, X: Any) -> Array:
        """The raw scores; a ValueError if X is not the rows that they are of."""
        if X is self.rows or (np.shape(X) == self.rows.shape and rows_equal(np.asarray(X), self.rows).all()):
            return self.raw
        raise ValueError(
            f"a scorer can ask for predictions of the X that it is given only, of shape {self.rows.shape}: the "
            f"scores of these rows alone are known, got other rows, of shape {np.shape(X)}"
        )


class Classified(ClassifierMixin, Predicted):
    """A classifier of known raw scores."""

    @property
    def classes_(self) -> Array:
        """Class labels."""
        return np.asarray(self.view.classes)

    def decision_function(self, X: Any) -> Array:
        """The raw scores."""
        return squeeze(self.raw_of(X))

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities."""
        return self.view.loss.inverse_link(self.raw_of(X))

    def predict(self, X: Any) -> Array:
        """The most probable classes."""
        return decode_labels(self.raw_of(X), self.classes_)


class Regressed(RegressorMixin, Predicted):
    """A regressor of known raw scores."""

    def predict(self, X: Any) -> Array:
        """Means."""
        return squeeze(self.view.loss.inverse_link(self.raw_of(X)))
