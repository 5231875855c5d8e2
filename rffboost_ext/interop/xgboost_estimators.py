"""XGBoost's scikit-learn estimators with our losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import xgboost
from scipy.sparse import issparse
from sklearn.utils.validation import _num_samples
from xgboost.callback import TrainingCallback

from .._signals import atomic_fit, defer_signals
from ..core import Loss, Observations
from ..learners.trees.xgboost_model import parse_model
from ..losses.links import LogitLink
from ..losses.registry import LOSSES
from ..metrics.registry import find_metric
from ..rows.row_arguments import check_base_margin
from ..rows.targets import RealTargets
from ..utils.typing import Array
from .estimator import TEMPLATE, HostEstimator, as_csr, routed
from .links import XGBOOST
from .objectives import attach
from .score_conversion import ArrayObjective, has_score_for_each_class, host_link
from .xgboost_host import (
    HOST,
    base_score_of,
    initial_score,
    is_representable,
    loss_from_text,
    loss_to_text,
)
from .xgboost_rows import in_blocks, quantile_matrix

DESCRIPTION = partial(
    TEMPLATE.format,
    files="``save_model`` and\n    ``load_model`` keep the loss.",
    without="objective, base_score and those of its own objectives, such as quantile_alpha",
)
LOSS, LOSS_PARAMETER, BASE_MARGIN = "rffboost_loss", "rffboost_loss_given", "rffboost_base_margin"
"""Attributes of the booster: the prepared loss, the parameter ``loss``, and whether there was an offset."""
UNBINNED = ("exact", "approx")
"""Tree methods that need all entries of the matrix."""
BY_LINK = ("binary:logistic", "reg:squarederror", "reg:gamma", "reg:logistic")
"""The objectives in files, by their links in :data:`XGBOOST`."""


@dataclass(eq=False)
class SetParams(TrainingCallback):
    """Sets parameters of a booster that is trained with a callable, such as an objective, whose link applies."""

    params: dict[str, Any]

    def before_training(self, model: Any) -> Any:
        """Set the parameters and return the booster."""
        model.set_param(self.params)
        return model


class DeferInterrupts:
    """Builds the matrices of an estimator of XGBoost without interrupts, which would damage memory there."""

    @defer_signals()
    def _create_dmatrix(self, *args: Any, **kwargs: Any) -> Any:
        return super()._create_dmatrix(*args, **kwargs)  # type: ignore[misc]


class XGBEstimator(HostEstimator, DeferInterrupts):
    """Base class of classifier and regressor."""

    _host = HOST
    uses_base_margin_: bool = False
    """Whether the model was fitted with a ``base_margin``."""
    base_score: Any
    objective: Any
    eval_metric: Any
    callbacks: Any
    get_booster: Any
    booster: Any
    tree_method: Any
    missing: Any
    n_jobs: Any
    max_bin: Any

    __metadata_request__fit = routed(xgboost.XGBModel.fit, "qid", "eval_qid")
    __metadata_request__predict = routed(xgboost.XGBModel.predict)
    __metadata_request__score = {"base_margin": None}

    def _start_scores(self, rows: Observations, options: Mapping[str, Any]) -> Array:
        model, baseline = options.get("xgb_model"), self.baseline_
        if model is not None:
            baseline = self._continued_baseline(model)
        self.uses_base_margin_ = options.get("base_margin") is not None
        return np.zeros_like(baseline) if self.uses_base_margin_ else baseline

    def _train(self, X: Any, y: Any, rows: Observations, options: dict[str, Any]) -> None:
        if (classes := self._targets.classes) is not None:
            self.n_classes_ = len(classes)
            if classes.tolist() != [*range(len(classes))]:
                raise ValueError(
                    f"{type(self).__name__}: y must hold class indices 0 .. K-1, got labels {classes.tolist()}"
                )
        params = self._host_params()
        self._check_metric_of_objective(rows.y, params["objective"])
        self._start = base_score_of(self.score_conversion().slope * self.baseline_, params["objective"])
        own_params = {name: getattr(self, name) for name in ("objective", "eval_metric", "callbacks")}
        self.objective = ArrayObjective(self.loss_, self.score_conversion())
        self.eval_metric = self._metrics(self.eval_metric)
        self.callbacks = [SetParams(params), *(self.callbacks or ())]
        try:
            # XGBoost's classifier takes all columns of y for labels.
            xgboost.XGBModel.fit(self, X, y, **options)
        finally:
            # Restore the user's parameters for clones and later fits.
            vars(self).update(own_params)
        loss, text = LOSSES.make(self.loss), loss_to_text(self.loss_)
        attributes = {LOSS: text, LOSS_PARAMETER: text if loss is self.loss_ else loss_to_text(loss)}
        self.get_booster().set_attr(**attributes, **{BASE_MARGIN: "true" if self.uses_base_margin_ else None})

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
        text, parameter, margin = (self.get_booster().attr(name) for name in (LOSS, LOSS_PARAMETER, BASE_MARGIN))
        if text is None:
            raise ValueError(
                f"{type(self).__name__}: the model does not record a loss; load it with XGBoost's own class"
            )
        self.loss_ = loss_from_text(text, self.loss)
        self.loss = loss_from_text(parameter, self.loss)
        self.uses_base_margin_, self._n_columns = margin is not None, None
        self._targets = RealTargets(type(self).__name__, self.loss_.infinite)
        start = initial_score(parse_model(self.get_booster()))
        self.baseline_ = start / self.score_conversion().slope
        self._start = base_score_of(start, self._host_objective())
        if self.task == "classification" and not self.loss_.multilabel:
            self.n_classes_ = self._n_responses()
        # XGBoost has set these from the file; they must not act as parameters of a later fit.
        self.base_score = self.objective = self.eval_metric = None

    def _create_dmatrix(self, **kwargs: Any) -> Any:
        target, margin = self._read_target(kwargs["label"]), kwargs.get("base_margin")
        if margin is not None:
            check_base_margin(margin, len(target), len(self.baseline_))
        if not self._needs_attached(target):
            return self._host_matrix(**kwargs)
        matrix = self._host_matrix(**kwargs | {"label": None})
        attach(matrix, y=target)
        return matrix

    def _host_matrix(self, data: Any, **options: Any) -> Any:
        """The matrix of a fit, in which an absent entry of sparse rows is 0."""
        if self._takes_csr or not issparse(data):
            return super()._create_dmatrix(data=as_csr(data), **options)
        if self.tree_method in UNBINNED:
            return super()._create_dmatrix(data=data.toarray(), **options)
        return quantile_matrix(data, nthread=self.n_jobs, max_bin=self.max_bin, **options)

    @property
    def _takes_csr(self) -> bool:
        # Linear models take missing values for 0, and zeros may be declared missing.
        return self.booster == "gblinear" or self.missing == 0.0

    def _needs_attached(self, y: Array) -> bool:
        # XGBoost takes a target for each score.
        return y.shape[1] not in (1, len(self.baseline_)) or not np.isfinite(y).all()

    def _host_objective(self) -> str:
        """XGBoost's objective in the booster, whose link applies to ``base_score``, metrics and files."""
        if has_score_for_each_class(self.loss_, self.baseline_):
            return "multi:softprob"
        link = host_link(self.loss_)
        objective = next((name for name in BY_LINK if XGBOOST[name] == link), None)
        if self.loss_.multilabel and link == LogitLink():
            # One log-odds for each label.
            objective = "binary:logistic"
        if objective is not None and is_representable(self.score_conversion().slope * self.baseline_, objective):
            return objective
        # XGBoost then predicts scores.
        return "binary:logitraw" if self.task == "classification" else "reg:squarederror"

    def _host_params(self) -> dict[str, Any]:
        """The objective in the booster and the number of scores."""
        objective, n_scores = self._host_objective(), len(self.baseline_)
        of_classes = objective == "multi:softprob"
        return {
            "objective": objective,
            "num_class": n_scores if of_classes else 0,
            "num_target": 1 if of_classes else n_scores,
        }

    def _host_predict(self, X: Any, **options: Any) -> Array:
        if options.get("base_margin") is not None:
            check_base_margin(options["base_margin"], _num_samples(X), len(self.baseline_))
        return self._on_rows(partial(xgboost.XGBModel.predict, self), X, **options)

    def apply(self, X: Any, iteration_range: tuple[int, int] | None = None) -> Array:
        """The leaf of each row of X (n, d) in each tree: (n, T), as by XGBoost."""
        return self._on_rows(super().apply, X, iteration_range=iteration_range)  # type: ignore[misc]

    def _on_rows(self, method: Callable[..., Array], X: Any, **options: Any) -> Array:
        by_block = issparse(X) and not self._takes_csr
        return in_blocks(method, X, **options) if by_block else method(as_csr(X), **options)

    def _is_own_metric(self, metric: Any) -> bool:
        # XGBoost takes lower values for better ones, except of metrics of its own names.
        named = find_metric(metric) if isinstance(metric, str) else None
        return named is not None and (metric.startswith("ndcg") or not named.greater_is_better)

    def _check_metric_of_objective(self, y: Array, objective: str) -> None:
        """Raise a ValueError for a metric of XGBoost's that would be of other targets or predictions."""
        has_link = objective == "binary:logistic" or XGBOOST[objective] == host_link(self.loss_)
        # Metrics take the scores of binary:logitraw for probabilities.
        if objective == "binary:logitraw" or not has_link:
            predicted = "probabilities" if self.task == "classification" else "means"
            self._check_metrics("eval_metric", self.eval_metric, f"do not use its {predicted}")
        elif self._needs_attached(y):
            self._check_metrics("eval_metric", self.eval_metric, "do not use the columns of y but the first")


