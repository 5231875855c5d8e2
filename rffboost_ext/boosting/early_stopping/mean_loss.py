"""The mean loss as the error that early stopping monitors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...core import Loss
from ...losses.coupling import derivatives_of_rows, is_coupled, losses_of_rows
from ...losses.links import LARGEST_EXPONENT
from ...losses.validation import require_value_per_row
from ...utils.typing import Array

# Newton steps to the least loss of a row, each twice as long as the one before while they lower the loss.
N_STEPS = 8

ErrorFunction: TypeAlias = Callable[[Array, Array, Array], float]
"""``error(y, raw, weight)`` of encoded targets (n, 1) or (n, C), raw scores (n, C) and weights (n,)."""


@dataclass(frozen=True)
class MeanLoss:
    """The weighted mean of a loss, as an error.

    Parameters
    ----------
    loss : Loss
    """

    loss: Loss

    def __call__(self, y: Array, raw: Array, weight: Array) -> float:
        return self.batch(y, raw[None], weight)[0]

    def batch(self, y: Array, raw: Array, weight: Array) -> list[float]:
        """The error of each of T score arrays, raw (T, n, C), in one call of a loss of independent rows."""
        count, n, n_outputs = raw.shape
        if self.loss.rows == "independent":
            values = self._values(np.tile(y, (count, 1)), raw.reshape(count * n, n_outputs), weight)
        else:
            values = np.stack([self._values(y, one, weight) for one in raw])
        # As np.average, which is slow for few rows.
        means: list[float] = ((values.reshape(count, n) * weight).sum(axis=1) / weight.sum()).tolist()
        return means

    def _values(self, y: Array, raw: Array, weight: Array) -> Array:
        values: Array = losses_of_rows(self.loss, y, raw, weight)
        require_value_per_row(self.loss, values, len(y))
        return values


def batch_errors(error: ErrorFunction, y: Array, raw: Array, weight: Array) -> list[float]:
    """The error of each of T score arrays, raw (T, n, C)."""
    if isinstance(error, MeanLoss):
        return error.batch(y, raw, weight)
    return [float(error(y, one, weight)) for one in raw]


def least_error(error: ErrorFunction, y: Array, raw: Array, weight: Array) -> float:
    """The least error possible, from which relative errors of classifiers are counted.

    For the mean loss of a classification it is the mean of the least loss of each row over all scores, which is 0
    for the losses of this package. For other errors it is 0.

    Parameters
    ----------
    error : callable
    y : ndarray of shape (n, K)
        Targets.
    raw : ndarray of shape (n, C)
        Scores to start from.
    weight : ndarray of shape (n,)
        Sample weights.
    """
    if not isinstance(error, MeanLoss) or error.loss.task != "classification":
        return 0.0
    loss, length = error.loss, np.ones(1)
    values = losses_of_rows(loss, y, raw, weight)
    with np.errstate(all="ignore"):
        for _ in range(N_STEPS):
            gradient, hessian = derivatives_of_rows(loss, y, raw, weight)
            step = (-length[:, None] * gradient / hessian).clip(-LARGEST_EXPONENT, LARGEST_EXPONENT)
            moved = raw + np.nan_to_num(step)
            found = losses_of_rows(loss, y, moved, weight)
            # Coupled rows move together.
            is_lower = [weight @ found < weight @ values] if is_coupled(loss) else found < values
            length = np.where(is_lower, 2.0, 0.25) * length
            raw, values = np.where(np.reshape(is_lower, (-1, 1)), moved, raw), np.where(is_lower, found, values)
    return float(np.average(values, weights=weight))
