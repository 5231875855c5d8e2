"""A loss prepared for the targets of a fit, and checked if its class is not one of this package."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import numpy as np

from ..core import Loss, Observations, Scales
from ..losses.constant_scores import constant_scores
from ..losses.target_statistics import require_class_indices
from ..utils.param_validation import POSITIVE, POSITIVE_SEQUENCE, Instance, Integer, require
from ..utils.typing import Array
from .comparison import ContractError, contract_errors, describe, is_foreign, require_unchanged
from .loss_sample import ADVICE
from .losses import check_in_fit

POSITIVE_INTEGER = Integer(1)


def prepare(loss: Loss, rows: Observations, n_classes: int | None = None) -> tuple[Loss, Array]:
    """The prepared loss and the constant scores that minimise it, (C,).

    Parameters
    ----------
    loss : Loss
    rows : Observations
        All rows of the fit.
    n_classes : int, optional
        Number of classes; rows may lack some unless it is given.

    Raises
    ------
    ValueError
        If the loss refuses the targets, or breaks a law of its contract that a fit relies on.
    """
    prepared = prepared_loss(loss, rows, n_classes)
    baseline = baseline_of(prepared, rows, n_classes)
    if is_foreign(prepared):
        check_in_fit(prepared, rows, baseline, n_classes)
    return prepared, baseline


def prepared_loss(loss: Loss, rows: Observations, n_classes: int | None = None) -> Loss:
    """The loss prepared for the targets, or a ValueError if it refuses them."""
    y, weight = rows.target(loss), rows.weight
    count_scores(loss, y, n_classes)
    require_accepted_target(loss, y)
    prepared = watched(loss, "prepared", lambda: loss.prepared(y, weight, n_classes), y=y, weight=weight)
    if not isinstance(prepared, Loss):
        raise TypeError(f"loss {loss!r}: prepared must return a Loss, got {describe(prepared)}")
    require(type(prepared).__name__, "scales", prepared.scales, Instance(Scales))
    require(type(prepared).__name__, "scales.unit", prepared.scales.unit, POSITIVE | POSITIVE_SEQUENCE)
    return prepared


def baseline_of(loss: Loss, rows: Observations, n_classes: int | None = None) -> Array:
    """The constant scores that minimise a prepared loss, (C,), of the number that ``n_scores`` says."""
    with contract_errors(f"loss {loss!r}: baseline", ADVICE) if is_foreign(loss) else nullcontext():
        baseline = watched(loss, "baseline", lambda: constant_scores(loss, rows), y=rows.y, weight=rows.weight)
    require_baseline(loss, baseline, rows.y, n_classes)
    return baseline


def require_baseline(loss: Loss, baseline: Any, y: Array, n_classes: int | None = None) -> None:
    """Raise a ValueError unless constant scores are finite, and as many as a target y (n, K) needs.

    Rows may lack some classes: then scores are counted only where `n_classes` is given.
    """
    if not isinstance(baseline, np.ndarray) or baseline.ndim != 1 or not np.isfinite(baseline).all():
        raise ContractError(f"loss {loss!r}: baseline must be a finite array of shape (C,), got {baseline!r}")
    if loss.task == "classification" and n_classes is None:
        return
    if len(baseline) != (n_scores := count_scores(loss, y, n_classes)):
        raise ContractError(
            f"loss {loss!r}: baseline must have an entry for each of {n_scores} scores, as n_scores says, got "
            f"{baseline!r}"
        )


def count_scores(loss: Loss, y: Array, n_classes: int | None = None) -> int:
    """``loss.n_scores(y, n_classes)``, or a ValueError unless it is a positive integer."""
    n_scores = loss.n_scores(y, n_classes)
    if not POSITIVE_INTEGER.fits(n_scores) or not POSITIVE_INTEGER.accepts(n_scores):
        raise ContractError(f"loss {loss!r}: n_scores must return {POSITIVE_INTEGER}, got {n_scores!r}")
    return int(n_scores)


def require_accepted_target(loss: Loss, y: Array) -> None:
    """Raise a ValueError if a loss does not accept the values of a target, or changes them in place."""
    watched(loss, "check_target", lambda: loss.check_target(y), y=y)


def watched(loss: Loss, method: str, call: Any, **arrays: Array) -> Any:
    """The result of a method; of a user's loss a ContractError if it has changed one of `arrays` in place."""
    return require_unchanged(f"loss {loss!r}: {method}", call, **arrays) if is_foreign(loss) else call()


def require_known_classes(loss: Loss, y: Array, scores: Array) -> None:
    """Raise a ValueError unless targets of classes are indices of the columns of the response at scores (C,)."""
    if loss.task == "classification":
        require_class_indices(loss, y[:, :1], np.shape(loss.link.inverse(scores[None]))[1])


def require_finite_target(loss: Loss, y: Array) -> None:
    """Raise a ValueError if a target (n, K) is NaN, or infinite where the loss does not take that."""
    if np.isnan(y).any() or not (loss.infinite or np.isfinite(y).all()):
        raise ValueError(f"loss {loss!r}: y must be finite, got NaN or infinity")
