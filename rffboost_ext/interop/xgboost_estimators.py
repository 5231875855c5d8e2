"""XGBoost's scikit-learn estimators with our losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost
from sklearn.utils.validation import _num_samples
from xgboost.callback import TrainingCallback

from .._signals import atomic_fit, defer_signals
from ..core import Loss, Observations
from ..learners.trees.xgboost_model import parse_model
from ..losses.links import LogitLink
from ..losses.registry import LOSSES
from ..metrics.registry import find_metric
from ..preprocessing.base_margin import check_base_margin
from ..preprocessing.targets import decode_labels, squeeze
from ..utils.typing import Array
from .array_objectives import ArrayObjective
from .estimator import PARAMETERS, HostEstimator, routed
from .links import XGBOOST
from .loss_text import loss_from_text, loss_to_text
from .matrices import attach
from .prepared_losses import first_newton_scores, has_score_for_each_class
from .queries import add_queries
from .score_conversion import host_link
from .xgboost_base_score import base_score_of, initial_score, is_representable, raw_of_base_score
from .xgboost_host import HOST, LOSS, xgboost_booster

WITHOUT = "objective and those of its own objectives, such as quantile_alpha"
GIVEN, BASE_MARGIN = "rffboost_loss_given", "rffboost_base_margin"
"""Attributes of the booster: the parameter ``loss``, and that there was an offset, which is set only then."""
NATIVE = {"poisson": "count:poisson", "gamma": "reg:gamma", "tweedie": "reg:tweedie"}
"""Objectives of XGBoost that equal losses, by the names of these."""


class SetObjective(TrainingCallback):
    """Sets the objective of a booster that is trained with a callable; its link applies to ``base_score``.

    Parameters
    ----------
    params : dict
        The objective and its parameters.
    """

    def __init__(self, params: dict[str, Any]) -> None:
        self.params = params

    def before_training(self, model: Any) -> Any:
        """Set the objective and return the booster."""
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
    natives: tuple[str, ...]
    """Objectives; the first with the link of the loss is that of the booster, unless there are several classes."""
    native_scores: str
    """The objective of the booster if none has the link: XGBoost then predicts scores."""
    predicted: str
    """What the loss's link returns, in messages."""

    uses_base_margin_: bool = False
    """Whether the model was fitted with a ``base_margin``."""
    base_score: Any
    max_delta_step: Any
    eval_metric: Any
    callbacks: Any
    get_booster: Any

    __metadata_request__fit = routed(xgboost.XGBModel.fit, "qid", "group", "eval_qid", "eval_group")
    __metadata_request__predict = routed(xgboost.XGBModel.predict)
    __metadata_request__score = {"base_margin": None}

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
        objective = self._prepare(y, sample_weight, kwargs.get("xgb_model"), kwargs.get("base_margin"))
        given = {name: getattr(self, name) for name in ("objective", "eval_metric", "callbacks")}
        self.objective = ArrayObjective(self.loss_, self._conversion, self._class_factors)
        self.eval_metric = self._metrics(self.eval_metric)
        self.callbacks = [SetObjective(self._host_params(objective)), *(self.callbacks or ())]
        try:
            if self.task == "regression" or self.loss_.multilabel or self._n_columns == 1:
                super().fit(X, y, **kwargs)  # type: ignore[misc]
            else:
                # XGBoost's classifier takes all columns of y for labels.
                self.n_classes_ = self._n_responses()
                xgboost.XGBModel.fit(self, X, y, **kwargs)
        finally:
            # Restore the user's parameters for clones and later fits.
            vars(self).update(given)
        texts = {LOSS: loss_to_text(self.loss_), GIVEN: loss_to_text(LOSSES.make(self.loss))}
        self.get_booster().set_attr(**texts, **{BASE_MARGIN: "true" if self.uses_base_margin_ else None})
        return self

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
        text, given, margin = (self.get_booster().attr(name) for name in (LOSS, GIVEN, BASE_MARGIN))
        if text is None:
            raise ValueError(
                f"{type(self).__name__}: the model does not record a loss; load it with XGBoost's own class"
            )
        self.loss_ = loss_from_text(text, self.loss)
        self.loss = self.loss_ if given is None else loss_from_text(given, self.loss)
        self.uses_base_margin_, self._n_columns = margin is not None, None
        start = initial_score(parse_model(self.get_booster()))
        self.baseline_ = start / self._conversion.slope
        self._start = base_score_of(start, self._host_objective())
        if self.task == "classification" and not self.loss_.multilabel:
            self.n_classes_ = self._n_responses()
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

    def _prepare(self, y: Any, sample_weight: Any, model: Any, base_margin: Any) -> str:
        """Set loss and intercept, which XGBoost's own fit reads, and return the objective in the booster."""
        rows = self._fit_loss(y, sample_weight)
        if model is not None:
            self.baseline_ = self._continued_baseline(model, self._host.read(xgboost_booster(model, "xgb_model")))
        elif self.base_score is not None:
            self.baseline_ = self._given_baseline()
        elif self._class_factors is not None:
            factors = self._class_factors[rows.y[:, 0].astype(np.intp)]
            self.baseline_ = first_newton_scores(self.loss_, Observations(rows.y, rows.weight * factors))
        self.uses_base_margin_ = base_margin is not None
        if self.uses_base_margin_:
            self.baseline_ = np.zeros_like(self.baseline_)
        objective = self._host_objective()
        self._check_metric(self.eval_metric, rows.y, objective)
        self._start = base_score_of(self._conversion.slope * self.baseline_, objective)
        return objective

    def _given_baseline(self) -> Array:
        """The parameter ``base_score``, in units of the host's objective, as a baseline."""
        try:
            start = raw_of_base_score(self.base_score, self._host_objective(), len(self.baseline_))
        except ValueError as error:
            raise ValueError(f"{type(self).__name__}: base_score {error}") from error
        return start / self._conversion.slope

    def _host_objective(self) -> str:
        """XGBoost's objective in the booster, whose link applies to ``base_score``, metrics and files."""
        if has_score_for_each_class(self.loss_, self.baseline_):
            return "multi:softprob"
        start = self._conversion.slope * self.baseline_
        same = NATIVE.get(LOSSES.name_of(self.loss_)), *self.natives
        fits = (name for name in same if name and self._has_link_of(name) and is_representable(start, name))
        return next(fits, self.native_scores)

    def _host_params(self, objective: str) -> dict[str, Any]:
        """The objective in the booster, its parameters, and the number of scores."""
        n_scores, of_classes = len(self.baseline_), objective == "multi:softprob"
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
        return link == host_link(self.loss_)

    def _is_own_metric(self, metric: Any) -> bool:
        # XGBoost takes lower values for better ones, except of metrics of its own names.
        named = find_metric(metric) if isinstance(metric, str) else None
        return named is not None and (metric.startswith("ndcg") or not named.greater_is_better)

    def _check_metric(self, metric: Any, y: Array, objective: str) -> None:
        """Raise a ValueError for a metric of XGBoost's that would be of other targets or predictions."""
        unsupported, allowed = self._unsupported_metrics(metric)
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


