"""Base class of LightGBM's scikit-learn estimators with our losses."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import lightgbm
import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from .._signals import atomic_fit
from ..data.sample_weight import check_sample_weight
from ..losses.registry import LOSSES
from ..losses.target_statistics import has_own_columns
from ..losses.validation import response_at
from ..preprocessing.base_margin import check_base_margin
from ..preprocessing.tables import label_array, target_array
from ..preprocessing.targets import encode_labels, first_labels, squeeze
from ..utils.typing import Array
from .estimator_mixin import HostEstimatorMixin, routed
from .lightgbm_initial_scores import previous_lightgbm_model
from .lightgbm_targets import TargetColumns
from .objectives import ArrayMetric, ArrayObjective
from .queries import add_queries
from .score_conversion import ScoreConversion

# LightGBM's aliases of parameters; its alias "loss" of the objective is our own parameter.
OBJECTIVE = ("objective_type", "app", "application")
METRIC = ("metric", "metrics", "metric_types")
NUM_CLASS = ("num_class", "num_classes")
BAGGING_OF_CLASSES = [
    f"{sign}_{name}" for sign in ("pos", "neg") for name in ("bagging_fraction", "sub_row", "subsample", "bagging")
]
OBJECTIVE_PARAMS = {
    "alpha": ("quantile", "delta"),
    "tweedie_variance_power": ("power",),
    **dict.fromkeys(("fair_c", "poisson_max_delta_step", "reg_sqrt", "sigmoid"), ()),
    **dict.fromkeys(("lambdarank_truncation_level", "lambdarank_norm", "label_gain"), ()),
    **dict.fromkeys(("lambdarank_position_bias_regularization", *BAGGING_OF_CLASSES), ()),
}
"""Parameters of LightGBM's objectives and the names of equivalent parameters of our losses."""


@dataclass(frozen=True)
class LightGBMArrayMetric:
    """A metric for LightGBM's scikit-learn interface."""

    metric: ArrayMetric

    def __call__(self, y_true: Array, y_pred: Array, weight: Array | None = None) -> tuple[str, float, bool]:
        """Name, value, and whether greater is better."""
        return self.metric.name, self.metric(y_true, y_pred, weight), self.metric.greater_is_better


def keep_objective(env: Any) -> None:
    """Callback: LightGBM does not reset its parameters, which fails if it has no feature to split on.

    For a callable it sets the objective "none" before the first round, which is set already.
    """
    env.model._Booster__set_objective_to_none = True


keep_objective.before_iteration = True  # type: ignore[attr-defined]


