"""Conversion between the raw scores of a loss and the scores of a host."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core import Link, Loss
from ..losses.links import BinaryLogitLink
from ..utils.typing import Array


@dataclass(frozen=True, eq=False)
class ScoreConversion:
    """The conversion of a host's scores to raw scores: ``raw = scores / slope + offset``.

    Attributes
    ----------
    slope : float
        The host's score per unit of raw score.
    offset : ndarray of shape (C,)
        The baseline if the host cannot store it, else 0.
    """

    slope: float = 1.0
    offset: Array = field(default_factory=lambda: np.zeros(1))

    def raw(self, scores: Any) -> Array:
        """Raw scores, (n, C), for scores of the host, (n,) or (n, C)."""
        return np.asarray(as_columns(scores) / self.slope + self.offset)


def as_columns(scores: Any) -> Array:
    """Scores (n,) or (n, C) as (n, C) in float64."""
    scores = np.asarray(scores, dtype=np.float64)
    return scores[:, None] if scores.ndim == 1 else scores


def float_weights(weight: Array | None, n_samples: int) -> Array:
    """Sample weights in float64, 1 by default."""
    return np.ones(n_samples) if weight is None else np.asarray(weight, dtype=np.float64)


def slope_of(loss: Loss) -> float:
    """Log-odds per unit of raw score if the link is ``sigmoid(slope raw)``, else 1.

    The host then works on log-odds ``F = slope raw``, with derivatives of the scale of its own logistic loss: for
    the exponential loss, ``exp(-s F / 2)``, they are 1/2 and 1/4 at even odds. Learning rate and penalties keep
    their meaning, and the host's own link, metrics and files are correct.
    """
    return loss.link.slope if isinstance(loss.link, BinaryLogitLink) else 1.0


def host_link(loss: Loss) -> Link:
    """The link of a host's scores, ``slope`` times the raw scores of a loss."""
    return BinaryLogitLink() if isinstance(loss.link, BinaryLogitLink) else loss.link
