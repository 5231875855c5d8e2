"""The data sets and the metrics by which a fit is evaluated round by round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from ..contracts.fit import prepare, require_accepted_target
from ..core import Loss
from ..losses.coupling import Coupling
from ..losses.registry import LOSSES
from ..rows.dataset import Dataset, are_rows_of
from ..rows.feature_encoder import FeatureEncoder
from ..rows.row_arguments import encode_base_margin
from ..rows.targets import TargetEncoder
from ..rows.weights import rows_of_positive_weight
from ..terms.ensemble import Ensemble
from ..utils.param_validation import told
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .callbacks import Curves, Progress
from .early_stopping.monitor import MAX_BATCH, MeanLoss, staged_scores
from .early_stopping.validation_split import MIN_HELD_OUT, has_best_scores
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
    monitored : Dataset, optional
        The rows of the sets that early stopping monitors.
    """

    sets: Mapping[str, Dataset] = field(default_factory=dict)
    metrics: tuple[EvaluationMetric, ...] = ()
    monitored: Dataset | None = None

    @property
    def couplings(self) -> list[Coupling]:
        """How metrics couple rows."""
        return [metric.coupling for metric in self.metrics if metric.coupling is not None]

    def has_best_scores(self, rows: Dataset) -> bool:
        """Whether some scores of these rows are better than others by what is monitored."""
        metric = self.metrics[-1]
        if isinstance(metric.coupling, Loss):
            return has_best_scores(metric.coupling, rows)
        if metric.coupling is None or metric.decoder is None:
            return True
        scores = np.random.default_rng(0).standard_normal((10, len(rows), metric.decoder.n_outputs))
        return len({metric.score(rows.observations, raw) for raw in scores}) > 1

    def monitoring(self, owner: str, training: Dataset) -> Evaluation:
        """The same, but early stopping monitors the last set that says something about new rows.

        That is one with best scores, and with rows besides those of the training set. Of that set it monitors
        these rows only, unless they are fewer than `MIN_HELD_OUT`. A warning names a set that is not monitored, or
        in part.
        """
        for name, rows in reversed(list(self.sets.items())):
            if not self.has_best_scores(rows):
                warn_user(
                    f"{owner}: eval_set {name!r} has no best scores by {self.metrics[-1].name!r}, as rows of one "
                    f"class, censored rows or queries of one row have none: early stopping does not monitor it"
                )
                continue
            other = np.flatnonzero(~are_rows_of(training, rows))
            if len(other) == len(rows):
                return replace(self, monitored=rows)
            text = (
                f"{owner}: eval_set {name!r} has rows of the training set, whose loss says nothing about new rows"
            )
            if len(other) >= MIN_HELD_OUT:
                warn_user(f"{text}: early stopping monitors the {len(other)} others of its {len(rows)} rows")
                return replace(self, monitored=rows.take(other))
            warn_user(f"{text}, and {len(other)} others: early stopping does not monitor it")
        return replace(self, monitored=None)

    def require_computable(self, start: Ensemble) -> None:
        """Raise the error of a metric that cannot be computed, before the first round."""
        for rows in self.sets.values():
            for metric in self.metrics:
                metric.score(rows.observations, start.raw(rows.X))

    def history(self, ensemble: Ensemble, validation: Dataset | None = None) -> EvaluationHistory | None:
        """The metrics of a model on the user's sets, or the monitored one on held-out rows; None without rows."""
        if self.sets:
            return EvaluationHistory(self.sets, self.metrics, ensemble)
        if validation is None:
            return None
        return EvaluationHistory({"validation": validation}, self.metrics[-1:], ensemble)

    def best(self, curves: Curves, score: float | None, n_rounds: int) -> dict[str, Any]:
        """The best entry of the monitored set, or the last round: ``best_iteration_`` and ``best_score_``.

        `score` is the held-out error of a model that early stopping has ended with its best round, else None.
        """
        whole = [name for name, rows in self.sets.items() if rows is self.monitored]
        if self.sets and (whole or score is None):
            metric = self.metrics[-1]
            values = np.array(curves[(whole or list(self.sets))[-1]][metric.name])
            errors = np.where(np.isnan(values), np.inf, -values if metric.greater_is_better else values)
            index = int(errors.argmin())
            return {"best_iteration_": index, "best_score_": float(values[index])}
        return {} if score is None else {"best_iteration_": n_rounds - 1, "best_score_": score}


def evaluation_of(
    owner: str,
    eval_metric: Any,
    sets: Mapping[str, Dataset],
    loss: Loss,
    loss_of_user: str | Loss,
    data: Dataset,
    targets: TargetEncoder,
) -> Evaluation:
    """How a fit that minimises `loss`, given as `loss_of_user`, on `data` is evaluated.

    Raises
    ------
    ValueError
        If a metric or the targets of a set do not go with the fit; the message names it.
    """
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
    name = loss_of_user if isinstance(loss_of_user, str) else LOSSES.name_of(loss_of_user)
    if eval_metric is None:
        metrics: tuple[EvaluationMetric, ...] = (EvaluationMetric(name, False, MeanLoss(loss), coupling=loss),)
    else:
        n_outputs = loss.n_scores(data.y, targets.n_classes)
        prepared = partial(prepare, rows=data.observations, n_classes=targets.n_classes)
        decoder = ScoreDecoder(loss, name, targets.classes, prepared, n_outputs)
        metrics = resolve_metrics(eval_metric, decoder)
    evaluation = Evaluation(sets, metrics)
    sets = {label: held.coupled_by(loss, *evaluation.couplings) for label, held in sets.items()}
    return replace(evaluation, sets=sets, monitored=list(sets.values())[-1] if sets else None)


