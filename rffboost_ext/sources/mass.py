"""The mass of rows by their weights and their gradients at the baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import Loss, Observations
from ..rows.sampling import gradient_magnitude, row_mass
from ..rows.targets import TargetEncoder
from ..utils.typing import Array
from .core import Batch
from .sample import batch_weight


@dataclass(frozen=True)
class GradientMass:
    """The mass of a row, as in :func:`~rffboost_ext.rows.sampling.sampling_probabilities`, with means for sums.

    Parameters
    ----------
    loss : Loss
        The prepared loss.
    targets : TargetEncoder
        The fitted encoder of targets.
    baseline : ndarray of shape (C,)
        The scores at which gradients are computed.
    mean_weight, mean_slope : float
        The means of the weights, and of the weights times absolute gradients.
    """

    loss: Loss
    targets: TargetEncoder
    baseline: Array
    mean_weight: float = 1.0
    mean_slope: float = 1.0

    def terms(self, batch: Batch) -> tuple[Array, Array]:
        """Weights, and weights times magnitudes of gradients, (m,) each."""
        y = self.targets.transform(self.targets.columns(batch.y))
        weight = self.targets.reweight(y, batch_weight(batch))
        return weight, weight * gradient_magnitude(self.loss, Observations(y, weight), self.baseline)

    def __call__(self, batch: Batch) -> Array:
        """The mass of each row, (m,)."""
        mass = row_mass(*self.terms(batch), self.mean_weight, self.mean_slope)
        # Gradients of some losses depend in their last digit on the number of rows at once.
        return mass.astype(np.float32).astype(np.float64)
