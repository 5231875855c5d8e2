"""XGBoost's scikit-learn estimators with our losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from ..core import Array, Loss
from ..estimators import squeeze
from ..losses import LOSSES
from .objectives import ArrayMetric, ArrayObjective, baseline_of, columns, metric_name
from .stored import described, restored
from .xgboost_start import base_score_of

ATTRIBUTE = "rffboost_loss"
DEFAULTS = (None, "binary:logistic", "reg:squarederror", "multi:softprob")


class Shell:
    """What both estimators share: the loss takes the place of the objective, its baseline that of base_score."""

    task: str
    native: str
    loss: str | Loss
    loss_: Loss
    objective: Any
    base_score: Any
    eval_metric: Any
    get_booster: Any

    def _prepare(self, y: Any, sample_weight: Any) -> None:
        """Set what XGBoost's own fit reads: objective, intercept and metric."""
        name = type(self).__name__
        loss: Loss = LOSSES.create(self.loss)
        if loss.task != self.task:
            raise ValueError(f"{name}: loss {self.loss!r} is for {loss.task}, not for {self.task}")
        if not isinstance(self.objective, ArrayObjective) and self.objective not in DEFAULTS:
            raise ValueError(
                f"{name}: objective must be left alone, the loss takes its place; got {self.objective!r}"
            )
        if self.base_score is not None:
            raise ValueError(f"{name}: base_score must be left alone, it is fitted; got {self.base_score!r}")
        y = np.asarray(y, dtype=np.float64)
        self._check_classes(loss, y)
        baseline = baseline_of(loss, y, sample_weight)
        self._start = base_score_of(baseline, "multi:softprob" if self._many(baseline) else self.native)
        self.objective = ArrayObjective(loss)
        if self.eval_metric is None or isinstance(self.eval_metric, ArrayMetric):
            self.eval_metric = ArrayMetric(loss, metric_name(loss))
        self.loss_, self.baseline_ = loss, baseline

    def _many(self, baseline: Array) -> bool:
        return self.task == "classification" and len(baseline) > 1

    def _check_classes(self, loss: Loss, y: Array) -> None:
        if self.task == "classification" and y.max() > 1 and not loss.multiclass:
            raise ValueError(f"{type(self).__name__}: loss {loss!r} is for two classes, got {int(y.max()) + 1}")

    def get_xgb_params(self) -> dict[str, Any]:
        """Parameters for ``xgboost.train``: without the loss, with the fitted intercept."""
        found: dict[str, Any] = super().get_xgb_params()  # type: ignore[misc]
        params = {name: value for name, value in found.items() if name.partition("__")[0] != "loss"}
        if hasattr(self, "_start"):
            params |= {"base_score": self._start, "disable_default_eval_metric": True}
        return params

    def load_model(self, fname: Any) -> None:
        """Load a model that was saved by ``save_model``, its loss included.

        Raises
        ------
        ValueError
            If it was not trained by this class, or its loss is not known here.
        """
        super().load_model(fname)  # type: ignore[misc]
        text = self.get_booster().attr(ATTRIBUTE)
        if text is None:
            raise ValueError(
                f"{type(self).__name__}: the model knows of no loss; load it with XGBoost's own class"
            )
        self.loss = self.loss_ = restored(text, self.loss)

    def _mark(self) -> None:
        self.get_booster().set_attr(**{ATTRIBUTE: described(self.loss_)})


class XGBClassifier(Shell, xgboost.XGBClassifier):
    """``xgboost.XGBClassifier`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, probabilities are by its own link, sample weights count, and
    ``save_model`` and ``load_model`` keep the loss. XGBoost's own metrics, if ``eval_metric`` names any, take raw
    scores for log-odds.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        A classification loss: a registered name or an instance.
    **kwargs
        Parameters of ``xgboost.XGBClassifier`` but for objective and base_score.

    Attributes
    ----------
    loss_ : Loss
        The loss that was minimised.
    baseline_ : ndarray of shape (C,)
        Raw score before the first tree; part of the booster, as its ``base_score``.

    Notes
    -----
    XGBoost weighs reg_lambda and min_child_weight against sums of hessians. Those of the exponential loss are 4
    times the logistic ones where p is 1/2, in half the log-odds: 4 means there what 1 means for the logistic loss.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> model = rxgb.XGBClassifier(loss="exponential", n_estimators=10, max_depth=2).fit(X, y)
    >>> bool((model.predict(X) == y).all())
    True
    """

    task, native = "classification", "binary:logistic"

    def __init__(self, *, loss: str | Loss = "log_loss", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, **kwargs: Any) -> XGBClassifier:
        """Fit to X (n, d) and y (n,), classes 0 .. K-1; further arguments are XGBoost's.

        Raises
        ------
        ValueError, TypeError
            If the loss is unknown, not for classification, or not for so many classes, or labels do not suit.
        """
        self._prepare(y, sample_weight)
        super().fit(X, y, sample_weight=sample_weight, **kwargs)
        self._mark()
        return self

    def predict_proba(
        self,
        X: Any,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> Array:
        """Class probabilities, (n, K), by the loss's own link."""
        margin = self.predict(
            X,
            output_margin=True,
            validate_features=validate_features,
            base_margin=base_margin,
            iteration_range=iteration_range,
        )
        return self.loss_.inverse_link(columns(margin))


class XGBRegressor(Shell, xgboost.XGBRegressor):
    """``xgboost.XGBRegressor`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, predictions are by its own link, sample weights count, and
    ``save_model`` and ``load_model`` keep the loss.

    Parameters
    ----------
    loss : str or Loss, default="squared_error"
        A regression loss: a registered name or an instance.
    **kwargs
        Parameters of ``xgboost.XGBRegressor`` but for objective and base_score.

    Attributes
    ----------
    loss_ : Loss
        The loss that was minimised.
    baseline_ : ndarray of shape (C,)
        Raw score before the first tree; part of the booster, as its ``base_score``.
    """

    task, native = "regression", "reg:squarederror"

    def __init__(self, *, loss: str | Loss = "squared_error", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, **kwargs: Any) -> XGBRegressor:
        """Fit to X (n, d) and y (n,) or (n, C); further arguments are XGBoost's.

        Raises
        ------
        ValueError, TypeError
            If the loss is unknown or not for regression.
        """
        self._prepare(y, sample_weight)
        super().fit(X, y, sample_weight=sample_weight, **kwargs)
        self._mark()
        return self

    def predict(self, X: Any, *, output_margin: bool = False, **kwargs: Any) -> Array:
        """Predictions by the loss's own link, (n,) or (n, C); raw scores if `output_margin`."""
        margin = super().predict(X, output_margin=True, **kwargs)
        return margin if output_margin else squeeze(self.loss_.inverse_link(columns(margin)))
