"""How raw scores of a loss and scores of another library's loop belong together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import Array, Loss
from ..losses.margin import two_columns


@dataclass(frozen=True)
class Reading:
    """How raw scores follow from those of a host: ``raw = scores / slope + offset``.

    Attributes
    ----------
    slope : float
        Units of the host per unit of the loss.
    offset : ndarray of shape (C,)
        The baseline, where the host cannot hold it, else 0.
    """

    slope: float = 1.0
    offset: Array = field(default_factory=lambda: np.zeros(1))

    def raw(self, scores: Any) -> Array:
        """Raw scores, (n, C), for scores of the host, (n,) or (n, C)."""
        return np.asarray(columns(scores) / self.slope + self.offset)

    def contributions(self, shares: Array) -> Array:
        """What each feature contributes to raw scores, (n, C (d + 1)), for contributions to the host's scores.

        For each output the last of d + 1 is what all rows have, to which the baseline belongs.
        """
        each = shares.reshape(len(shares), len(self.offset), -1) / self.slope
        each[:, :, -1] += self.offset
        return each.reshape(shares.shape)


def columns(scores: Any) -> Array:
    """Scores (n,) or (n, C) as (n, C) in float64."""
    scores = np.asarray(scores, dtype=np.float64)
    return scores[:, None] if scores.ndim == 1 else scores


def slope_of(loss: Loss, n_outputs: int) -> float:
    """Log-odds per unit of raw score, where the loss reads those as ``sigmoid(slope raw)``; else 1.

    A host that works in log-odds ``F = slope raw`` gets derivatives of the size that it is made for. Those of the
    exponential loss, ``exp(-s F / 2)``, are then 1/2 and 1/4 at even odds, as of the logistic one, so that step
    length and penalties mean the same; and the host's own link, metrics and files are right.
    """
    if loss.task != "classification" or n_outputs > 1:
        return 1.0
    raw = np.linspace(-2.0, 2.0, 9)[:, None]
    response = np.asarray(loss.inverse_link(raw))
    p, q = response[-1, -1], response[-1, 0]
    if not 0.0 < q < p:
        return 1.0
    slope = float(np.log(p / q) / raw[-1, 0])
    agrees = np.allclose(response, two_columns(slope * raw), rtol=1e-9, atol=0.0)
    # A slope of rounded logarithms is meant to be the number that it is next to.
    return round(slope, 9) if agrees else 1.0
