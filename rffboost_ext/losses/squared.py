"""The squared error."""

from __future__ import annotations

import numpy as np

from ..core import Array, Loss
from . import LOSSES


@LOSSES.register("squared_error")
class SquaredError(Loss):
    """Half the squared error, ``(raw - y)^2 / 2``, summed over outputs; the response is the raw score."""

    match = "scaled"
    multi_output = True

    def value(self, y: Array, raw: Array) -> Array:
        return 0.5 * np.square(raw - y).sum(axis=1)

    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        return raw - y, np.ones_like(raw)

    def baseline(self, y: Array, weight: Array) -> Array:
        return np.average(y, axis=0, weights=weight)

    def inverse_link(self, raw: Array) -> Array:
        return raw
