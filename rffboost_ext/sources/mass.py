"""The mass of rows by their weights and their gradients at the baseline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core import Loss, Observations
from ..rows.sampling import SHARE_BY_WEIGHT, TINY, gradient_magnitude
from ..rows.targets import TargetEncoder
from ..utils.typing import Array
from .core import Batch
from .sample import batch_weight


@dataclass(frozen=True)
class GradientMass:
    r"""The mass of a row, as in :func:`~rffboost_ext.rows.sampling.sampling_probabilities`:

    .. math:: m_i = w_i \left(\frac{2}{3 \bar w} + \frac{\sum_c |g_{ic}|}{3 \overline{w |g|}}\right).

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

    def terms(self, batch: Batch) -> tuple[Array, Array, Array]:
        """Encoded targets, weights, and weights times absolute gradients of rows, (m, K), (m,) and (m,)."""
        y = self.targets.transform(self.targets.columns(batch.y))
        weight = self.targets.reweight(y, batch_weight(batch))
        return y, weight, weight * gradient_magnitude(self.loss, Observations(y, weight), self.baseline)[:, 0]

    def __call__(self, batch: Batch) -> Array:
        """The mass of each row, (m,)."""
        _, weight, slope = self.terms(batch)
        by_slope = (1.0 - SHARE_BY_WEIGHT) * slope / max(self.mean_slope, TINY)
        mass = SHARE_BY_WEIGHT * weight / self.mean_weight + by_slope
        # Gradients of some losses depend in their last digit on the number of rows at once.
        return mass.astype(np.float32).astype(np.float64)
