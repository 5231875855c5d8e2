"""XGBoost's scikit-learn estimators with our losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from ..core import Loss
from ..learners.trees.xgboost_model import parsed
from ..losses.registry import LOSSES
from ..losses.validation import has_same_response
from ..preprocessing.targets import decode_labels, squeeze
from ..utils.atomic_fit import atomic_fit
from ..utils.typing import Array
from .estimator_mixin import PARAMETERS, HostEstimatorMixin
from .initial_scores import increases
from .links import XGBOOST
from .objectives import ArrayObjective
from .score_conversion import columns
from .stored import described, restored
from .xgboost_base_score import FITTED, GIVEN, Named, base_score_of, earlier, is_held, start_of

WITHOUT = "objective, base_score, scale_pos_weight and those of its own losses, such as quantile_alpha"
FOREIGN = {
    "quantile_alpha": ("quantile",),
    "huber_slope": ("delta",),
    "tweedie_variance_power": ("power",),
    **dict.fromkeys(("expectile_alpha", "aft_loss_distribution", "aft_loss_distribution_scale"), ()),
    **dict.fromkeys(("lambdarank_pair_method", "lambdarank_num_pair_per_sample", "lambdarank_bias_norm"), ()),
    **dict.fromkeys(("lambdarank_normalization", "lambdarank_score_normalization", "lambdarank_unbiased"), ()),
    "ndcg_exp_gain": (),
}
"""Parameters of XGBoost's objectives, and what our losses call them; ``max_delta_step`` is one of trees too."""
RANKING = {"auc", "aucpr"}
"""Metrics that depend on the order of scores only."""


class Shell(HostEstimatorMixin):
    """Base class of classifier and regressor."""

    native: str
    """The objective whose link XGBoost applies to ``base_score``, where it is not that of several classes."""
    predicted: str
    """What the loss's link makes of raw scores, in messages."""

    foreign = FOREIGN
    base_score: Any
    eval_metric: Any
    callbacks: Any
    get_booster: Any

    @atomic_fit
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Fit to X (n, d) and y; further arguments are XGBoost's.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, C)
            Classes 0 .. K-1, or real targets.
        sample_weight : array-like of shape (n,), optional
        **kwargs
            Arguments of XGBoost's ``fit``. A fit that goes on from an ``xgb_model`` keeps its intercept.

        Raises
        ------
        ValueError, TypeError
            If the loss is unknown, for another task, not for such targets, or not that of an ``xgb_model``.
        """
        self._prepare(y, sample_weight, kwargs.get("xgb_model"))
        metric, callbacks = self.eval_metric, self.callbacks
        self.eval_metric = self._own_metric() if metric is None else self._shown(metric)
        self.callbacks = [Named(self._host_objective()), *(callbacks or ())]
        try:
            super().fit(X, y, sample_weight=sample_weight, **kwargs)  # type: ignore[misc]
        finally:
            # Restore the user's parameters for clones and later fits.
            self.eval_metric, self.callbacks = metric, callbacks
        given = described(LOSSES.create(self.loss))
        self.get_booster().set_attr(**{FITTED: described(self.loss_), GIVEN: given})
        return self

    def predict(self, X: Any, *, output_margin: bool = False, **kwargs: Any) -> Array:
        """Predict by the loss's own link.

        Parameters
        ----------
        X : array-like of shape (n, d)
        output_margin : bool, default=False
            Whether to return raw scores of the loss, baseline included, (n,) or (n, C).
        **kwargs
            Arguments of XGBoost's ``predict``; a base_margin is in XGBoost's units.

        Returns
        -------
        ndarray of shape (n,) or (n, C)
            The most probable class, or the predicted mean.
        """
        margin = super().predict(X, output_margin=True, **kwargs)  # type: ignore[misc]
        raw = self._raw(margin)
        return squeeze(raw).astype(np.float32) if output_margin else self._response(raw)

    def get_xgb_params(self) -> dict[str, Any]:
        """Parameters for ``xgboost.train``: without the loss, with the fitted intercept."""
        found: dict[str, Any] = super().get_xgb_params()  # type: ignore[misc]
        params = {name: value for name, value in found.items() if name.partition("__")[0] != "loss"}
        if hasattr(self, "_start"):
            params |= {"base_score": self._start, "disable_default_eval_metric": True}
        return params

    @atomic_fit
    def load_model(self, fname: Any) -> None:
        """Load a model that was saved by ``save_model``, its loss included; one that cannot be changes nothing.

        Raises
        ------
        ValueError
            If it was not trained by this class, or its loss is not known here.
        """
        # XGBoost reads into the booster at hand, which a file that is refused must not change.
        vars(self).pop("_Booster", None)
        super().load_model(fname)  # type: ignore[misc]
        text, given = (self.get_booster().attr(name) for name in (FITTED, GIVEN))
        if text is None:
            raise ValueError(
                f"{type(self).__name__}: the model knows of no loss; load it with XGBoost's own class"
            )
        self.loss_ = restored(text, self.loss)
        self.loss = self.loss_ if given is None else restored(given, self.loss)
        start = start_of(parsed(self.get_booster()))
        self.baseline_ = start / self._reading(len(start)).slope
        self._start = base_score_of(start, self._host_objective())
        # What XGBoost has read from the file is fitted state, not a parameter of a later fit.
        self.base_score = self.objective = self.eval_metric = None

    def _prepare(self, y: Any, sample_weight: Any, model: Any) -> None:
        """Set what XGBoost's own fit reads: objective and intercept."""
        if self.base_score is not None:
            raise ValueError(
                f"{type(self).__name__}: base_score must be left alone, it is fitted; got {self.base_score!r}"
            )
        self._accept(y, sample_weight)
        n_outputs = len(self.baseline_)
        if model is not None:
            self.baseline_ = earlier(model, self.loss).baseline(type(self).__name__, self.loss_, n_outputs)
        self._require_readable(self.eval_metric)
        reading = self._reading(n_outputs)
        self._start = base_score_of(reading.slope * self.baseline_, self._host_objective())
        self.objective = ArrayObjective(self.loss_, reading)

    def _host_objective(self) -> str:
        """XGBoost's objective that the booster names: its link is that of ``base_score``, metrics and files."""
        if self.task == "classification" and len(self.baseline_) > 1:
            return "multi:softprob"
        start = self._reading(1).slope * self.baseline_
        unread = self.native == "binary:logistic" and not (self._is_read_by(self.native) and is_held(start))
        return "binary:logitraw" if unread else self.native

    def _is_read_by(self, objective: str) -> bool:
        """Whether an objective of XGBoost's reads margins as the loss does."""
        n_outputs = len(self.baseline_)
        return has_same_response(XGBOOST[objective].inverse, self.loss_, n_outputs, self._reading(n_outputs).slope)

    def _require_readable(self, metric: Any) -> None:
        """Raise a ValueError for a metric of XGBoost's, which reads scores otherwise than the loss does."""
        given, objective = metric if isinstance(metric, list | tuple) else [metric], self._host_objective()
        ranks = self.task == "classification" and increases(self.loss_, len(self.baseline_))
        ranking = sorted(RANKING) if ranks else []
        others = [name for name in given if isinstance(name, str) and name not in ranking]
        # Metrics take the scores of binary:logitraw for probabilities.
        if others and (objective == "binary:logitraw" or not self._is_read_by(objective)):
            also = f", a function, or one of {ranking}" if ranking else " or a function"
            raise ValueError(
                f"{type(self).__name__}: eval_metric must be left alone{also} with loss {self.loss!r}, whose "
                f"{self.predicted} XGBoost's own metrics do not see; got {metric!r}"
            )

    def _raw(self, margin: Array) -> Array:
        """Raw scores, (n, C), for XGBoost's margins."""
        return self._reading(columns(margin).shape[1]).raw(margin)

    def _response(self, raw: Array) -> Array:
        return squeeze(self.loss_.inverse_link(raw))


