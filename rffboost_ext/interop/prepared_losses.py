"""Losses prepared for the targets and the scores of a host, with the checks of the boosting loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..core import Loss, Observations
from ..losses.validation import (
    check_class_indices,
    check_values_of_some_rows,
    prepare_loss,
    prepare_with_baseline,
    require_finite_target,
    require_multiclass,
    response_at,
)
from ..utils.typing import Array
from .matrix_rows import rows_of_weight
from .weighted_losses import weighted_derivatives


def prepare_for_scores(loss: Loss, y: Array, raw: Array, weight: Array) -> Loss:
    """The loss prepared for targets (n, K), with the checks of the boosting loop at a host's raw scores (n, C)."""
    y, raw, weight = rows_of_weight(weight, y, raw, weight)
    require_finite_target(loss, y)
    with require_columns(loss, y):
        rows = Observations(y, weight)
        loss = prepare_loss(loss, rows, n_classes_of_scores(loss, y, raw.shape[1]))
        check_class_indices(loss, y, raw[0])
        check_values_of_some_rows(loss, rows, raw)
    return loss


@contextmanager
def require_columns(loss: Loss, y: Array) -> Iterator[None]:
    """Say how a matrix gets further columns in an error of a loss that needs more than a target (n, K) has."""
    advice = (
        "further columns of the target of a matrix are given by attach(matrix, y=...), queries also by the "
        "host's own qid or group"
    )
    try:
        loss.n_scores(y)
    except ValueError as error:
        raise ValueError(f"{error}; {advice}" if y.shape[1] == 1 else str(error)) from error
    try:
        yield
    except (ValueError, IndexError) as error:
        if not isinstance(error.__cause__ or error, IndexError):
            raise
        raise ValueError(
            f"loss {loss!r}: y must have the columns that the loss reads, got {y.shape[1]}: "
            f"{error.__cause__ or error}; {advice}"
        ) from error


def n_classes_of_scores(loss: Loss, y: Array, n_scores: int) -> int | None:
    """The number of classes with which a loss has a host's number of scores; None for a regression.

    Raises
    ------
    ValueError
        If the loss has another number of scores for the targets, or does not support as many classes.
    """
    seen = None if loss.task == "regression" else max(2, int(y.max()) + 1)
    if seen is not None:
        require_multiclass(loss, seen)
    # Rows may lack classes.
    known = [seen] if seen is None or seen > n_scores else [seen, n_scores]
    for n_classes in known:
        if loss.n_scores(y, n_classes) == n_scores:
            return n_classes
    raise wrong_number_of_scores(loss, loss.n_scores(y, seen), n_scores)


def wrong_number_of_scores(loss: Loss, needed: int, n_scores: int) -> ValueError:
    """The error for a host that grows another number of scores than a loss needs."""
    name = "num_class" if loss.task == "classification" and not loss.multilabel else "num_target"
    return ValueError(
        f"loss {loss!r} has {needed} scores for this target, the host grows {n_scores}: set {name}={needed}, as "
        f"intercept() of XGBoost does; LightGBM calls both num_class. Targets whose columns are not one for each "
        f"score are given by attach(matrix, y=...)"
    )


def prepare_for_outputs(loss: Loss, n_outputs: int, n_targets: int = 1) -> Loss:
    """The loss whose link applies to a model of `n_outputs` scores if its targets are not available.

    A classification of several targets, `n_targets`, is one of labels, which need not exclude one another.
    """
    y, weight = np.zeros((1, n_targets)), np.ones(1)
    n_classes = n_outputs if n_targets == 1 else None
    if loss.task == "regression" or n_outputs == 1 or loss.n_scores(y, n_classes) != n_outputs:
        return loss
    return loss.prepared(y, weight, n_classes)


def prepare_for_training(loss: Loss, y: Array, weight: Array, n_classes: int | None = None) -> tuple[Loss, Array]:
    """The prepared loss and its baseline, (C,), for targets (n, K), with every check of a first round."""
    y, weight = rows_of_weight(weight, y, weight)
    require_finite_target(loss, y)
    with require_columns(loss, y):
        loss, baseline = prepare_with_baseline(loss, Observations(y, weight), n_classes)
        weighted_derivatives(loss, y, np.tile(baseline, (len(y), 1)), weight, index=0)
    return loss, baseline


def has_score_for_each_class(loss: Loss, baseline: Array) -> bool:
    """Whether a prepared loss has as many scores as classes, as the hosts' own losses of several classes."""
    is_of_classes = loss.task == "classification" and not loss.multilabel
    return is_of_classes and response_at(loss, baseline[None]).shape[1] == len(baseline)
