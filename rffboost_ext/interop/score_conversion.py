"""Conversion between the raw scores of a loss and the scores of another library's loop."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import Loss
from ..losses.links import binary_probabilities
from ..utils.typing import Array


@dataclass(frozen=True)
class ScoreConversion:
    """The conversion of a host's scores to raw scores: ``raw = scores / slope + offset``.

    Attributes
    ----------
    slope : float
        Units of the host per unit of the loss.
    offset : ndarray of shape (C,)
        The baseline, where the host cannot store it, else 0.
    """

    slope: float = 1.0
    offset: Array = field(default_factory=lambda: np.zeros(1))

    def raw(self, scores: Any) -> Array:
        """Raw scores, (n, C), for scores of the host, (n,) or (n, C)."""
        return np.asarray(columns(scores) / self.slope + self.offset)

    def contributions(self, shares: Array) -> Array:
        """What each feature contributes to raw scores, (n, C (d + 1)), for contributions to the host's scores.

        For each output the last of d + 1 is the bias term, which includes the baseline.
        """
        each = shares.reshape(len(shares), len(self.offset), -1) / self.slope
        each[:, :, -1] += self.offset
        return each.reshape(shares.shape)


def columns(scores: Any) -> Array:
    """Scores (n,) or (n, C) as (n, C) in float64."""
    scores = np.asarray(scores, dtype=np.float64)
    return scores[:, None] if scores.ndim == 1 else scores


def slope_of(loss: Loss, n_outputs: int) -> float:
    """Log-odds per unit of raw score, where the loss's inverse link is ``sigmoid(slope raw)``; else 1.

    A host that works in log-odds ``F = slope raw`` gets derivatives of the scale that it is designed for. Those of
    the exponential loss, ``exp(-s F / 2)``, are then 1/2 and 1/4 at even odds, as for the logistic one, so that
    learning rate and penalties mean the same, and the host's own link, metrics and files are right.
    """
    if loss.task != "classification" or n_outputs > 1:
        return 1.0
    response = np.asarray(loss.inverse_link(np.array([[2.0]])))[0]
    p, q = response[-1], response[0]
    if not 0.0 < q < p:
        return 1.0
    # Remove the round-off of the logarithm.
    slope = float(f"{np.log(p / q) / 2.0:.9g}")
    # Up to 2 any link is straight in large units, not so up to given odds.
    odds = np.linspace(-4.0, 4.0, 9)[:, None]
    agrees = np.allclose(loss.inverse_link(odds / slope), binary_probabilities(odds), rtol=1e-7, atol=0.0)
    return slope if agrees else 1.0