class XGBClassifier(Shell, xgboost.XGBClassifier):
    __doc__ = f"""``xgboost.XGBClassifier`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, probabilities use its own link, sample weights apply, and ``save_model``
    and ``load_model`` keep the loss.

    Parameters
    ----------
    {PARAMETERS.format(loss="log_loss", task="classification", host="xgboost.XGBClassifier", without=WITHOUT)}

    Notes
    -----
    Where the loss reads raw scores as ``sigmoid(k raw)``, the booster grows on the log-odds ``k raw``: k is 1 for
    log_loss and 2 for exponential. Learning rate, reg_lambda and min_child_weight then mean what they mean for
    XGBoost's own logistic loss, its metrics apply, and programs that read the saved file as a logistic model get
    the right probabilities. ``predict(output_margin=True)`` returns ``raw``; a base_margin is in log-odds.

    With two classes and another link, or an intercept beyond the log-odds of about 13 that XGBoost's
    ``binary:logistic`` can start at, the file says ``binary:logitraw``, which stores any intercept and whose
    predictions are scores.

    The exponential loss needs early stopping more than the logistic one does: the weight of a row that stays
    misclassified grows without bound, and probabilities become overconfident.

    A callable eval_metric is given probabilities as by XGBoost's own objectives: (n,) those of the second of two
    classes, else (n, K). XGBoost's own metrics read scores by its logistic link, or its softmax: with a loss of
    another link, or such an intercept, they are rejected, but for auc and aucpr of one output.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> model = rxgb.XGBClassifier(loss="exponential", n_estimators=10, max_depth=2).fit(X, y)
    >>> bool((model.predict(X) == y).all())
    True
    """

    task, native, predicted = "classification", "binary:logistic", "probabilities"
    untouched = (None, "binary:logistic", "multi:softprob")

    def __init__(self, *, loss: str | Loss = "log_loss", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def predict_proba(
        self,
        X: Any,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> Array:
        """Class probabilities, (n, K), by the loss's own link."""
        shared = {"base_margin": base_margin, "iteration_range": iteration_range}
        margin = xgboost.XGBModel.predict(
            self, X, output_margin=True, validate_features=validate_features, **shared
        )
        return self.loss_.inverse_link(self._raw(margin))

    def _response(self, raw: Array) -> Array:
        return decode_labels(raw, np.arange(max(2, raw.shape[1])))


class XGBRegressor(Shell, xgboost.XGBRegressor):
    __doc__ = f"""``xgboost.XGBRegressor`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, predictions use its own link, sample weights apply, and ``save_model``
    and ``load_model`` keep the loss.

    Parameters
    ----------
    {PARAMETERS.format(loss="squared_error", task="regression", host="xgboost.XGBRegressor", without=WITHOUT)}

    Notes
    -----
    XGBoost's own metrics see raw scores, and are rejected unless the link is the identity. A callable eval_metric
    is given what ``predict`` returns.
    """

    task, native, predicted = "regression", "reg:squarederror", "means"
    untouched = (None, "reg:squarederror")

    def __init__(self, *, loss: str | Loss = "squared_error", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)