class XGBClassifier(XGBEstimator, xgboost.XGBClassifier):
    __doc__ = f"""{DESCRIPTION(host="xgboost.XGBClassifier", task="classification", loss="log_loss")}

    Notes
    -----
    If the loss's link is ``sigmoid(k raw)``, the booster grows on the log-odds ``k raw``: k is 1 for log_loss and
    2 for exponential. Learning rate, reg_lambda and min_child_weight then mean the same as for XGBoost's own
    logistic loss, its metrics apply, and programs that read the saved file as a logistic model return the right
    probabilities. ``predict(output_margin=True)`` returns ``raw``; a base_margin is in log-odds.

    The file names the objective ``binary:logitraw``, whose predictions are scores, if a loss of two classes has
    another link, or its intercept exceeds the log-odds of about 13 that ``binary:logistic`` can store. For several
    classes it names ``multi:softprob``, whose probabilities are those of log_loss.

    The exponential loss benefits more from early stopping than the logistic loss: the weight of a misclassified
    row grows without bound, and probabilities become overconfident.

    A callable eval_metric receives probabilities as from XGBoost's own objectives: (n,) of the second of two
    classes, else (n, K). XGBoost's own metrics apply its logistic link or softmax. They are rejected for a loss of
    another link or such an intercept, except auc and aucpr of one output.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> model = rxgb.XGBClassifier(loss="exponential", n_estimators=10, max_depth=2).fit(X, y)
    >>> bool((model.predict(X) == y).all())
    True
    """

    task = "classification"
    default_objective = "binary:logistic"
    __metadata_request__predict_proba = routed(xgboost.XGBClassifier.predict_proba)

    def __init__(self, *, loss: str | Loss = "log_loss", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def predict_proba(self, X: Any, **options: Any) -> Array:
        """Class probabilities, (n, K), by the loss's own link; `options` are those of ``predict``."""
        return self._predict(X, options, lambda raw: self.loss_.link.inverse(raw))


class XGBRegressor(XGBEstimator, xgboost.XGBRegressor):
    __doc__ = f"""{DESCRIPTION(host="xgboost.XGBRegressor", task="regression", loss="squared_error")}

    Notes
    -----
    The file names an objective of XGBoost's with the loss's link, so that other programs predict the same:
    ``reg:gamma`` for a log link, as of poisson, ``reg:logistic`` for a logit link, else ``reg:squarederror``. For
    another link, or a log link with a baseline beyond the range of float32, other programs predict raw scores, and
    XGBoost's own metrics are rejected. A callable eval_metric receives what ``predict`` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([1, 5], 10)
    >>> model = rxgb.XGBRegressor(loss="poisson", n_estimators=10).fit(X, y)
    >>> bool((model.predict(X) > 0.0).all())
    True
    """

    task = "regression"
    default_objective = "reg:squarederror"

    def __init__(self, *, loss: str | Loss = "squared_error", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)
