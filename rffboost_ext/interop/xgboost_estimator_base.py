"""Base class of XGBoost's scikit-learn estimators with our losses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import xgboost
from sklearn.utils.validation import _num_samples

from .._signals import atomic_fit, defer_signals
from ..learners.trees.xgboost_model import parse_model
from ..losses.links import LogitLink
from ..losses.registry import LOSSES
from ..losses.validation import response_at
from ..metrics.registry import find_metric
from ..preprocessing.base_margin import check_base_margin
from ..preprocessing.targets import squeeze
from ..utils.typing import Array
from .attachments import attach
from .estimator_mixin import HostEstimatorMixin, routed
from .links import XGBOOST
from .loss_text import loss_from_text, loss_to_text
from .matrix_rows import times_class_factors
from .objectives import ArrayObjective
from .prepared_losses import has_score_for_each_class
from .queries import add_queries
from .score_conversion import link_of_host_scores, slope_of
from .weighted_losses import newton_step
from .xgboost_base_score import (
    BASE_MARGIN,
    FITTED,
    GIVEN,
    base_score_of,
    initial_score,
    is_representable,
    previous_xgboost_model,
    raw_of_base_score,
)
from .xgboost_objectives import NATIVE, OBJECTIVE_PARAMS, SetObjective


class DeferInterrupts:
    """Builds the matrices of an estimator of XGBoost without interrupts, which would damage memory there."""

    @defer_signals()
    def _create_dmatrix(self, *args: Any, **kwargs: Any) -> Any:
        return super()._create_dmatrix(*args, **kwargs)  # type: ignore[misc]


class XGBEstimator(HostEstimatorMixin, DeferInterrupts):
    """Base class of classifier and regressor."""

    natives: tuple[str, ...]
    """Objectives; the first with the link of the loss is that of the booster, unless there are several classes."""
    native_scores: str
    """The objective of the booster if none has the link: XGBoost then predicts scores."""
    predicted: str
    """What the loss's link returns, in messages."""

    objective_params = OBJECTIVE_PARAMS
    uses_base_margin_: bool = False
    """Whether the model was fitted with a ``base_margin``."""
    base_score: Any
    max_delta_step: Any
    eval_metric: Any
    callbacks: Any
    get_booster: Any

    __metadata_request__fit = routed(xgboost.XGBModel.fit, "qid", "group", "eval_qid", "eval_group")
    __metadata_request__predict = routed(xgboost.XGBModel.predict)

    @atomic_fit
    def fit(self, X: Any, y: Any, *, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Fit to X (n, d) and y; further arguments are XGBoost's.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, K)
            Classes 0 .. K-1, or real targets in the columns that the loss takes.
        sample_weight : array-like of shape (n,), optional
        **kwargs
            Arguments of XGBoost's ``fit``. A fit that continues an ``xgb_model`` keeps its intercept. A
            ``base_margin`` takes the place of the intercept, as in XGBoost. For losses of groups, such as
            lambdarank, also ``qid``, ``group``, ``eval_qid`` and ``eval_group`` of ``XGBRanker``: queries, which
            become the last column of the target. Labels of queries may be in any order. Weights are those of rows.

        Raises
        ------
        ValueError, TypeError
            If the loss is unknown, is for another task, does not accept the target, or is not that of an
            ``xgb_model``.
        """
        kwargs["sample_weight"] = sample_weight
        y, kwargs = add_queries(type(self).__name__, self.loss, X, y, kwargs)
        self._prepare(y, sample_weight, kwargs.get("xgb_model"), kwargs.get("base_margin"))
        objective, metric, callbacks = self.objective, self.eval_metric, self.callbacks
        self.objective = ArrayObjective(self.loss_, self.score_conversion(), self._class_factors)
        self.eval_metric = self._loss_metric() if metric is None else self._wrap_metrics(metric)
        self.callbacks = [SetObjective(self._host_objective_params()), *(callbacks or ())]
        try:
            self._host_fit()(X, y, **kwargs)
        finally:
            # Restore the user's parameters for clones and later fits.
            self.objective, self.eval_metric, self.callbacks = objective, metric, callbacks
        given = loss_to_text(LOSSES.create(self.loss))
        margin = {BASE_MARGIN: "true" if self.uses_base_margin_ else None}
        self.get_booster().set_attr(**{FITTED: loss_to_text(self.loss_), GIVEN: given} | margin)
        return self

    def _host_fit(self) -> Callable[..., Any]:
        """XGBoost's own ``fit``; its classifier takes all columns of y for labels."""
        if self.task == "regression" or self.loss_.multilabel or self._n_columns == 1:
            return super().fit  # type: ignore[misc]
        self.n_classes_ = response_at(self.loss_, self.baseline_[None]).shape[1]
        return partial(xgboost.XGBModel.fit, self)

    def predict(self, X: Any, *, output_margin: bool = False, **kwargs: Any) -> Array:
        """Predict by the loss's own link.

        Parameters
        ----------
        X : array-like of shape (n, d)
        output_margin : bool, default=False
            Whether to return raw scores of the loss, baseline included, (n,) or (n, C).
        **kwargs
            Arguments of XGBoost's ``predict``; a base_margin is in XGBoost's units, by default 0 if the model was
            fitted with one.

        Returns
        -------
        ndarray of shape (n,) or (n, W)
            The most probable class, or the response of a regression, such as the mean; (n, C) for raw scores.
        """
        raw = self._raw(X, **kwargs)
        return squeeze(raw).astype(np.float32) if output_margin else self._response(raw)

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        base_margin: Any = None,
        qid: Any = None,
        group: Any = None,
    ) -> float:
        """The accuracy of a classifier; the score of a regressor is the one of the loss.

        That is R2 if the response has a column for each of y, else minus the mean loss, as in
        :meth:`rffboost_ext.RFFBoostRegressor.score`.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, K)
        sample_weight : array-like of shape (n,), optional
        base_margin : array-like of shape (n,) or (n, C), optional
            As in ``predict``.
        qid, group : array-like, optional
            Queries, as in ``fit``.

        Returns
        -------
        float
        """
        return self._score(X, y, sample_weight, {"qid": qid, "group": group}, base_margin=base_margin)

    def get_xgb_params(self) -> dict[str, Any]:
        """Parameters for ``xgboost.train``: without the loss, with the fitted intercept."""
        host_params: dict[str, Any] = super().get_xgb_params()  # type: ignore[misc]
        params = {name: value for name, value in host_params.items() if name.partition("__")[0] != "loss"}
        if hasattr(self, "_start"):
            params |= {"base_score": self._start, "disable_default_eval_metric": True}
        return params

    @atomic_fit
    def load_model(self, fname: Any) -> None:
        """Load a model of ``save_model`` with its loss; if this fails, the estimator does not change.

        Raises
        ------
        ValueError
            If the model was not trained by this class, or its loss is not registered.
        """
        # XGBoost would read into the present booster, which an invalid file must not change.
        vars(self).pop("_Booster", None)
        super().load_model(fname)  # type: ignore[misc]
        text, given, margin = (self.get_booster().attr(name) for name in (FITTED, GIVEN, BASE_MARGIN))
        if text is None:
            raise ValueError(
                f"{type(self).__name__}: the model does not record a loss; load it with XGBoost's own class"
            )
        self.loss_ = loss_from_text(text, self.loss)
        self.loss = self.loss_ if given is None else loss_from_text(given, self.loss)
        self.uses_base_margin_, self._n_columns = margin is not None, None
        start = initial_score(parse_model(self.get_booster()))
        self.baseline_ = start / slope_of(self.loss_)
        self._start = base_score_of(start, self._host_objective())
        if self.task == "classification" and not self.loss_.multilabel:
            self.n_classes_ = response_at(self.loss_, self.baseline_[None]).shape[1]
        # XGBoost has set these from the file; they must not act as parameters of a later fit.
        self.base_score = self.objective = self.eval_metric = None

    def _create_dmatrix(self, *args: Any, **kwargs: Any) -> Any:
        target, margin = self._read_target(kwargs["label"]), kwargs.get("base_margin")
        if margin is not None:
            check_base_margin(margin, len(target), len(self.baseline_))
        if not self._needs_attached(target):
            return super()._create_dmatrix(*args, **kwargs)
        matrix = super()._create_dmatrix(*args, **kwargs | {"label": None})
        attach(matrix, y=target)
        return matrix

    def _needs_attached(self, y: Array) -> bool:
        # XGBoost takes a target for each score.
        return y.shape[1] not in (1, len(self.baseline_)) or not np.isfinite(y).all()

    def _prepare(self, y: Any, sample_weight: Any, model: Any, base_margin: Any) -> None:
        """Set the objective and the intercept, which XGBoost's own fit reads."""
        y, weight = self._fit_loss(y, sample_weight)
        if model is not None:
            previous = previous_xgboost_model(model, self.loss)
            self.baseline_ = previous.baseline(type(self).__name__, self.loss_, len(self.baseline_))
        elif self.base_score is not None:
            self.baseline_ = self._given_baseline()
        elif self._class_factors is not None:
            self.baseline_ = newton_step(self.loss_, y, times_class_factors(weight, y, self._class_factors))
        self.uses_base_margin_ = base_margin is not None
        if self.uses_base_margin_:
            self.baseline_ = np.zeros_like(self.baseline_)
        self._check_metric(self.eval_metric, y)
        self._start = base_score_of(self.score_conversion().slope * self.baseline_, self._host_objective())

    def _given_baseline(self) -> Array:
        """The parameter ``base_score``, in units of the host's objective, as a baseline."""
        try:
            start = raw_of_base_score(self.base_score, self._host_objective(), len(self.baseline_))
        except ValueError as error:
            raise ValueError(f"{type(self).__name__}: base_score {error}") from error
        return start / self.score_conversion().slope

    def _host_objective(self) -> str:
        """XGBoost's objective in the booster, whose link applies to ``base_score``, metrics and files."""
        if has_score_for_each_class(self.loss_, self.baseline_):
            return "multi:softprob"
        start = self.score_conversion().slope * self.baseline_
        same = NATIVE.get(LOSSES.name_of(self.loss_)), *self.natives
        fits = (name for name in same if name and self._has_link_of(name) and is_representable(start, name))
        return next(fits, self.native_scores)

    def _host_objective_params(self) -> dict[str, Any]:
        """The objective in the booster, its parameters, and the number of scores."""
        objective, n_scores = self._host_objective(), len(self.baseline_)
        of_classes = objective == "multi:softprob"
        params: dict[str, Any] = {
            "objective": objective,
            "num_class": n_scores if of_classes else 0,
            "num_target": 1 if of_classes else n_scores,
        }
        if objective == "reg:tweedie":
            params["tweedie_variance_power"] = self.loss_.get_params()["power"]
        if objective == "count:poisson" and self.max_delta_step is None:
            # XGBoost limits steps with this objective by default.
            params["max_delta_step"] = 0
        return params

    def _raw(self, X: Any, **kwargs: Any) -> Array:
        """Raw scores, (n, C)."""
        if kwargs.get("base_margin") is not None:
            check_base_margin(kwargs["base_margin"], _num_samples(X), len(self.baseline_))
        return self.score_conversion().raw(xgboost.XGBModel.predict(self, X, output_margin=True, **kwargs))

    def _has_link_of(self, objective: str) -> bool:
        """Whether an objective of XGBoost's maps margins to the same response as the loss."""
        # One log-odds for each label.
        link = LogitLink() if objective == "binary:logistic" and self.loss_.multilabel else XGBOOST[objective]
        return link == link_of_host_scores(self.loss_)

    def _is_own_metric(self, metric: Any) -> bool:
        # XGBoost takes lower values for better ones, except of metrics of its own names.
        named = find_metric(metric) if isinstance(metric, str) else None
        return named is not None and (metric.startswith("ndcg") or not named.greater_is_better)

    def _check_metric(self, metric: Any, y: Array) -> None:
        """Raise a ValueError for a metric of XGBoost's that would be of other targets or predictions."""
        unsupported, allowed = self._unsupported_metrics(metric)
        objective = self._host_objective()
        if not unsupported:
            return
        # Metrics take the scores of binary:logitraw for probabilities.
        if objective == "binary:logitraw" or not self._has_link_of(objective):
            reason = f"do not use its {self.predicted}"
        elif self._needs_attached(y):
            reason = "do not use the columns of y but the first"
        else:
            return
        raise ValueError(
            f"{type(self).__name__}: eval_metric must be unset{allowed} with loss {self.loss!r}: XGBoost's own "
            f"metrics {reason}; got {metric!r}"
        )
