"""The scales in which learners get the derivatives of a loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..utils.typing import Array


@dataclass(frozen=True)
class Scales:
    """How derivatives of a loss are scaled for learners, whose penalties are for hessians of about 1.

    Minimisers and Newton steps do not depend on the unit, but the strength of penalties does.

    Parameters
    ----------
    unit : float or sequence of float, default=1.0
        Factor of gradient and hessian in a fit, so that hessians are O(1) for any scale of the target; one for
        each score if it is a sequence.
    relative_rates : float or sequence of float, default=1.0
        Factor of the learning rate, for each score if it is a sequence: hessians in a fit are divided by it.
        Scores that are fitted to the errors of others, such as the scale of a distribution, need shorter steps.
    min_hessian : float, default=0.0
        Least hessian in a fit, in units of `unit`, where hessians that are no upper bounds would be too small.
    """

    unit: float | Sequence[float] = 1.0
    relative_rates: float | Sequence[float] = 1.0
    min_hessian: float = 0.0

    def apply(self, derivatives: tuple[Array, Array]) -> tuple[Array, Array]:
        """Gradient and hessian (n, C) of a loss as learners get them."""
        gradient, hessian = derivatives
        if not (isinstance(self.unit, float) and self.unit == 1.0):
            unit = np.asarray(self.unit, dtype=np.float64)
            gradient, hessian = unit * gradient, unit * hessian
        if self.min_hessian > 0.0:
            hessian = np.maximum(hessian, self.min_hessian)
        if not (isinstance(self.relative_rates, float) and self.relative_rates == 1.0):
            hessian = hessian / np.asarray(self.relative_rates)
        return gradient, hessian
