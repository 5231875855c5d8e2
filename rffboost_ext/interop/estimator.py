"""Common base of the scikit-learn estimators of both hosts, with one of our losses as the objective."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from .._signals import atomic_fit
from ..boosting.early_stopping.monitor import MeanLoss
from ..boosting.scorers import score_of_loss
from ..contracts.fit import require_accepted_target
from ..core import Loss, Observations
from ..losses.registry import LOSSES
from ..metrics.registry import METRICS, find_metric
from ..rows.targets import TargetEncoder, decode_labels, first_labels, squeeze
from ..rows.weights import check_sample_weight
from ..utils.registry import resolve_names
from ..utils.sparse import SparseRows
from ..utils.typing import Array
from .fit_targets import add_queries, read_targets_of_fit
from .host import Host
from .score_conversion import (
    ArrayMetric,
    ScoreConversion,
    host_link,
    metric_on_predictions,
    named_metric,
    prepare_for_training,
    slope_of,
)

TEMPLATE = """``{host}`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, predictions use its own link, and sample weights apply. {files}

    Parameters
    ----------
    loss : str or Loss, default={loss!r}
        A {task} loss: a registered name or an instance.
    **kwargs
        Parameters of ``{host}`` except {without},
        which the loss would ignore.

    Attributes
    ----------
    loss_ : Loss
        The prepared loss that was minimised.
    baseline_ : ndarray of shape (C,)
        Raw score before the first tree."""


class HostEstimator:
    """Replaces the host's objective by the loss, and its initial score by the loss's baseline.

    If raw scores are a multiple of log-odds, the trees are grown on the log-odds: see
    :func:`~rffboost_ext.interop.score_conversion.slope_of`.
    """

    _host: ClassVar[Host]
    task: ClassVar[str]
    default_objective: ClassVar[str | None] = None
    """The default value of the host's parameter objective."""

    loss: str | Loss
    loss_: Loss
    baseline_: Array
    classes_: Array
    get_params: Any
    _start_scores: Callable[[Observations, Mapping[str, Any]], Array]
    """The baseline of a fit, (C,): that of the loss, unless arguments of the host's ``fit`` say another."""
    _train: Callable[[Any, Any, Observations, dict[str, Any]], None]
    """The host's own fit to X, y and the rows that the loss gets, with arguments of the host's ``fit``."""
    _host_predict: Callable[..., Any]
    """The host's own ``predict``, which takes absent entries of sparse X for 0."""
    _targets: TargetEncoder
    """The encoder of targets."""
    _n_columns: int | None = None
    """Columns of the target; None for a loaded model."""

    @atomic_fit
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **options: Any) -> Any:
        """Fit to X (n, d) and y.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
            An absent entry is 0: the model is that of the same matrix as an array.
        y : array-like of shape (n,) or (n, K)
            Labels, for XGBoost 0 .. K-1, or real targets in the columns that the loss takes.
        sample_weight : array-like of shape (n,), optional
        **options
            Arguments of the host's ``fit``. A fit that continues a model, XGBoost's ``xgb_model`` or LightGBM's
            ``init_model``, keeps its baseline; that of LightGBM is 0 unless the model is an estimator of this
            package. A ``base_margin`` or ``init_score`` takes the place of the baseline. LightGBM's ``predict``
            does not add it. For losses of groups, such as lambdarank, also ``qid`` and ``eval_qid``, as in
            XGBoost's ranker: queries in any order, which become the second column of the target. Weights are
            those of rows.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            If the loss is unknown, is for another task, does not accept the target, or has another link than the
            model that the fit continues.
        """
        options |= {"sample_weight": sample_weight}
        y, options = add_queries(type(self).__name__, self.loss, X, y, options)
        rows = self._fit_loss(y, options["sample_weight"])
        self.baseline_ = self._start_scores(rows, options)
        self._train(X, y, rows, options)
        return self

    def predict(self, X: Any, **options: Any) -> Array:
        """Predict by the loss's own link.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        **options
            Arguments of the host's ``predict``. ``output_margin`` of XGBoost and ``raw_score`` of LightGBM request
            raw scores of the loss, baseline included. A base_margin is in XGBoost's units, by default 0 if the
            model was fitted with one. ``pred_leaf`` of LightGBM returns its leaf indices, ``pred_contrib`` feature
            contributions to raw scores, the baseline included in the bias.

        Returns
        -------
        ndarray of shape (n,) or (n, W)
            The most probable class, or the response of a regression, such as the mean; (n, C) for raw scores.
        """
        return self._predict(X, options, self._response)

    def set_params(self, **params: Any) -> Any:
        """Set parameters of the host and of the loss, such as ``loss__quantile``, also if the loss is a name."""
        params = resolve_names(self, params, {"loss": LOSSES})
        own = [name for name in params if name.startswith("loss__")]
        inner = {name.removeprefix("loss__"): params.pop(name) for name in own}
        if inner:
            params["loss"] = params.get("loss", self.loss).set_params(**inner)
        super().set_params(**params)  # type: ignore[misc]
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None, qid: Any = None, **options: Any) -> float:
        """The accuracy of a classifier; the score of a regressor is the one of the loss.

        That is R2 if the response has a column for each of y, else minus the mean loss, as in
        :meth:`rffboost_ext.RFFBoostRegressor.score`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d)
        y : array-like of shape (n,) or (n, K)
        sample_weight : array-like of shape (n,), optional
        qid : array-like of shape (n,), optional
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
        y, _ = add_queries(type(self).__name__, self.loss_, X, y, {"sample_weight": sample_weight, "qid": qid})
        targets = self._read_target(y)
        weight, raw = check_sample_weight(sample_weight, len(targets)), self._raw(X, **options)
        counts = weight > 0.0
        return score_of_loss(self.loss_, targets[counts], raw[counts], weight[counts])

    def score_conversion(self) -> ScoreConversion:
        """The conversion of the host's scores to raw scores of the loss."""
        check_is_fitted(self, "loss_")
        return ScoreConversion(slope_of(self.loss_), np.zeros(1) if self._host.stores_start else self.baseline_)

    def _fit_loss(self, y: Any, sample_weight: Any) -> Observations:
        """Set ``loss_`` and ``baseline_``, and return the rows of the fit, or raise a ValueError."""
        name, loss, params = type(self).__name__, LOSSES.create(self.loss), self.get_params(deep=False)
        self._check_params(name, loss, params)
        self._targets, y = read_targets_of_fit(name, loss, y)
        y, weight = self._targets.fit_transform(y, check_sample_weight(sample_weight, len(y)))
        n_classes, rows = self._targets.n_classes, Observations(y, weight)
        loss.n_scores(y, n_classes)
        self._n_columns = y.shape[1]
        self.loss_, self.baseline_ = prepare_for_training(loss, rows, n_classes)
        return rows

    def _predict(self, X: Any, options: dict[str, Any], response: Callable[[Array], Array]) -> Array:
        """Raw scores if they are requested, else the response."""
        wants_scores = options.pop(self._host.score_argument, False)
        raw = self._raw(X, **options)
        return squeeze(raw) if wants_scores else response(raw)

    def _raw(self, X: Any, **options: Any) -> Array:
        """Raw scores, (n, C)."""
        options[self._host.score_argument] = True
        return self.score_conversion().raw(self._host_predict(X, **options))

    def _check_params(self, name: str, loss: Loss, params: Mapping[str, Any]) -> None:
        """Raise a ValueError for parameters that the loss would ignore."""
        if loss.task != self.task:
            raise ValueError(f"{name}: loss {self.loss!r} is for {loss.task}, not for {self.task}")
        bound = [param for param in self._host.monotone_params if params.get(param) is not None]
        if bound and {*(loss.monotone or [1])} != {1}:
            raise ValueError(
                f"{name}: {bound[0]} binds all scores and must be unset, got {params[bound[0]]!r}: predictions of "
                f"loss {loss!r} do not rise with each of them"
            )
        inner = [param for param in params if param.startswith("loss__")]
        for param in [*inner, *self._host.replaced_params]:
            if params.get(param) not in (None, False, self.default_objective):
                raise ValueError(
                    f"{name}: {param} must be unset, got {params[param]!r}: loss {loss!r} replaces the objectives "
                    f"of {self._host.name}; its own parameters are set by set_params(loss__...) or in an instance"
                )

    def _continued_baseline(self, model: Any) -> Array:
        """The baseline of a fit that continues a model, or a ValueError if the loss has another link."""
        name, n_outputs, slope = self._host.continued, len(self.baseline_), slope_of(self.loss_)
        host_model = self._host.read(self._host.booster_of(model, name))
        start, link = host_model.ensemble.baseline, host_model.link
        if isinstance(model, HostEstimator):
            link, conversion = host_link(model.loss_), model.score_conversion()
            start = start + conversion.slope * conversion.offset
        if len(start) != n_outputs:
            raise ValueError(f"{type(self).__name__}: {name} must have {n_outputs} outputs, got {len(start)}")
        if link is not None and link != host_link(self.loss_):
            raise ValueError(
                f"{type(self).__name__}: {name} must have the link of loss {self.loss_!r}; pass the loss that "
                f"it was trained with, loss=model.loss_"
            )
        return start / slope

    def _read_target(self, y: Any) -> Array:
        """A target of training or evaluation, (n, K), or a ValueError if the fitted loss does not accept it."""
        target = self._targets.transform(y)
        if self._n_columns not in (None, target.shape[1]):
            n_columns, owner = target.shape[1], type(self).__name__
            raise ValueError(f"{owner}: y must have the {self._n_columns} columns of the fit, got {n_columns}")
        require_accepted_target(self.loss_, target)
        return target

    def _needs_attached(self, y: Array) -> bool:
        """Whether a target (n, K) is more than the labels of the host hold, which are finite."""
        return y.shape[1] > 1 or not np.isfinite(y).all()

    def _n_responses(self) -> int:
        """Columns of the response."""
        return self.loss_.link.inverse(self.baseline_[None]).shape[1]

    def _response(self, raw: Array) -> Array:
        """What ``predict`` returns for raw scores."""
        response = self.loss_.link.inverse(raw)
        if self.task == "regression":
            return squeeze(response)
        return decode_labels(response, self.classes_, self.loss_.multilabel)

    def _metrics(self, metrics: Any) -> Any:
        """Metrics of a fit, one or a list, as functions of the host's scores, or names of its own.

        None is the loss. A metric of ours may be given by its name, a user's as a function of predictions.
        """
        if isinstance(metrics, list | tuple):
            return [self._metrics(metric) for metric in metrics]
        conversion = self.score_conversion()
        if metrics is None:
            # The given loss names it: a prepared loss for several classes may be of another class.
            name = LOSSES.name_of(LOSSES.make(self.loss))
            return ArrayMetric(MeanLoss(self.loss_), name, conversion)
        if self._is_own_metric(metrics):
            return named_metric(metrics, self.loss_, conversion, len(self.baseline_))
        return metric_on_predictions(metrics, self.loss_, conversion) if callable(metrics) else metrics

    def _is_own_metric(self, metric: Any) -> bool:
        """Whether a metric is the name of one of ``rffboost_ext.metrics``, such as "ndcg@10"."""
        return isinstance(metric, str) and find_metric(metric) is not None

    def _check_metrics(self, parameter: str, metrics: Any, reason: str) -> None:
        """Raise a ValueError for a metric of the host's own that needs scores of its own objectives."""
        # The probability of the second of two classes increases with the score.
        has_order = len(self.baseline_) == 1 and self._n_responses() < 3
        allowed = ["None", *(self._host.ranking_metrics if has_order else ())]
        named = [] if self.task == "classification" else [*filter(self._is_own_metric, METRICS)]
        for metric in metrics if isinstance(metrics, list | tuple) else [metrics]:
            if isinstance(metric, str) and metric not in allowed and not self._is_own_metric(metric):
                names = allowed[1:] + named
                advice = f", a function, or one of {names}" if names else " or a function"
                raise ValueError(
                    f"{type(self).__name__}: {parameter} must be unset{advice} with loss {self.loss!r}: "
                    f"{self._host.name}'s own metrics {reason}; got {metrics!r}"
                )


def as_csr(X: Any) -> Any:
    """Sparse rows (n, d) as floats without stored zeros and duplicates; others as they are. X is not changed."""
    return csr_matrix(SparseRows.of(X).matrix) if issparse(X) else X


def routed(method: Callable[..., Any], *others: str) -> dict[str, None]:
    """The arguments that scikit-learn's metadata routing may pass to a method: those of the host's, and others."""
    named = inspect.signature(method).parameters.values()
    names = [one.name for one in named if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    return dict.fromkeys([name for name in names if name not in ("self", "X", "y")] + list(others))