class XGBClassifier(XGBEstimator, xgboost.XGBClassifier):
    __doc__ = f"""``xgboost.XGBClassifier`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, probabilities use its own link, sample weights apply, and ``save_model``
    and ``load_model`` keep the loss.

    Parameters
    ----------
    {PARAMETERS.format(loss="log_loss", task="classification", host="xgboost.XGBClassifier", without=WITHOUT)}

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

    task, predicted = "classification", "probabilities"
    natives, native_scores = ("binary:logistic",), "binary:logitraw"
    default_objectives = (None, "binary:logistic", "multi:softprob")

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
        raw = self._raw(X, validate_features=validate_features, **shared)
        return self.loss_.link.inverse(raw)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def _response(self, raw: Array) -> Array:
        probability = self.loss_.link.inverse(raw)
        return decode_labels(probability, np.arange(probability.shape[1]), self.loss_.multilabel)


class XGBRegressor(XGBEstimator, xgboost.XGBRegressor):
    __doc__ = f"""``xgboost.XGBRegressor`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, predictions use its own link, sample weights apply, and ``save_model``
    and ``load_model`` keep the loss.

    Parameters
    ----------
    {PARAMETERS.format(loss="squared_error", task="regression", host="xgboost.XGBRegressor", without=WITHOUT)}

    Notes
    -----
    The file names an objective of XGBoost's with the loss's link, so that other programs predict the same:
    ``count:poisson``, ``reg:gamma`` and ``reg:tweedie`` for the losses of these names, ``reg:gamma`` for another
    log link, ``reg:logistic`` for a logit link, else ``reg:squarederror``. For a link that XGBoost lacks, or a log
    link with a baseline beyond the range of float32, other programs predict raw scores, and XGBoost's own metrics
    are rejected. A callable eval_metric receives what ``predict`` returns.
    """

    task, predicted = "regression", "means"
    natives, native_scores = ("reg:squarederror", "reg:gamma", "reg:logistic"), "reg:squarederror"
    default_objectives = (None, "reg:squarederror")

    def __init__(self, *, loss: str | Loss = "squared_error", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)
