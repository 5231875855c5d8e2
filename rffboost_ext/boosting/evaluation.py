"""The data sets and the metrics by which a fit is evaluated round by round."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core import Loss
from ..data.dataset import Dataset
from ..data.sample_weight import with_positive_weight
from ..losses.registry import LOSSES
from ..losses.validation import prepare_loss, require_accepted_target
from ..preprocessing.feature_encoder import FeatureEncoder
from ..preprocessing.targets import TargetEncoder
from ..terms.ensemble import Ensemble
from .early_stopping.mean_loss import ErrorFunction
from .evaluation_history import EvaluationHistory
from .metrics import EvaluationMetric, resolve_metrics
from .scorers import ScoreDecoder

SETS = "a list of (X, y) pairs or (X, y, weight) triples, or such by name"


@dataclass(frozen=True)
class Evaluation:
    """Data sets and metrics; early stopping monitors the last of each.

    Parameters
    ----------
    sets : mapping of str to Dataset
        The user's sets by name.
    metrics : tuple of EvaluationMetric
        The metrics to compute on each.
    """

    sets: Mapping[str, Dataset]
    metrics: tuple[EvaluationMetric, ...]

    @property
    def monitored(self) -> Dataset | None:
        """The user's set that early stopping monitors."""
        return list(self.sets.values())[-1] if self.sets else None

    @property
    def error(self) -> ErrorFunction:
        """The error that early stopping monitors."""
        return self.metrics[-1].error

    def history(self, start: Callable[[], Ensemble]) -> EvaluationHistory | None:
        """A callback that keeps the metrics; None if there are no sets."""
        return EvaluationHistory(self.sets, self.metrics, start()) if self.sets else None


def evaluation_of(
    owner: str,
    eval_metric: Any,
    sets: Mapping[str, Dataset],
    loss: Loss,
    given_loss: str | Loss,
    data: Dataset,
    targets: TargetEncoder,
) -> Evaluation:
    """How a fit that minimises `loss`, given as `given_loss`, on `data` is evaluated.

    Raises
    ------
    ValueError
        If a metric or the targets of a set do not go with the fit; the message names it.
    """

    def prepare(other: Loss) -> Loss:
        return prepare_loss(other, data.y, data.weight, targets.n_classes)

    for label, held in sets.items():
        if held.y.shape[1] != data.y.shape[1]:
            raise ValueError(
                f"{owner}: eval_set {label!r}: y must have as many columns as in the fit, {data.y.shape[1]}, got "
                f"{held.y.shape[1]}"
            )
        try:
            require_accepted_target(loss, held.y)
        except ValueError as error:
            raise ValueError(f"{owner}: eval_set {label!r}: {error}") from error
    name = given_loss if isinstance(given_loss, str) else LOSSES.name_of(given_loss)
    decoder = ScoreDecoder(loss, name, targets.classes, prepare, data.y.shape[1])
    return Evaluation(sets, resolve_metrics(eval_metric, decoder))


def evaluation_sets(
    owner: str, eval_set: Any, features: FeatureEncoder, targets: TargetEncoder
) -> dict[str, Dataset]:
    """The user's sets, validated and encoded, by name.

    Raises
    ------
    TypeError, ValueError
        If ``eval_set`` is not a set, list or mapping of sets, or a set does not fit the model; the message names
        it.
    """
    sets = {}
    for name, given in named_sets(owner, eval_set).items():
        try:
            sets[name] = evaluation_set(given, features, targets)
        except (ValueError, TypeError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{owner}: eval_set {name!r}: {error}") from error
    return sets


def named_sets(owner: str, eval_set: Any) -> dict[str, tuple[Any, ...]]:
    """The sets, (X, y) or (X, y, weight), by name: those of a list are validation_0, validation_1 and so on."""
    if eval_set is None:
        return {}
    several = [eval_set] if is_set(eval_set) else eval_set
    if isinstance(several, list | tuple):
        several = {f"validation_{k}": one for k, one in enumerate(several)}
    if not isinstance(several, Mapping) or not several:
        raise TypeError(f"{owner}: eval_set must be {SETS}, got {reprlib.repr(eval_set)}")
    for name, one in several.items():
        if not is_set(one):
            raise TypeError(f"{owner}: eval_set must be {SETS}, got for {name!r} a {type(one).__name__}")
    named = {str(name): one for name, one in several.items()}
    if len(named) < len(several):
        raise ValueError(f"{owner}: eval_set must have a name of its own for each set, got {list(several)}")
    return named


def is_set(given: Any) -> bool:
    """Whether something is a single set, rather than a tuple of sets."""
    return isinstance(given, tuple) and len(given) in (2, 3) and not isinstance(given[0], tuple)


def evaluation_set(given: tuple[Any, ...], features: FeatureEncoder, targets: TargetEncoder) -> Dataset:
    """One set, a pair or a triple, as validated rows of positive weight."""
    X, y = features.transform(given[0]), np.asarray(given[1])
    if y.ndim == 0:
        raise TypeError(f"y must have an entry for each of the {len(X)} rows of X, got {given[1]!r}")
    if len(y) != len(X):
        raise ValueError(f"there must be as many y as X, got {len(y)} and {len(X)}")
    X, y, weight = with_positive_weight(X, targets.transform(y), *given[2:] or (None,))
    if not np.isfinite(y).all():
        raise ValueError(f"y must be finite, got {y[~np.isfinite(y)][0]}")
    return Dataset(X, y, targets.reweight(y, weight))
