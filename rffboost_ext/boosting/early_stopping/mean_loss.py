"""The mean loss as the error that early stopping monitors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...core import Loss
from ...losses.coupling import losses_of_rows
from ...losses.validation import require_value_per_row
from ...utils.typing import Array

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
        values = losses_of_rows(self.loss, y, raw, weight)
        require_value_per_row(self.loss, values, len(y))
        return float(np.average(values, weights=weight))

    def batch(self, y: Array, raw: Array, weight: Array) -> list[float]:
        """The error of each of T score arrays, raw (T, n, C), in one call of a loss of independent rows."""
        if self.loss.rows != "independent":
            return [self(y, one, weight) for one in raw]
        count, n, n_outputs = raw.shape
        values = self.loss.value(np.tile(y, (count, 1)), raw.reshape(count * n, n_outputs))
        require_value_per_row(self.loss, values, count * n)
        # As np.average, which is slow for few rows.
        means: list[float] = ((values.reshape(count, n) * weight).sum(axis=1) / weight.sum()).tolist()
        return means


def batch_errors(error: ErrorFunction, y: Array, raw: Array, weight: Array) -> list[float]:
    """The error of each of T score arrays, raw (T, n, C)."""
    if isinstance(error, MeanLoss):
        return error.batch(y, raw, weight)
    return [float(error(y, one, weight)) for one in raw]
