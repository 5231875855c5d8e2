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
from ..contracts.preparation import require_accepted_target, require_class_indices, require_multiclass
from ..core import Loss, Observations
from ..data.sample_weight import check_sample_weight
from ..losses.registry import LOSSES
from ..losses.target_statistics import class_count, has_own_columns
from ..metrics.registry import METRICS, find_metric
from ..preprocessing.tables import target_array
from ..preprocessing.targets import encode_targets, first_labels, squeeze
from ..utils.param_validation import POSITIVE, require
from ..utils.typing import Array
from .array_objectives import ArrayMetric, metric_on_predictions, named_metric
from .host import Host, HostModel
from .loss_text import loss_from_text
from .prepared_losses import prepare_for_training
from .queries import add_queries
from .score_conversion import ScoreConversion, host_link, slope_of

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

NEUTRAL_WEIGHTS, NO = {"scale_pos_weight": (1,)}, (False, "false")
"""Values without effect of parameters that weight the second of two classes."""


class HostEstimator:
    """Replaces the host's objective by the loss, and its initial score by the loss's baseline.

    If raw scores are a multiple of log-odds, the trees are grown on the log-odds: see
    :func:`~rffboost_ext.interop.score_conversion.slope_of`.
    """

    _host: ClassVar[Host]
    task: ClassVar[str]
    default_objectives: ClassVar[Sequence[Any]] = (None,)
    """Values of the parameter objective that count as not set."""

    loss: str | Loss
    loss_: Loss
    baseline_: Array
    objective: Any
    get_params: Any
    predict: Any
    _raw: Callable[..., Array]
    _class_factors: Array | None
    """Factors on the weights of two classes by the host's own parameters, (2,); None without any."""
    _n_columns: int | None = None
    """Columns of the target; None for a loaded model."""

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the host and of the loss, such as ``loss__quantile``, also if the loss is a name."""
        inner = {name: params.pop(name) for name in list(params) if name.startswith("loss__")}
        if inner:
            loss = LOSSES.make(params.get("loss", self.loss))
            params["loss"] = loss.set_params(
                **{name.removeprefix("loss__"): value for name, value in inner.items()}
            )
        super().set_params(**params)  # type: ignore[misc]
        return self

    def score(
        self, X: Any, y: Any, sample_weight: Any = None, qid: Any = None, group: Any = None, **options: Any
    ) -> float:
        """The accuracy of a classifier; the score of a regressor is the one of the loss.

        That is R2 if the response has a column for each of y, else minus the mean loss, as in
        :meth:`rffboost_ext.RFFBoostRegressor.score`.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, K)
        sample_weight : array-like of shape (n,), optional
        qid, group : array-like, optional
            Queries, as in ``fit``.
        **options
            Arguments of ``predict``, such as XGBoost's base_margin.

        Returns
        -------
        float
        """
        if self.task == "classification":
            labels = y if self.loss_.multilabel else first_labels(y)
            return float(accuracy_score(labels, self.predict(X, **options), sample_weight=sample_weight))
        queries = {"sample_weight": sample_weight, "qid": qid, "group": group}
        y, _ = add_queries(type(self).__name__, self.loss_, X, y, queries)
        targets = self._read_target(y)
        weight, raw = check_sample_weight(sample_weight, len(targets)), self._raw(X, **options)
        counts = weight > 0.0
        return score_of_loss(self.loss_, targets[counts], raw[counts], weight[counts])

    def score_conversion(self) -> ScoreConversion:
        """The conversion of the host's scores to raw scores of the loss.

        Returns
        -------
        ScoreConversion
        """
        check_is_fitted(self, "loss_")
        return self._conversion

    @property
    def _conversion(self) -> ScoreConversion:
        return ScoreConversion(slope_of(self.loss_), np.zeros(1) if self._host.stores_start else self.baseline_)

    def _fit_loss(self, y: Any, sample_weight: Any) -> Observations:
        """Set ``loss_`` and ``baseline_``, and return the rows of the fit, or raise a ValueError."""
        name, loss, params = type(self).__name__, LOSSES.create(self.loss), self.get_params(deep=False)
        self._check_params(name, loss, params)
        y = check_target_array(name, loss, y)
        loss.n_scores(y)
        has_labels = self.task == "classification" and (y.shape[1] == 1 or has_own_columns(loss, y.shape[1]))
        n_classes = class_count(loss, y[:, :1]) if has_labels else None
        if n_classes is not None:
            require_multiclass(loss, n_classes)
        rows = Observations(y, check_sample_weight(sample_weight, len(y)))
        given = {key: params[key] for key in self._host.class_weights if params.get(key) is not None}
        given = {key: value for key, value in given.items() if value not in NEUTRAL_WEIGHTS.get(key, NO)}
        self._class_factors = host_class_factors(name, loss, given, y, n_classes) if given else None
        self._n_columns = y.shape[1]
        self.loss_, self.baseline_ = prepare_for_training(loss, rows, n_classes)
        return rows

    def _check_params(self, name: str, loss: Loss, params: Mapping[str, Any]) -> None:
        """Raise a ValueError for parameters that the loss would ignore."""
        if loss.task != self.task:
            raise ValueError(f"{name}: loss {self.loss!r} is for {loss.task}, not for {self.task}")
        for inner in params:
            if inner.startswith("loss__"):
                raise ValueError(f"{name}: {inner} is set by set_params, or by an instance as loss")
        if self.objective not in self.default_objectives:
            raise ValueError(f"{name}: objective must be unset, the loss replaces it; got {self.objective!r}")
        own_params = loss.get_params(deep=False)
        for param, names in self._host.objective_params.items():
            value, own = params.get(param), next((inner for inner in names if inner in own_params), None)
            # A metric of the host, such as XGBoost's "quantile", may read it too.
            agrees = own is not None and isinstance(value, int | float) and value == own_params[own]
            if value is None or agrees or value == self._host.neutral_params.get(param, False):
                continue
            advice = (
                "do not set it" if own is None else f"set loss__{own} by set_params, or pass an instance as loss"
            )
            raise ValueError(f"{name}: loss {loss!r} ignores {param}; {advice}, got {value!r}")

    def _continued_baseline(self, model: Any, found: HostModel) -> Array:
        """The baseline of a fit that continues a model, or a ValueError if the loss has another link."""
        name, n_outputs, link = self._host.continued, len(self.baseline_), found.link
        start, slope = found.ensemble.baseline, slope_of(self.loss_)
        if isinstance(model, HostEstimator):
            link, conversion = host_link(model.loss_), model.score_conversion()
            start = start + conversion.slope * conversion.offset
        elif found.loss_text is not None:
            link = host_link(loss_from_text(found.loss_text, self.loss))
        elif found.objective == self._host.unknown_objective:
            link = None
        if len(start) != n_outputs:
            raise ValueError(f"{type(self).__name__}: {name} must have {n_outputs} outputs, got {len(start)}")
        if link is not None and link != host_link(self.loss_):
            raise ValueError(
                f"{type(self).__name__}: {name} must have the link of loss {self.loss_!r}; use the loss that it "
                f"was trained with"
            )
        return start / slope

    def _read_target(self, y: Any) -> Array:
        """A target of training or evaluation, (n, K), or a ValueError if the fitted loss does not accept it."""
        target = check_target_array(type(self).__name__, self.loss_, y)
        if self._n_columns not in (None, target.shape[1]):
            found, owner = target.shape[1], type(self).__name__
            raise ValueError(f"{owner}: y must have the {self._n_columns} columns of the fit, got {found}")
        require_accepted_target(self.loss_, target)
        require_class_indices(self.loss_, target, self.baseline_)
        return target

    def _needs_attached(self, y: Array) -> bool:
        """Whether a target (n, K) is more than the labels of the host hold, which are finite."""
        return y.shape[1] > 1 or not np.isfinite(y).all()

    def _n_responses(self) -> int:
        """Columns of the response."""
        return self.loss_.link.inverse(self.baseline_[None]).shape[1]

    def _response(self, raw: Array) -> Array:
        """What ``predict`` returns for raw scores."""
        return squeeze(self.loss_.link.inverse(raw))

    def _metrics(self, metrics: Any) -> Any:
        """Metrics of a fit, one or a list, as functions of the host's scores, or names of its own.

        None is the loss. A metric of ours may be given by its name, a user's as a function of predictions.
        """
        if isinstance(metrics, list | tuple):
            return [self._metrics(metric) for metric in metrics]
        if metrics is None:
            # The given loss names it: a prepared loss for several classes may be of another class.
            name = LOSSES.name_of(LOSSES.make(self.loss))
            return ArrayMetric(MeanLoss(self.loss_), name, self._conversion)
        if self._is_own_metric(metrics):
            return named_metric(metrics, self.loss_, self._conversion, len(self.baseline_))
        return metric_on_predictions(metrics, self.loss_, self._conversion) if callable(metrics) else metrics

    def _is_own_metric(self, metric: Any) -> bool:
        """Whether a metric is the name of one of ``rffboost_ext.metrics``, such as "ndcg@10"."""
        return isinstance(metric, str) and find_metric(metric) is not None

    def _unsupported_metrics(self, metrics: Any) -> tuple[list[str], str]:
        """The host's own metrics among `metrics` that need scores of its own objectives, and what is allowed."""
        # The probability of the second of two classes increases with the score.
        has_order = len(self.baseline_) == 1 and self._n_responses() < 3
        allowed = list(self._host.ranking_metrics) if has_order else []
        allowed += [] if self.task == "classification" else [*filter(self._is_own_metric, METRICS)]
        names = metrics if isinstance(metrics, list | tuple) else [metrics]
        unsupported = [
            name
            for name in names
            if isinstance(name, str) and name not in allowed and not self._is_own_metric(name)
        ]
        return unsupported, f", a function, or one of {allowed}" if allowed else " or a function"


def routed(method: Callable[..., Any], *others: str) -> dict[str, None]:
    """The arguments that scikit-learn's metadata routing may pass to a method: those of the host's, and others."""
    named = inspect.signature(method).parameters.values()
    names = [one.name for one in named if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    return dict.fromkeys([name for name in names if name not in ("self", "X", "y")] + list(others))


def host_class_factors(owner: str, loss: Loss, given: Mapping[str, Any], y: Array, n_classes: int | None) -> Array:
    """Factors on the weights of two classes, (2,), by parameters of the host.

    ``is_unbalance`` gives both classes the same total weight, by a factor on the smaller one.
    """
    name, value = next(iter(given.items()))
    if n_classes != 2:
        raise ValueError(
            f"{owner}: {name} weights the second of two classes, use sample_weight for loss {loss!r}; got "
            f"{value!r}"
        )
    if len(given) > 1:
        raise ValueError(f"{owner}: only one of {', '.join(given)} may be set")
    if name != "scale_pos_weight":
        counts = np.bincount(y[:, 0].astype(np.intp))
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
