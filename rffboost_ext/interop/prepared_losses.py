"""Losses prepared for the targets and the scores of a host, with the checks of the boosting loop."""

from __future__ import annotations

import numpy as np

from ..boosting.scorers import ScoreFunction
from ..contracts.comparison import is_foreign, require_derivatives
from ..contracts.losses import check_in_fit
from ..contracts.preparation import (
    baseline_of,
    prepare,
    prepared_loss,
    require_finite_target,
    require_known_classes,
)
from ..core import Loss, Observations
from ..utils.typing import Array

# A leaf divides by the sum of hessians, which may be 0 where the fit is perfect; XGBoost has the same lower bound
# in its own logistic loss.
LEAST_HESSIAN = 1e-16


def prepare_for_training(loss: Loss, rows: Observations, n_classes: int | None = None) -> tuple[Loss, Array]:
    """The prepared loss and its baseline, (C,), checked."""
    rows = rows.take(rows.weight > 0.0)
    require_finite_target(loss, rows.y)
    return prepare(loss, rows, n_classes)


def prepare_for_scores(loss: Loss, rows: Observations, raw: Array) -> Loss:
    """The prepared loss, with the checks of the boosting loop at a host's raw scores (n, C)."""
    raw, rows = raw[rows.weight > 0.0], rows.take(rows.weight > 0.0)
    require_finite_target(loss, rows.y)
    n_classes = n_classes_of_scores(loss, rows.y, raw.shape[1])
    loss = prepared_loss(loss, rows, n_classes)
    require_known_classes(loss, rows.y, raw[0])
    if is_foreign(loss):
        check_in_fit(loss, rows, raw.mean(axis=0), n_classes)
    return loss


def prepare_for_outputs(loss: Loss, n_outputs: int, n_targets: int = 1) -> Loss:
    """The loss whose link applies to a model of `n_outputs` scores if its targets are not available.

    A classification of several targets, `n_targets`, is one of labels, which need not exclude one another.
    """
    y, weight = np.zeros((1, n_targets)), np.ones(1)
    n_classes = n_outputs if n_targets == 1 else None
    if loss.task == "regression" or n_outputs == 1 or loss.n_scores(y, n_classes) != n_outputs:
        return loss
    return loss.prepared(y, weight, n_classes)


def n_classes_of_scores(loss: Loss, y: Array, n_scores: int) -> int | None:
    """The number of classes with which a loss has a host's number of scores; None for a regression.

    Raises
    ------
    ValueError
        If the loss has another number of scores for the targets, or does not support as many classes.
    """
    seen = None if loss.task == "regression" else max(2, int(y.max()) + 1)
    loss.n_scores(y, seen)
    # Rows may lack classes.
    known = [seen] if seen is None or seen > n_scores else [seen, n_scores]
    for n_classes in known:
        if loss.n_scores(y, n_classes) == n_scores:
            return n_classes
    needed = loss.n_scores(y, seen)
    name = "num_class" if loss.task == "classification" and not loss.multilabel else "num_target"
    raise ValueError(
        f"loss {loss!r} has {needed} scores for this target, the host grows {n_scores}: set {name}={needed}, as "
        f"intercept() of XGBoost does; LightGBM calls both num_class. Targets whose columns are not one for each "
        f"score are given by attach(matrix, y=...)"
    )


def has_score_for_each_class(loss: Loss, baseline: Array) -> bool:
    """Whether a prepared loss has as many scores as classes, as the hosts' own losses of several classes."""
    is_of_classes = loss.task == "classification" and not loss.multilabel
    return is_of_classes and loss.link.inverse(baseline[None]).shape[1] == len(baseline)


def weighted_in_units(loss: Loss, rows: Observations, raw: Array) -> tuple[Array, Array]:
    """Gradient and hessian of ``loss.scales.unit`` times a prepared loss, weights applied, (n, C) each.

    Rows of weight 0 are left out and have derivatives of 0.

    Raises
    ------
    ValueError
        If the derivatives are not finite arrays of the shape of `raw`, hessians are negative, or the loss changes
        an array.
    """
    counts = rows.weight > 0.0
    if not counts.all():
        gradient, hessian = np.zeros((2, *raw.shape))
        gradient[counts], hessian[counts] = weighted_in_units(loss, rows.take(counts), raw[counts])
        return gradient, hessian
    derivatives = loss.scales.apply(rows.derivatives(loss, raw))
    require_derivatives(loss, derivatives, raw, "in training")
    gradient, hessian = derivatives
    weight = rows.weight[:, None]
    return gradient * weight, np.maximum(hessian, LEAST_HESSIAN) * weight


def first_newton_scores(loss: Loss, rows: Observations) -> Array:
    """The scores, (C,), after a step of Newton's method from 0: where XGBoost starts if it weights classes."""
    n_scores = len(baseline_of(loss, rows))
    gradient, hessian = weighted_in_units(loss, rows, np.zeros((len(rows), n_scores)))
    return -gradient.sum(axis=0) / hessian.sum(axis=0)


def score_of_rows(score: ScoreFunction, rows: Observations, raw: Array) -> float:
    """The score of raw scores (n, C), such as a mean loss, without the rows of weight 0."""
    counts = rows.weight > 0.0
    return score(rows.take(counts), raw[counts])
