"""Common base of the scikit-learn estimators of both hosts, with one of our losses as the objective."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import accuracy_score
from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import check_is_fitted

from ..boosting.early_stopping.mean_loss import MeanLoss
from ..boosting.scorers import score_of_loss
from ..core import Loss
from ..data.sample_weight import check_sample_weight
from ..losses.registry import LOSSES
from ..losses.target_statistics import class_count, has_own_columns
from ..losses.validation import (
    check_class_indices,
    check_response_of_classes,
    require_accepted_target,
    require_multiclass,
)
from ..metrics.registry import METRICS, find_metric
from ..preprocessing.tables import target_array
from ..preprocessing.targets import encode_targets, first_labels, squeeze
from ..utils.param_validation import POSITIVE, require
from ..utils.typing import Array
from .initial_scores import ranks_by_score
from .matrix_rows import rows_of_weight
from .objectives import ArrayMetric, metric_on_predictions, named_metric
from .prepared_losses import prepare_for_training
from .queries import add_queries
from .score_conversion import ScoreConversion, slope_of

PARAMETERS = """loss : str or Loss, default={loss!r}
        A {task} loss: a registered name or an instance.
    **kwargs
        Parameters of ``{host}`` except {without}, which the loss would ignore.

    Attributes
    ----------
    loss_ : Loss
        The prepared loss that was minimised.
    baseline_ : ndarray of shape (C,)
        Raw score before the first tree."""


class HostEstimatorMixin:
    """Replaces the host's objective by the loss, and its initial score by the loss's baseline.

    If raw scores are a multiple of log-odds, the trees are grown on the log-odds: see
    :func:`~rffboost_ext.interop.score_conversion.slope_of`.
    """

    task: ClassVar[str]
    default_objectives: ClassVar[Sequence[Any]] = (None,)
    """Values of the parameter objective that count as not set."""
    class_weight_params: ClassVar[Sequence[str]] = ("scale_pos_weight",)
    """Parameters by which the host's own objectives weight the second of two classes."""
    objective_params: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Parameters of the host's own objectives, and the names of equivalent parameters of our losses."""
    neutral_params: ClassVar[Mapping[str, Any]] = {}
    """Values without effect of such parameters, if not None or False."""
    ranking_metrics: ClassVar[Sequence[str]] = ()
    """The host's metrics that depend on the order of scores only."""

    loss: str | Loss
    loss_: Loss
    baseline_: Array
    _class_factors: Array | None
    _n_columns: int | None = None
    """Columns of the target; None for a loaded model."""
    _raw: Any
    predict: Any
    objective: Any
    get_params: Any

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the host and of the loss, such as ``loss__quantile``, also if the loss is a name."""
        inner = {name: params.pop(f"loss__{name}") for name in loss_param_names(params)}
        if inner:
            params["loss"] = LOSSES.make(params.get("loss", self.loss)).set_params(**inner)
        super().set_params(**params)  # type: ignore[misc]
        return self

    def _fit_loss(self, y: Any, sample_weight: Any) -> tuple[Array, Array]:
        """Set ``loss_`` and ``baseline_``, and return targets (n, K) and weights (n,), or raise a ValueError."""
        name, loss, params = type(self).__name__, LOSSES.create(self.loss), self.get_params(deep=False)
        if loss.task != self.task:
            raise ValueError(f"{name}: loss {self.loss!r} is for {loss.task}, not for {self.task}")
        for inner in loss_param_names(params):
            raise ValueError(f"{name}: loss__{inner} is set by set_params, or by an instance as loss")
        if self.objective not in self.default_objectives:
            raise ValueError(f"{name}: objective must be unset, the loss replaces it; got {self.objective!r}")
        used = {key: value for key, value in params.items() if value != self.neutral_params.get(key, False)}
        check_objective_params(name, loss, self.objective_params, used)
        y = check_target_array(name, loss, y)
        loss.n_scores(y)
        has_labels = self.task == "classification" and (y.shape[1] == 1 or has_own_columns(loss, y.shape[1]))
        n_classes = class_count(loss, y[:, :1]) if has_labels else None
        if n_classes is not None:
            require_multiclass(loss, n_classes)
        weight = check_sample_weight(sample_weight, len(y))
        self._class_factors, self._n_columns = self._read_class_factors(y, n_classes), y.shape[1]
        self.loss_, self.baseline_ = prepare_for_training(loss, y, weight, n_classes)
        check_response_of_classes(self.loss_, self.baseline_, n_classes)
        return y, weight

    def _read_class_factors(self, y: Array, n_classes: int | None) -> Array | None:
        """Factors on the weights of two classes by the host's own parameters, (2,); None without any."""
        params = self.get_params(deep=False)
        given = {name: params[name] for name in self.class_weight_params if params.get(name) is not None}
        given = {name: value for name, value in given.items() if value not in NEUTRAL_WEIGHTS.get(name, NO)}
        for name, value in given.items():
            if n_classes != 2:
                raise ValueError(
                    f"{type(self).__name__}: {name} weights the second of two classes, use sample_weight for "
                    f"loss {self.loss!r}; got {value!r}"
                )
        return class_factors(type(self).__name__, given, np.bincount(y[:, 0].astype(np.intp))) if given else None

    def _read_target(self, y: Any) -> Array:
        """A target of training or evaluation, (n, K), or a ValueError if the fitted loss does not accept it."""
        target = check_target_array(type(self).__name__, self.loss_, y)
        if self._n_columns not in (None, target.shape[1]):
            found, owner = target.shape[1], type(self).__name__
            raise ValueError(f"{owner}: y must have the {self._n_columns} columns of the fit, got {found}")
        require_accepted_target(self.loss_, target)
        check_class_indices(self.loss_, target, self.baseline_)
        return target

    def _needs_attached(self, y: Array) -> bool:
        """Whether a target (n, K) is more than the labels of the host hold, which are finite."""
        return y.shape[1] > 1 or not np.isfinite(y).all()

    def _score(self, X: Any, y: Any, sample_weight: Any, queries: Mapping[str, Any], **options: Any) -> float:
        """Accuracy, or the score of the loss; `options` are arguments of the host's ``predict``."""
        if self.task == "classification":
            labels = y if self.loss_.multilabel else first_labels(y)
            return float(accuracy_score(labels, self.predict(X, **options), sample_weight=sample_weight))
        y, _ = add_queries(type(self).__name__, self.loss_, X, y, {"sample_weight": sample_weight, **queries})
        targets = self._read_target(y)
        weight = check_sample_weight(sample_weight, len(targets))
        return score_of_loss(self.loss_, *rows_of_weight(weight, targets, self._raw(X, **options), weight))

    def score_conversion(self) -> ScoreConversion:
        """The conversion of the host's scores to raw scores of the loss.

        Returns
        -------
        ScoreConversion
        """
        check_is_fitted(self, "loss_")
        return ScoreConversion(slope_of(self.loss_))

    def _loss_metric(self) -> ArrayMetric:
        # The given loss names it: a prepared loss for several classes may be of another class.
        name = LOSSES.name_of(LOSSES.create(self.loss))
        return ArrayMetric(MeanLoss(self.loss_), name, self.score_conversion())

    def _wrap_metrics(self, metrics: Any) -> Any:
        """Metrics of a fit, one or a list, with names of ours and callables as functions of the host's scores."""
        if isinstance(metrics, list | tuple):
            return [self._wrap_metrics(metric) for metric in metrics]
        if self._is_own_metric(metrics):
            return named_metric(metrics, self.loss_, self.score_conversion(), len(self.baseline_))
        if not callable(metrics):
            return metrics
        return metric_on_predictions(metrics, self.loss_, self.score_conversion())

    def _is_own_metric(self, metric: Any) -> bool:
        """Whether a metric is the name of one of ``rffboost_ext.metrics``, such as "ndcg@10"."""
        return isinstance(metric, str) and find_metric(metric) is not None

    def _unsupported_metrics(self, metrics: Any) -> tuple[list[str], str]:
        """The host's own metrics among `metrics` that need scores of its own objectives, and what is allowed."""
        allowed = list(self.ranking_metrics) if ranks_by_score(self.loss_, len(self.baseline_)) else []
        names = metrics if isinstance(metrics, list | tuple) else [metrics]
        allowed += [] if self.task == "classification" else [*filter(self._is_own_metric, METRICS)]
        unsupported = [
            name
            for name in names
            if isinstance(name, str) and name not in allowed and not self._is_own_metric(name)
        ]
        return unsupported, f", a function, or one of {allowed}" if allowed else " or a function"

    def _response(self, raw: Array) -> Array:
        """What ``predict`` returns for raw scores."""
        return squeeze(self.loss_.link.inverse(raw))


