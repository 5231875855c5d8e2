"""Common base of the scikit-learn estimators of both hosts: one of our losses as the objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import assert_all_finite

from ..core import Loss
from ..data.sample_weight import check_sample_weight
from ..losses.registry import LOSSES
from ..losses.validation import check_link
from ..preprocessing.targets import encode_targets
from ..utils.typing import Array
from .objectives import ArrayMetric, ArrayObjective, fitted_to, metric_name, on_predictions
from .score_conversion import ScoreConversion, slope_of

PARAMETERS = """loss : str or Loss, default={loss!r}
        A {task} loss: a registered name or an instance.
    **kwargs
        Parameters of ``{host}`` except {without}, which the loss would ignore.

    Attributes
    ----------
    loss_ : Loss
        The loss that was minimised, with what it has estimated from the target.
    baseline_ : ndarray of shape (C,)
        Raw score before the first tree."""


class HostEstimatorMixin:
    """The loss replaces the objective, its baseline the host's initial score.

    Where raw scores are a multiple of log-odds the trees are grown on the log-odds: see
    :func:`~rffboost_ext.interop.score_conversion.slope_of`.
    """

    task: ClassVar[str]
    untouched: ClassVar[Sequence[Any]] = (None,)
    """Values of the parameter objective that count as not set."""
    weighing: ClassVar[Sequence[str]] = ("scale_pos_weight",)
    """Parameters by which the host's own objectives weight classes; our losses would ignore them."""
    foreign: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Parameters of the host's own objectives, and what those of our losses are called that mean the same."""

    loss: str | Loss
    loss_: Loss
    baseline_: Array
    objective: Any
    get_params: Any

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the host and of the loss, such as ``loss__quantile``, also where it is a name."""
        inner = {name: params.pop(f"loss__{name}") for name in nested(params)}
        if inner:
            params["loss"] = LOSSES.make(params.get("loss", self.loss)).set_params(**inner)
        super().set_params(**params)  # type: ignore[misc]
        return self

    def _accept(self, y: Any, sample_weight: Any) -> None:
        """Set ``loss_`` and ``baseline_`` for class indices or real targets, or raise a ValueError."""
        name, loss = type(self).__name__, LOSSES.create(self.loss)
        if loss.task != self.task:
            raise ValueError(f"{name}: loss {self.loss!r} is for {loss.task}, not for {self.task}")
        for inner in nested(self.get_params(deep=False)):
            raise ValueError(f"{name}: loss__{inner} is set by set_params, or by an instance as loss")
        if not isinstance(self.objective, ArrayObjective) and self.objective not in self.untouched:
            raise ValueError(
                f"{name}: objective must be left alone, the loss takes its place; got {self.objective!r}"
            )
        for weighing in self.weighing:
            given = self.get_params().get(weighing)
            if given is True or given not in (None, False, 1):
                raise ValueError(f"{name}: {weighing} is not seen by the loss; give sample_weight, got {given!r}")
        require_own(name, loss, self.foreign, self.get_params(deep=False))
        y = checked_target(name, self.task, y)
        if self.task == "classification" and y.max() > 1 and not loss.multiclass:
            raise ValueError(f"{name}: loss {loss!r} is for two classes, got {int(y.max()) + 1}")
        fitted, baseline = fitted_to(loss, y, check_sample_weight(sample_weight, len(y)))
        check_link(fitted, len(baseline))
        self.loss_, self.baseline_ = fitted, baseline

    def _reading(self, n_outputs: int) -> ScoreConversion:
        """The conversion of the host's scores, of `n_outputs` outputs, to raw scores."""
        return ScoreConversion(slope_of(self.loss_, n_outputs))

    def _own_metric(self) -> ArrayMetric:
        # Named after the loss that was given: for several classes another one may replace it.
        name = metric_name(LOSSES.create(self.loss))
        return ArrayMetric(self.loss_, name, self._reading(len(self.baseline_)))

    def _shown(self, metrics: Any) -> Any:
        """Metrics of a fit, one or a list, with callables wrapped to take predictions, names unchanged."""
        if isinstance(metrics, list | tuple):
            return [self._shown(metric) for metric in metrics]
        if not callable(metrics):
            return metrics
        return on_predictions(metrics, self.loss_, self._reading(len(self.baseline_)))


def nested(params: Any) -> list[str]:
    """The parameters of a loss among those of an estimator, without their prefix."""
    return [name.removeprefix("loss__") for name in params if name.startswith("loss__")]


HARMLESS = {"boost_from_average": True}
"""What leaves a parameter of the host's objectives without effect, where that is not False."""


def require_own(owner: str, loss: Loss, foreign: Mapping[str, Sequence[str]], params: Mapping[str, Any]) -> None:
    """Raise a ValueError for a parameter of the host's own objectives, unless the loss does what it says."""
    known = loss.get_params(deep=False)
    for name, names in foreign.items():
        given, own = params.get(name), next((inner for inner in names if inner in known), None)
        # A metric of the host may read it beside a loss that agrees, such as XGBoost's "quantile".
        agrees = own is not None and isinstance(given, int | float) and given == known[own]
        if given is None or given is HARMLESS.get(name, False) or agrees:
            continue
        advice = "leave it alone" if own is None else f"set loss__{own} by set_params, or give an instance as loss"
        raise ValueError(f"{owner}: {name} is not seen by loss {loss!r}; {advice}, got {given!r}")


def checked_target(owner: str, task: str, y: Any) -> Array:
    """A target, (n,) or (n, C), as finite float64 of shape (n, C), or a ValueError."""
    found = np.asarray(y)
    if found.ndim not in (1, 2) or len(found) == 0:
        given = y if y is None else found.shape
        raise ValueError(f"{owner}: y must have shape (n,) or (n, C) and at least one row, got {given}")
    if task == "classification" and found.dtype.kind not in "biufO":
        raise ValueError(f"{owner}: y must be class indices 0 .. K-1, got {found.ravel().tolist()[0]!r}")
    numbers = encode_targets(found.ravel() if found.ndim == 2 and found.shape[1] == 1 else found)
    assert_all_finite(numbers, input_name="y")
    return numbers
