"""A loss as the objective, the metric and the initial score of a host's native training loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..boosting.early_stopping.monitor import MeanLoss
from ..contracts.preparation import baseline_of
from ..core import Loss, Observations
from ..losses.registry import LOSSES
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .matrices import matrix_host, read_rows, require_whole_groups
from .prepared_losses import (
    prepare_for_scores,
    prepare_for_training,
    score_of_rows,
    weighted_in_units,
)
from .score_conversion import as_columns


@dataclass(frozen=True, eq=False)
class MatrixLoss:
    """A loss at the scores of matrices, prepared for the targets of each, which may take sorting all of them.

    Instances can be pickled, and one may serve many boosters at once. The targets of a matrix are its labels, or
    those of ``attach(matrix, y=...)``; its sample weights are applied.

    Parameters
    ----------
    loss : Loss
        A classification loss expects labels 0 .. K-1.

    Raises
    ------
    ValueError
        In a call: if the matrix has no labels or labels that the loss does not accept, the host grows another
        number of scores, or the loss returns invalid values or derivatives.
    """

    loss: Loss
    _known: WeakKeyDictionary[Any, tuple[Any, Loss]] = field(
        init=False, repr=False, default_factory=WeakKeyDictionary
    )

    def _prepare(self, raw: Array, matrix: Any) -> tuple[Loss, Observations, bool]:
        """The prepared loss, the rows, and whether they are new, for raw scores on a matrix."""
        rows = read_rows(matrix, self.loss)
        data: tuple[Any, ...] = rows.y, rows.weight, raw.shape[1]
        known, prepared = self._known.get(matrix, (None, self.loss))
        is_new = known is None or not all(map(np.array_equal, known, data))
        if is_new:
            require_whole_groups(self.loss, rows.y, matrix)
            prepared = prepare_for_scores(self.loss, rows, raw)
            self._known[matrix] = data, prepared
        return prepared, rows, is_new

    def __reduce__(self) -> tuple[type[MatrixLoss], tuple[Loss]]:
        # Matrices can neither be pickled nor copied.
        return type(self), (self.loss,)


class MatrixObjective(MatrixLoss):
    """A loss for the native interface: ``objective(scores, matrix) -> gradient, hessian``.

    A UserWarning is issued if the training starts from the host's default score, far from the baseline.
    """

    def __call__(self, scores: Array, matrix: Any) -> tuple[Array, Array]:
        """Derivatives at raw `scores`, of their shape, (n,) or (n, C), for targets and weights of a matrix."""
        raw = as_columns(scores)
        loss, rows, is_new = self._prepare(raw, matrix)
        unset = matrix_host(matrix).unset_score
        if np.all(scores == unset):
            warn_of_start(unset, loss, rows)
        gradient, hessian = weighted_in_units(loss, rows, raw, 0 if is_new else None)
        return gradient.reshape(np.shape(scores)), hessian.reshape(np.shape(scores))


class MatrixMetric(MatrixLoss):
    """The weighted mean of a loss for the native interface: ``metric(scores, matrix) -> name, value``.

    The host shows it for evaluation sets and uses it for early stopping; lower is better.
    """

    def __call__(self, scores: Array, matrix: Any) -> tuple[Any, ...]:
        """Name and value; for LightGBM also False, as lower is better."""
        raw = as_columns(scores)
        loss, rows, _ = self._prepare(raw, matrix)
        value = score_of_rows(MeanLoss(loss), rows, raw)
        return LOSSES.name_of(self.loss), value, *matrix_host(matrix).metric_direction


def objective(loss: str | Loss) -> MatrixObjective:
    """One of our losses as ``obj`` of ``xgboost.train``, or as ``params["objective"]`` of ``lightgbm.train``.

    Neither host fits an intercept for a callable: XGBoost starts from 0.5, LightGBM from 0. See :func:`intercept`.
    Scores of the booster are raw scores of the loss; its link, or :func:`bind`, maps them to probabilities. For
    the exponential loss they are half the log-odds: compared with the host's logistic loss, reg_lambda and
    min_child_weight have a quarter of the effect, the learning rate twice. The estimators use log-odds.

    If no column can be split, as with few rows, LightGBM fails with any callable unless ``feature_pre_filter`` is
    False.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.

    Returns
    -------
    MatrixObjective

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown or invalid.

    Examples
    --------
    >>> import lightgbm, numpy as np, xgboost
    >>> from rffboost_ext.interop import lightgbm as rlgb, xgboost as rxgb
    >>> X, y = np.arange(200.0)[:, None], np.repeat([0, 1], 100)
    >>> matrix = xgboost.DMatrix(X, y)
    >>> params = {"max_depth": 2} | rxgb.intercept("exponential", matrix)
    >>> booster = xgboost.train(params, matrix, 10, obj=rxgb.objective("exponential"))
    >>> bool((rxgb.bind(booster, "exponential").predict(X) == y).all())
    True
    >>> data = lightgbm.Dataset(X, y)
    >>> baseline = rlgb.intercept("exponential", data)
    >>> params = {"objective": rlgb.objective("exponential"), "verbose": -1}
    >>> booster = lightgbm.train(params, data, 10)
    >>> bool((rlgb.bind(booster, "exponential", baseline).predict(X) == y).all())
    True
    """
    return MatrixObjective(LOSSES.create(loss))


def metric(loss: str | Loss) -> MatrixMetric:
    """The weighted mean of a loss as ``custom_metric`` of ``xgboost.train``, or ``feval`` of ``lightgbm.train``.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.

    Returns
    -------
    MatrixMetric
        The metric; lower is better.

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown or invalid.
    """
    return MatrixMetric(LOSSES.create(loss))


def intercept(loss: str | Loss, matrix: Any, *others: Any) -> Any:
    """What makes a training start from the loss's baseline.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.
    matrix : xgboost.DMatrix or lightgbm.Dataset
        The training data: labels and weights.
    *others : lightgbm.Dataset
        For LightGBM: evaluation sets, which start from the same score.

    Returns
    -------
    dict or ndarray of shape (C,)
        For XGBoost, parameters of ``xgboost.train``: ``base_score``, which XGBoost replaces by a ``base_margin``
        of the matrix; ``disable_default_eval_metric``, so that only :func:`metric` is evaluated; and for several
        scores ``num_class``, if there is one for each class, or ``num_target``. For LightGBM, the baseline, which
        becomes the ``init_score`` of all data. LightGBM stores none: add it to predictions, or pass it to
        :func:`bind`.

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown, labels do not suit it, or a Dataset has another ``init_score`` for each row:
        without this function, training starts from that.
    """
    loss = LOSSES.create(loss)
    rows, *_ = [read_rows(each, loss) for each in (matrix, *others)]
    prepared, baseline = prepare_for_training(loss, rows)
    return matrix_host(matrix).start(prepared, baseline, (matrix, *others))


def warn_of_start(start: float, loss: Loss, rows: Observations) -> None:
    """Warn if training starts far from the baseline of a prepared loss."""
    rows = rows.take(rows.weight > 0.0)
    baseline = baseline_of(loss, rows)
    if not np.allclose(baseline, start, atol=1e-3):
        warn_user(
            f"training starts from {start:g}, the baseline of {loss!r} is {baseline.round(4)}: see intercept() in "
            f"rffboost_ext.interop"
        )