def loss_param_names(params: Any) -> list[str]:
    """The parameters of a loss among those of an estimator, without their prefix."""
    return [name.removeprefix("loss__") for name in params if name.startswith("loss__")]


def routed(method: Callable[..., Any], *others: str) -> dict[str, None]:
    """The arguments that scikit-learn's metadata routing may pass to a method: those of the host's, and others."""
    named = inspect.signature(method).parameters.values()
    names = [one.name for one in named if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    return dict.fromkeys([name for name in names if name not in ("self", "X", "y")] + list(others))


def check_objective_params(
    owner: str, loss: Loss, objective_params: Mapping[str, Sequence[str]], params: Mapping[str, Any]
) -> None:
    """Raise a ValueError for a parameter of the host's objectives, unless it equals that of the loss."""
    loss_params = loss.get_params(deep=False)
    for name, names in objective_params.items():
        value, own = params.get(name), next((inner for inner in names if inner in loss_params), None)
        # A metric of the host, such as XGBoost's "quantile", may read it too.
        agrees = own is not None and isinstance(value, int | float) and value == loss_params[own]
        if value is None or value is False or agrees:
            continue
        advice = "do not set it" if own is None else f"set loss__{own} by set_params, or pass an instance as loss"
        raise ValueError(f"{owner}: loss {loss!r} ignores {name}; {advice}, got {value!r}")


NEUTRAL_WEIGHTS, NO = {"scale_pos_weight": (1,)}, (False, "false")
"""Values without effect of parameters that weight the second of two classes."""


def class_factors(owner: str, given: Mapping[str, Any], counts: Array) -> Array:
    """Factors on the weights of two classes, (2,), by the hosts' parameters; `counts` are numbers of rows.

    ``is_unbalance`` gives both classes the same total weight, by a factor on the smaller one.
    """
    if len(given) > 1:
        raise ValueError(f"{owner}: only one of {', '.join(given)} may be set")
    ((name, value),) = given.items()
    if name != "scale_pos_weight":
        return counts.max() / counts
    require(owner, name, value, POSITIVE)
    return np.array([1.0, value])


def check_target_array(owner: str, loss: Loss, y: Any) -> Array:
    """A target, (n,) or (n, K), as float64 of shape (n, K), finite unless the loss allows infinity."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None")
    values = target_array(y)
    if values.ndim not in (1, 2) or len(values) == 0:
        raise ValueError(f"{owner}: y must have shape (n,) or (n, K) and at least one row, got {values.shape}")
    if values.dtype.kind == "c":
        check_array(values, ensure_2d=False, input_name="y", estimator=owner)
    if loss.task == "classification" and values.dtype.kind not in "biufO":
        raise ValueError(f"{owner}: y must be class indices 0 .. K-1, got {values.ravel().tolist()[0]!r}")
    numbers = encode_targets(values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values)
    if not loss.infinite:
        assert_all_finite(numbers, input_name="y")
    return numbers