class LGBMEstimator(HostEstimatorMixin):
    """Base class of classifier and regressor.

    LightGBM stores no intercept for a callable, so the estimator adds the baseline to its raw scores.
    """

    _other_params: dict[str, Any]
    class_weight_params = ("scale_pos_weight", "is_unbalance", "unbalance", "unbalanced_sets")
    objective_params = OBJECTIVE_PARAMS
    neutral_params = dict.fromkeys(BAGGING_OF_CLASSES, 1.0)
    ranking_metrics = ("auc", "average_precision")
    __metadata_request__fit = routed(lightgbm.LGBMModel.fit, "qid", "eval_qid")
    __metadata_request__predict = routed(lightgbm.LGBMModel.predict)

    @classmethod
    def _host(cls) -> Any:
        """LightGBM's own class."""
        return next(base for base in cls.__mro__ if base.__module__.startswith("lightgbm."))

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # scikit-learn does not inspect the keywords that the constructor passes on.
        return sorted({"loss", *cls._host()._get_param_names()})

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **kwargs: Any) -> Any:
        """Fit to X (n, d) and y; further arguments are LightGBM's.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,) or (n, K)
            Labels, or real targets in the columns that the loss takes.
        sample_weight : array-like of shape (n,), optional
        **kwargs
            Arguments of LightGBM's ``fit``. A fit that continues an ``init_model`` keeps its baseline, which is 0
            unless it is an estimator of this module. A fit with an ``init_score`` has no baseline, and ``predict``
            does not add the score, as in LightGBM. For losses of groups, such as lambdarank, also ``group`` and
            ``eval_group`` of ``LGBMRanker``, or ``qid`` and ``eval_qid`` as in XGBoost: queries, which become the
            last column of the target. Weights are those of rows.

        Raises
        ------
        ValueError, TypeError
            If the loss is unknown, is for another task, does not accept the target, or is not that of an
            ``init_model``.
        """
        if y is not None and self.task == "classification":
            # LightGBM would round large integers of nullable types.
            y = label_array(y)
        kwargs["sample_weight"] = sample_weight
        y, kwargs = add_queries(type(self).__name__, self.loss, X, y, kwargs)
        self._prepare(y, sample_weight, kwargs.get("init_model"), kwargs.get("init_score"))
        metrics = kwargs.pop("eval_metric", None)
        self._check_metrics("eval_metric", metrics)
        for spelling in METRIC:
            self._check_metrics(spelling, self._other_params.get(spelling))
        metrics = self._loss_metric() if metrics is None else self._wrap_metrics(metrics)
        several = metrics if isinstance(metrics, list | tuple) else [metrics]
        metrics = [LightGBMArrayMetric(one) if isinstance(one, ArrayMetric) else one for one in several]
        kwargs["callbacks"] = [keep_objective, *(kwargs.get("callbacks") or ())]
        if self.task == "regression" or self._n_columns != 1:
            targets = TargetColumns(X, y, self._read_target)
            kwargs = targets.without_columns(kwargs)
            if any(map(self._needs_attached, targets.targets)):
                y, kwargs["callbacks"] = targets.labels, [targets, *kwargs["callbacks"]]
        self._host_fit()(X, y, eval_metric=metrics, **kwargs)
        return self

    def _host_fit(self) -> Callable[..., Any]:
        """LightGBM's own ``fit``; its classifier encodes the labels of one column."""
        if self.task == "regression" or self._n_columns == 1:
            return super().fit  # type: ignore[misc]
        self._n_classes = response_at(self.loss_, self.baseline_[None]).shape[1]
        self._classes = np.arange(self._n_classes)
        return partial(lightgbm.LGBMModel.fit, self)

    def predict(self, X: Any, raw_score: bool = False, **kwargs: Any) -> Array:
        """Predict by the loss's own link.

        Parameters
        ----------
        X : array-like of shape (n, d)
        raw_score : bool, default=False
            Whether to return raw scores of the loss, baseline included.
        **kwargs
            Arguments of LightGBM's ``predict``. ``pred_leaf`` returns LightGBM's leaf indices, ``pred_contrib``
            feature contributions to raw scores, the baseline included in the bias.

        Returns
        -------
        ndarray of shape (n,) or (n, W)
            The most probable class, or the response of a regression, such as the mean; (n, C) for raw scores.
        """
        if is_explanation(kwargs):
            return self._explain(X, kwargs)
        raw = self._raw(X, **kwargs)
        return squeeze(raw) if raw_score else self._response(raw)

    def _prepare(self, y: Any, sample_weight: Any, model: Any, init_score: Any) -> None:
        """Set the loss and the baseline."""
        name, y = type(self).__name__, y if y is None else target_array(y)
        for spelling in OBJECTIVE:
            if spelling in self._other_params:
                value = self._other_params[spelling]
                raise ValueError(f"{name}: {spelling} must be unset, the loss replaces it; got {value!r}")
        one_label = self.task == "classification" and y is not None and (y.ndim == 1 or y.shape[1] == 1)
        weight = self._times_class_weight(y, sample_weight)
        self._fit_loss(encode_labels(y)[1].ravel() if one_label else y, weight)
        n_outputs = len(self.baseline_)
        # LightGBM also takes the scores of several outputs one after another.
        is_flat = n_outputs > 1 and np.shape(init_score) == (len(y) * n_outputs,)
        if init_score is not None and not is_flat:
            check_base_margin(init_score, len(y), n_outputs, "init_score")
        if model is not None:
            self.baseline_ = previous_lightgbm_model(model).baseline(name, self.loss_, n_outputs)
        elif init_score is not None or self._other_params.get("boost_from_average") in (False, "false"):
            self.baseline_ = np.zeros(n_outputs)

    def _times_class_weight(self, y: Any, sample_weight: Any) -> Any:
        """Sample weights times those by ``class_weight``, which LightGBM applies to its Dataset itself."""
        given = getattr(self, "class_weight", None)
        if given is None or y is None:
            return sample_weight
        if self.task == "regression":
            raise ValueError(f"{type(self).__name__}: class_weight is for classifiers, got {given!r}")
        if y.ndim == 2 and y.shape[1] > 1 and not has_own_columns(LOSSES.create(self.loss), y.shape[1]):
            raise ValueError(
                f"{type(self).__name__}: class_weight must be None for the indicators of labels, got {given!r}"
            )
        return check_sample_weight(sample_weight, len(y)) * compute_sample_weight(given, first_labels(y))

    def _check_metrics(self, parameter: str, metrics: Any) -> None:
        """Raise a ValueError for a metric of LightGBM's that would ignore the baseline and the link."""
        unsupported, allowed = self._unsupported_metrics(metrics)
        for metric in unsupported:
            if metric != "None":
                raise ValueError(
                    f"{type(self).__name__}: {parameter} must be unset{allowed}: LightGBM's own metrics ignore "
                    f"the baseline and the link; got {metric!r}"
                )

    def score(self, X: Any, y: Any, sample_weight: Any = None, qid: Any = None, group: Any = None) -> float:
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

        Returns
        -------
        float
        """
        return self._score(X, y, sample_weight, {"qid": qid, "group": group})

    def _process_params(self, stage: str) -> dict[str, Any]:
        # Called on LightGBM's own class because "loss" is an alias of its objective.
        plain = copy(self)
        plain.__class__ = self._host()
        if stage == "fit":
            # LightGBM's fit has just reset it.
            objective = ArrayObjective(self.loss_, self.score_conversion(), self._class_factors)
            plain._objective = self._objective = objective
        plain._other_params = {k: v for k, v in self._other_params.items() if k != "loss"}
        params: dict[str, Any] = plain._process_params(stage)
        # LightGBM counts classes; a loss may have another number of scores.
        params = {name: value for name, value in params.items() if name not in NUM_CLASS}
        params |= {"num_class": len(self.baseline_)}
        # LightGBM's default metric would ignore the baseline.
        return params if {*METRIC} & {*plain._other_params} else params | {"metric": "None"}

    def score_conversion(self) -> ScoreConversion:
        return replace(super().score_conversion(), offset=self.baseline_)

    def _raw(self, X: Any, **kwargs: Any) -> Array:
        """Raw scores, (n, C), the baseline included."""
        return self.score_conversion().raw(lightgbm.LGBMModel.predict(self, X, raw_score=True, **kwargs))

    def _explain(self, X: Any, options: dict[str, Any]) -> Array:
        """Leaf indices, or contributions to raw scores."""
        values = lightgbm.LGBMModel.predict(self, X, **options)
        if options.get("pred_leaf"):
            return np.asarray(values)
        # For sparse rows, one sparse matrix per output.
        parts = values if isinstance(values, list) else [values]
        shares = np.hstack([part.toarray() if hasattr(part, "toarray") else part for part in parts])
        return self.score_conversion().contributions(shares)


def is_explanation(options: dict[str, Any]) -> bool:
    """Whether arguments of LightGBM's ``predict`` request leaf indices or contributions."""
    return bool(options.get("pred_leaf") or options.get("pred_contrib"))