def evaluation_sets(
    owner: str,
    eval_set: Any,
    features: FeatureEncoder,
    targets: TargetEncoder,
    margins: Mapping[str, Any],
    offset: Array | None,
) -> dict[str, Dataset]:
    """The user's sets, validated and encoded, by name, with `margins` as the fit has an `offset` (n, C).

    Raises
    ------
    TypeError, ValueError
        If ``eval_set`` is not a set, list or mapping of sets, or a set does not fit the model; the message names
        it.
    """
    sets = {}
    for name, one in named_sets(owner, eval_set).items():
        try:
            table, labels, weights = (*one, None)[:3]
            X, y, weight = rows_of_positive_weight(table, targets.columns(labels), weights)
            X, y = features.transform(X), targets.transform(y)
            sets[name] = Dataset(X, y, targets.reweight(y, weight))
            if offset is not None:
                own = encode_base_margin(margins[name], table, weights, offset.shape[1])
                sets[name] = replace(sets[name], offset=own)
        except (ValueError, TypeError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{owner}: eval_set {name!r}: {error}") from error
    return sets


def named_sets(owner: str, eval_set: Any) -> dict[str, tuple[Any, ...]]:
    """The sets, (X, y) or (X, y, weight), by name: those of a list are validation_0, validation_1 and so on."""
    if eval_set is None:
        return {}
    sets = [eval_set] if is_set(eval_set) else eval_set
    if isinstance(sets, list | tuple):
        sets = {f"validation_{k}": one for k, one in enumerate(sets)}
    if not isinstance(sets, Mapping) or not sets:
        raise TypeError(f"{owner}: eval_set must be {SETS}, got {told(eval_set):.100}")
    for name, one in sets.items():
        if not is_set(one):
            raise TypeError(f"{owner}: eval_set must be {SETS}, got for {name!r} a {type(one).__name__}")
    named = {str(name): one for name, one in sets.items()}
    if len(named) < len(sets):
        raise ValueError(f"{owner}: eval_set must have a name of its own for each set, got {list(sets)}")
    return named


def arrays_of_sets(owner: str, name: str, arrays: Any, eval_set: Any, of_fit: Any) -> dict[str, Any]:
    """What belongs to the rows of each set, by the names of the sets, such as ``base_margin_eval_set``.

    Parameters
    ----------
    owner, name : str
        The estimator and the parameter, for messages.
    arrays : list of array-like, or mapping of str to such, or None
        The parameter; of a single set it may be the array itself.
    eval_set
        The sets, as in fit.
    of_fit : object
        What belongs to the rows of the fit; None if nothing does, and then no set may have it.

    Raises
    ------
    ValueError, TypeError
        If there is not an array for each set, or there are some for none.
    """
    names = list(named_sets(owner, eval_set))
    entries = "a list with an entry for each set of eval_set, or a dict of such by name"
    is_one_of_list = isinstance(arrays, list | tuple) and len(arrays) == 1
    if arrays is None:
        arrays = {}
    elif is_set(eval_set) and not isinstance(arrays, Mapping) and not is_one_of_list:
        arrays = {names[0]: arrays}
    elif isinstance(arrays, list | tuple) and not isinstance(eval_set, Mapping):
        if len(arrays) != len(names):
            raise ValueError(f"{owner}: {name} must be {entries}: {len(names)}, got {len(arrays)}")
        arrays = dict(zip(names, arrays, strict=True))
    elif not isinstance(arrays, Mapping):
        raise TypeError(f"{owner}: {name} must be {entries}, got {told(arrays):.100}")
    by_name = {str(label): one for label, one in arrays.items() if one is not None}
    needed_names = names if of_fit is not None else []
    if set(by_name) != set(needed_names):
        needed = f"for the sets {needed_names}" if needed_names else "None, as the fit has none, or no eval_set"
        raise ValueError(f"{owner}: {name} must be {needed}, got it for {list(by_name)}")
    return by_name


def is_set(eval_set: Any) -> bool:
    """Whether something is a single set, rather than a tuple of sets."""
    return isinstance(eval_set, tuple) and len(eval_set) in (2, 3) and not isinstance(eval_set[0], tuple)


class EvaluationHistory:
    """Each metric on each set after every round of one model, evaluated when the curves are asked for.

    The ensemble has the rounds so far; entry i of a curve is the metric after round i.
    """

    def __init__(
        self, sets: Mapping[str, Dataset], metrics: Sequence[EvaluationMetric], ensemble: Ensemble
    ) -> None:
        self.sets = sets
        self.metrics = metrics
        self._curves: Curves = {name: {metric.name: [] for metric in metrics} for name in sets}
        self._raw = {name: np.tile(ensemble.baseline, (len(rows), 1)) for name, rows in sets.items()}
        self._pending = list(ensemble.rounds)

    def add(self, progress: Progress) -> None:
        """Add a round."""
        self._pending.append((progress.keep, progress.length, progress.term))

    def curves(self) -> Curves:
        """A list of numbers by set and metric, up to the present round."""
        size = max([1, *(raw.size for raw in self._raw.values())])
        count = max(1, MAX_BATCH // size)
        while self._pending:
            rounds, self._pending = self._pending[:count], self._pending[count:]
            for name, rows in self.sets.items():
                stages = staged_scores(self._raw[name], rounds, rows.X)
                self._raw[name] = stages[-1].copy()
                for metric in self.metrics:
                    scores = (float(metric.score(rows.observations, raw)) for raw in stages)
                    self._curves[name][metric.name].extend(scores)
        return self._curves
