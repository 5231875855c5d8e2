"""Targets and weights of a host's matrix; objective, metric and initial score of its native loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from ..boosting.early_stopping.monitor import MeanLoss
from ..contracts.fit import baseline_of
from ..core import Loss, Observations
from ..losses.registry import LOSSES
from ..rows.tables import number_array
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .host import Host, host_of
from .score_conversion import (
    as_columns,
    float_weights,
    prepare_for_scores,
    prepare_for_training,
    score_of_rows,
    weighted_in_units,
)

NO_MATRIX = (
    "the objective and metric are for train(), which passes a matrix; for the scikit-learn interface use "
    "XGBClassifier, XGBRegressor, LGBMClassifier or LGBMRegressor of rffboost_ext.interop with loss=..."
)
"""Error message for other objects than a matrix."""


def attach(matrix: Any, *, y: Any) -> None:
    """Keep a target of several columns with a matrix, whose labels hold one column.

    ``matrix.get_label()`` then returns the target, and slices of the matrix, as in the host's ``cv``, keep that of
    their rows. A loss of groups of rows, such as queries, refuses a slice that divides a group. The labels in the
    host's own memory become the first column, finite and in float32. A call of ``matrix.set_label`` after that has
    no effect on the loss.

    Parameters
    ----------
    matrix : xgboost.DMatrix or lightgbm.Dataset
        For training or for evaluation.
    y : array-like of shape (n,) or (n, K)
        The target in the columns that the loss takes, such as costs, bounds, events or queries, in float64.

    Raises
    ------
    ValueError
        If y is not numbers, or has another number of rows than the matrix.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, relevance, query = np.arange(6.0)[:, None], np.array([2, 1, 0, 0, 1, 2]), np.array([0, 0, 0, 1, 1, 1])
    >>> matrix = xgboost.DMatrix(X)
    >>> rxgb.attach(matrix, y=np.column_stack([relevance, query]))
    >>> params = rxgb.intercept("pairwise", matrix)
    >>> booster = xgboost.train(params, matrix, 3, obj=rxgb.objective("pairwise"))
    """
    target, name = as_columns(number_array(y)), matrix_host(matrix).slicing
    n_samples = matrix.num_row() if hasattr(matrix, "num_row") else len(target)
    if n_samples != len(target):
        raise ValueError(f"attach: y must have shape ({n_samples}, K), got {target.shape}")
    # LightGBM compares the numbers of rows itself, once it has binned them.
    matrix.set_label(host_labels(target))
    matrix.get_label = lambda: target
    owner = ref(matrix)

    def part(rows: Any, *args: Any, **kwargs: Any) -> Any:
        whole = owner()
        piece = getattr(type(whole), name)(whole, rows, *args, **kwargs)
        # A Dataset sorts them.
        attach(piece, y=target[getattr(piece, "used_indices", rows)])
        piece.sliced_target = target
        return piece

    setattr(matrix, name, part)


def matrix_host(matrix: Any) -> Host:
    """The adapter of the host of a matrix, or a TypeError."""
    return host_of(matrix, NO_MATRIX)


def host_labels(y: Array) -> Array:
    """The first column of a target, (n,), finite in float32."""
    limit = float(np.finfo(np.float32).max)
    return np.clip(y[:, 0], -limit, limit)


def rows_of_matrix(matrix: Any, loss: Loss) -> Observations:
    """The targets and the sample weights of a matrix, 1 if it has none; a ValueError if all are 0."""
    y, weight = read_targets(matrix, loss), matrix_host(matrix).weights(matrix)
    weight = float_weights(weight if weight is not None and len(weight) else None, len(y))
    if not np.any(weight):
        raise ValueError("the weights of the matrix must not all be 0")
    return Observations(y, weight)


def read_targets(matrix: Any, loss: Loss) -> Array:
    """The targets of a matrix, (n, K) in float64; those of a loss of groups end with the queries, if any."""
    host = matrix_host(matrix)
    if "get_label" in vars(matrix):
        return as_columns(matrix.get_label())
    labels = host.labels(matrix)
    if labels is None or not len(labels):
        raise ValueError("the matrix has no labels, which the objective and metric need")
    y, codes = as_columns(labels), host.queries(matrix) if loss.rows == "groups" else None
    return y if codes is None else np.column_stack([y, codes])


def require_whole_groups(loss: Loss, y: Array, matrix: Any) -> None:
    """Raise a ValueError if a matrix is a slice, with the target y (n, K), that divides groups of coupled rows."""
    if loss.rows != "groups":
        return
    whole, parent = getattr(matrix, "sliced_target", None), matrix_host(matrix).whole(matrix)
    if whole is None and parent is not None:
        whole = read_targets(parent, loss)
    if whole is None:
        return
    present, counts = np.unique(loss.groups(y), return_counts=True)
    groups, sizes = np.unique(loss.groups(whole), return_counts=True)
    divided = int((counts < sizes[np.searchsorted(groups, present)]).sum())
    if divided:
        raise ValueError(
            f"loss {loss!r} couples the rows of a group, but a slice of the matrix divides {divided} of its "
            f"{len(present)} groups: pass folds of whole groups, such as folds=GroupKFold(5).split(X, y, groups)"
        )


def checked_loss(loss: Loss, matrix: Any, rows: Observations, raw: Array) -> Loss:
    """The loss prepared for the rows of a matrix, or a ValueError if it refuses them."""
    require_whole_groups(loss, rows.y, matrix)
    return prepare_for_scores(loss, rows, raw)


@dataclass(eq=False)
class MatrixObjective:
    """A loss for the native interface: ``objective(scores, matrix) -> gradient, hessian``, and its metric.

    It is prepared once for the targets of each training matrix; the metric of other matrices uses the loss of the
    latest training, ``loss_``. A UserWarning is issued if a training starts from the host's default score, far
    from the baseline.

    Instances can be pickled, and one may serve many boosters at once. The targets of a matrix are its labels,
    0 .. K-1 for a classification loss, or those of ``attach(matrix, y=...)``; its sample weights are applied.

    Raises
    ------
    ValueError
        In a call: if the matrix has no labels or labels that the loss does not accept, the host grows another
        number of scores, or the loss returns invalid values or derivatives.
    """

    loss: Loss
    loss_: Loss | None = None
    _losses: WeakKeyDictionary[Any, tuple[Any, Loss]] = field(
        init=False, repr=False, default_factory=WeakKeyDictionary
    )

    def _prepare(self, loss: Loss, raw: Array, matrix: Any) -> tuple[Loss, Observations]:
        """The prepared loss and the rows, for raw scores on a matrix."""
        rows = rows_of_matrix(matrix, self.loss)
        data: tuple[Any, ...] = rows.y, rows.weight, raw.shape[1]
        data_before, prepared = self._losses.get(matrix, (None, loss))
        if data_before is None or not all(map(np.array_equal, data_before, data)):
            prepared = checked_loss(loss, matrix, rows, raw)
            self._losses[matrix] = data, prepared
        return prepared, rows

    def __call__(self, scores: Array, matrix: Any) -> tuple[Array, Array]:
        """Derivatives at raw `scores`, of their shape, (n,) or (n, C), for targets and weights of a matrix."""
        raw = as_columns(scores)
        loss, rows = self._prepare(self.loss, raw, matrix)
        self.loss_ = loss
        unset = matrix_host(matrix).unset_score
        if np.all(scores == unset):
            warn_of_start(unset, loss, rows.take(rows.weight > 0.0))
        gradient, hessian = weighted_in_units(loss, rows, raw)
        return gradient.reshape(np.shape(scores)), hessian.reshape(np.shape(scores))

    def metric(self, scores: Array, matrix: Any) -> tuple[Any, ...]:
        """Name and mean loss; for LightGBM also False, as lower is better."""
        raw = as_columns(scores)
        # Without an objective the loss is prepared for the first matrix: the numbers of all can be compared.
        first = next((prepared for _, prepared in self._losses.values()), self.loss)
        loss, rows = self._prepare(self.loss_ or first, raw, matrix)
        value = score_of_rows(MeanLoss(loss), rows, raw)
        return LOSSES.name_of(self.loss), value, *matrix_host(matrix).metric_direction

    def __reduce__(self) -> tuple[type[MatrixObjective], tuple[Loss, Loss | None]]:
        # Matrices can neither be pickled nor copied.
        return type(self), (self.loss, self.loss_)

    def __deepcopy__(self, memo: dict[int, Any]) -> MatrixObjective:
        # lightgbm.train works on a deep copy of its parameters; the prepared loss must be in this object.
        return self


def objective(loss: str | Loss) -> MatrixObjective:
    """One of our losses as ``obj`` of ``xgboost.train``, or as ``params["objective"]`` of ``lightgbm.train``.

    Its method ``metric``, the weighted mean of the loss, is ``custom_metric`` of ``xgboost.train`` or ``feval`` of
    ``lightgbm.train``, also beside an objective of the host. Statistics of targets, on which some losses depend,
    are those of the latest training; before any training, those of the first matrix as long as it exists.

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
    >>> objective = rxgb.objective("exponential")
    >>> params = {"max_depth": 2} | rxgb.intercept("exponential", matrix)
    >>> booster = xgboost.train(params, matrix, 10, obj=objective)
    >>> bool((rxgb.bind(booster, objective).predict(X) == y).all())
    True
    >>> data = lightgbm.Dataset(X, y)
    >>> baseline, objective = rlgb.intercept("exponential", data), rlgb.objective("exponential")
    >>> booster = lightgbm.train({"objective": objective, "verbose": -1}, data, 10)
    >>> bool((rlgb.bind(booster, objective, baseline).predict(X) == y).all())
    True
    """
    return MatrixObjective(LOSSES.create(loss))


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
        of the matrix; ``disable_default_eval_metric``, so that only metrics of the caller are evaluated; and for
        several scores ``num_class``, if there is one for each class, or ``num_target``. For LightGBM, the
        baseline, which becomes the ``init_score`` of all data. LightGBM stores none: add it to predictions, or
        pass it to :func:`bind`.

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown, labels do not suit it, or a Dataset has another ``init_score`` for each row:
        without this function, training starts from that.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> matrix = xgboost.DMatrix(np.arange(4.0)[:, None], [1.0, 2.0, 3.0, 6.0])
    >>> rxgb.intercept("squared_error", matrix)["base_score"]
    3.0
    """
    loss = LOSSES.create(loss)
    rows, *_ = [rows_of_matrix(each, loss) for each in (matrix, *others)]
    prepared, baseline = prepare_for_training(loss, rows)
    return matrix_host(matrix).start(prepared, baseline, (matrix, *others))


def warn_of_start(start: float, loss: Loss, rows: Observations) -> None:
    """Warn if training starts far from the baseline of a prepared loss."""
    baseline = baseline_of(loss, rows)
    if not np.allclose(baseline, start, atol=1e-3):
        warn_user(
            f"training starts from {start:g}, the baseline of {loss!r} is {baseline.round(4)}: see intercept() in "
            f"rffboost_ext.interop"
        )
