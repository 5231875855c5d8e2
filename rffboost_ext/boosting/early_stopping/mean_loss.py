"""The mean loss as the error that early stopping monitors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...core import Loss, Observations
from ...losses.coupling import is_coupled
from ...losses.links import LARGEST_EXPONENT
from ...utils.typing import Array

# Newton steps to the least loss of a row, each twice as long as the one before while they lower the loss.
N_STEPS = 8

ErrorFunction: TypeAlias = Callable[[Observations, Array], float]
"""``error(rows, raw)`` of rows with encoded targets (n, K), and raw scores (n, C) without their offset."""


@dataclass(frozen=True)
class MeanLoss:
    """The weighted mean of a loss, as an error.

    Parameters
    ----------
    loss : Loss
    """

    loss: Loss

    def __call__(self, rows: Observations, raw: Array) -> float:
        return self.batch(rows, raw[None])[0]

    def batch(self, rows: Observations, raw: Array) -> list[float]:
        """The error of each of T score arrays, raw (T, n, C), in one call of a loss of independent rows."""
        (count, n, n_outputs), weight = raw.shape, rows.weight
        if self.loss.rows == "independent":
            every = np.tile(np.arange(n), count)
            values = rows.take(every).losses(self.loss, raw.reshape(count * n, n_outputs))
        else:
            values = np.stack([rows.losses(self.loss, one) for one in raw])
        # As np.average, which is slow for few rows.
        means: list[float] = ((values.reshape(count, n) * weight).sum(axis=1) / weight.sum()).tolist()
        return means


def batch_errors(error: ErrorFunction, rows: Observations, raw: Array) -> list[float]:
    """The error of each of T score arrays, raw (T, n, C)."""
    if isinstance(error, MeanLoss):
        return error.batch(rows, raw)
    return [float(error(rows, one)) for one in raw]


def least_error(error: ErrorFunction, rows: Observations, raw: Array) -> float:
    """The least error possible, from which relative errors of classifiers are counted.

    For the mean loss of a classification it is the mean of the least loss of each row over all scores, which is 0
    for the losses of this package. For other errors it is 0.

    Parameters
    ----------
    error : callable
    rows : Observations
    raw : ndarray of shape (n, C)
        Scores to start from.
    """
    if not isinstance(error, MeanLoss) or error.loss.task != "classification":
        return 0.0
    loss, weight, length = error.loss, rows.weight, np.ones(1)
    values = rows.losses(loss, raw)
    with np.errstate(all="ignore"):
        for _ in range(N_STEPS):
            gradient, hessian = rows.derivatives(loss, raw)
            step = (-length[:, None] * gradient / hessian).clip(-LARGEST_EXPONENT, LARGEST_EXPONENT)
            moved = raw + np.nan_to_num(step)
            found = rows.losses(loss, moved)
            # Coupled rows move together.
            is_lower = [weight @ found < weight @ values] if is_coupled(loss) else found < values
            length = np.where(is_lower, 2.0, 0.25) * length
            raw, values = np.where(np.reshape(is_lower, (-1, 1)), moved, raw), np.where(is_lower, found, values)
    return float(np.average(values, weights=weight))
