"""Common base of the scikit-learn estimators of both hosts, with one of our losses as the objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from sklearn.utils import assert_all_finite, check_array
from sklearn.utils.validation import check_is_fitted

from ..core import Loss
from ..data.sample_weight import check_sample_weight
from ..losses.registry import LOSSES
from ..preprocessing.targets import encode_targets, squeeze, target_array
from ..utils.typing import Array
from .initial_scores import has_increasing_link
from .objectives import ArrayMetric, metric_on_predictions, prepare_with_baseline
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
    """Parameters by which the host's own objectives weight classes; the loss would ignore them."""
    objective_params: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Parameters of the host's own objectives, and the names of equivalent parameters of our losses."""
    ranking_metrics: ClassVar[Sequence[str]] = ()
    """The host's metrics that depend on the order of scores only."""

    loss: str | Loss
    loss_: Loss
    baseline_: Array
    objective: Any
    get_params: Any

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the host and of the loss, such as ``loss__quantile``, also if the loss is a name."""
        inner = {name: params.pop(f"loss__{name}") for name in loss_param_names(params)}
        if inner:
            params["loss"] = LOSSES.make(params.get("loss", self.loss)).set_params(**inner)
        super().set_params(**params)  # type: ignore[misc]
        return self

    def _fit_loss(self, y: Any, sample_weight: Any) -> None:
        """Set ``loss_`` and ``baseline_`` for class indices or real targets, or raise a ValueError."""
        name, loss, params = type(self).__name__, LOSSES.create(self.loss), self.get_params(deep=False)
        if loss.task != self.task:
            raise ValueError(f"{name}: loss {self.loss!r} is for {loss.task}, not for {self.task}")
        for inner in loss_param_names(params):
            raise ValueError(f"{name}: loss__{inner} is set by set_params, or by an instance as loss")
        if self.objective not in self.default_objectives:
            raise ValueError(f"{name}: objective must be unset, the loss replaces it; got {self.objective!r}")
        for weighting in self.class_weight_params:
            value = self.get_params().get(weighting)
            if value is True or value not in (None, False, 1):
                raise ValueError(f"{name}: the loss ignores {weighting}; use sample_weight, got {value!r}")
        check_objective_params(name, loss, self.objective_params, params)
        y = check_target_array(name, self.task, y)
        if self.task == "classification" and y.max() > 1 and not loss.multiclass:
            raise ValueError(f"{name}: loss {loss!r} is for two classes, got {int(y.max()) + 1}")
        weight = check_sample_weight(sample_weight, len(y))
        self.loss_, self.baseline_ = prepare_with_baseline(loss, y, weight)

    def score_conversion(self) -> ScoreConversion:
        """The conversion of the host's scores to raw scores of the loss.

        Returns
        -------
        ScoreConversion
        """
        check_is_fitted(self, "loss_")
        return ScoreConversion(slope_of(self.loss_, len(self.baseline_)))

    def _loss_metric(self) -> ArrayMetric:
        # The given loss names it: a prepared loss for several classes may be of another class.
        return ArrayMetric(self.loss_, LOSSES.name_of(LOSSES.create(self.loss)), self.score_conversion())

    def _wrap_metrics(self, metrics: Any) -> Any:
        """Metrics of a fit, one or a list, with callables wrapped to take predictions."""
        if isinstance(metrics, list | tuple):
            return [self._wrap_metrics(metric) for metric in metrics]
        if not callable(metrics):
            return metrics
        return metric_on_predictions(metrics, self.loss_, self.score_conversion())

    def _unsupported_metrics(self, metrics: Any) -> tuple[list[str], str]:
        """The host's own metrics among `metrics` that need scores of its own objectives, and what is allowed."""
        allowed = list(self.ranking_metrics) if has_increasing_link(self.loss_, len(self.baseline_)) else []
        names = metrics if isinstance(metrics, list | tuple) else [metrics]
        unsupported = [name for name in names if isinstance(name, str) and name not in allowed]
        return unsupported, f", a function, or one of {allowed}" if allowed else " or a function"

    def _response(self, raw: Array) -> Array:
        """What ``predict`` returns for raw scores."""
        return squeeze(self.loss_.inverse_link(raw))


def loss_param_names(params: Any) -> list[str]:
    """The parameters of a loss among those of an estimator, without their prefix."""
    return [name.removeprefix("loss__") for name in params if name.startswith("loss__")]


NEUTRAL_VALUES = {"boost_from_average": True}
"""Values without effect of parameters of the host's objectives, if not None or False."""


def check_objective_params(
    owner: str, loss: Loss, objective_params: Mapping[str, Sequence[str]], params: Mapping[str, Any]
) -> None:
    """Raise a ValueError for a parameter of the host's objectives, unless it equals that of the loss."""
    loss_params = loss.get_params(deep=False)
    for name, names in objective_params.items():
        value, own = params.get(name), next((inner for inner in names if inner in loss_params), None)
        # A metric of the host, such as XGBoost's "quantile", may read it too.
        agrees = own is not None and isinstance(value, int | float) and value == loss_params[own]
        if value is None or value is NEUTRAL_VALUES.get(name, False) or agrees:
            continue
        advice = "do not set it" if own is None else f"set loss__{own} by set_params, or pass an instance as loss"
        raise ValueError(f"{owner}: loss {loss!r} ignores {name}; {advice}, got {value!r}")


def check_target_array(owner: str, task: str, y: Any) -> Array:
    """A target, (n,) or (n, C), as finite float64 of shape (n, C), or a ValueError."""
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None")
    values = target_array(y)
    if values.ndim not in (1, 2) or len(values) == 0:
        raise ValueError(f"{owner}: y must have shape (n,) or (n, C) and at least one row, got {values.shape}")
    if values.dtype.kind == "c":
        check_array(values, ensure_2d=False, input_name="y", estimator=owner)
    if task == "classification" and values.dtype.kind not in "biufO":
        raise ValueError(f"{owner}: y must be class indices 0 .. K-1, got {values.ravel().tolist()[0]!r}")
    numbers = encode_targets(values.ravel() if values.ndim == 2 and values.shape[1] == 1 else values)
    assert_all_finite(numbers, input_name="y")
    return numbers
