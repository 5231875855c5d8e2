"""The mean loss as the error that early stopping monitors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ..core import Loss
from ..losses.validation import require_values
from ..utils.typing import Array

Error: TypeAlias = Callable[[Array, Array, Array], float]


@dataclass(frozen=True)
class MeanLoss:
    """The weighted mean of a loss, as an error.

    Parameters
    ----------
    loss : Loss
    """

    loss: Loss

    def __call__(self, y: Array, raw: Array, weight: Array) -> float:
        values = self.loss.value(y, raw)
        require_values(self.loss, values, len(y))
        return float(np.average(values, weights=weight))

    def several(self, y: Array, raw: Array, weight: Array) -> list[float]:
        """The error of each of T score arrays, raw (T, n, C), in one call: losses are computed row by row."""
        count, n, n_outputs = raw.shape
        values = self.loss.value(np.tile(y, (count, 1)), raw.reshape(count * n, n_outputs))
        require_values(self.loss, values, count * n)
        # As np.average does, which takes several times as long for few rows.
        means: list[float] = ((values.reshape(count, n) * weight).sum(axis=1) / weight.sum()).tolist()
        return means


def errors_of(error: Error, y: Array, raw: Array, weight: Array) -> list[float]:
    """The error of each of T score arrays, raw (T, n, C)."""
    if hasattr(error, "several"):
        several: list[float] = error.several(y, raw, weight)
        return several
    return [float(error(y, one, weight)) for one in raw]
