"""The state of a boosting round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from ..utils.typing import Array, DesignLike
from .loss import Loss
from .observations import Observations
from .term import Term

Fitted: TypeAlias = Term | tuple[Term, Array]
"""What a learner returns: a term, or a term and its outputs on the rows of the round, (n, C)."""


@dataclass(frozen=True)
class Round:
    """The state of one boosting round, read-only. Row i of each array belongs to row i of ``design``.

    Attributes
    ----------
    design : Design
        The features: ``design.X`` is standardised, (n, d), or (n, e) after imputation and one-hot encoding.
    loss : Loss
        The loss that is minimised.
    y, raw : ndarray
        Target, (n, K), and raw scores so far, (n, C), without the offset.
    gradient, hessian : ndarray of shape (n, C)
        Derivatives at ``raw`` of ``loss.scales.unit`` times the loss, sample weights not applied.
    weight : ndarray of shape (n,)
        Sample weights; a row of weight 2 is equivalent to two rows, unless the loss couples rows. A learner that
        fits to a sample of the rows sets those of others to 0.
    index : int
        Index of the round, from 0.
    rng : numpy.random.Generator
        The random generator of this round.
    shrinkage : float
        Fraction of the full step that the term will be multiplied by, such as the learning rate.
    loss_weight : ndarray of shape (n,), optional
        Sample weights for calls of the loss: those of all rows, whatever a learner samples.
    offset : ndarray of shape (n, C), optional
        What is added to the scores before the loss gets them; None without an offset.
    """

    design: DesignLike
    loss: Loss
    y: Array
    raw: Array
    gradient: Array
    hessian: Array
    weight: Array
    index: int
    rng: np.random.Generator
    shrinkage: float = 1.0
    loss_weight: Array = None  # type: ignore[assignment]
    offset: Array | None = None

    def __post_init__(self) -> None:
        if self.loss_weight is None:
            object.__setattr__(self, "loss_weight", self.weight)

    @property
    def observations(self) -> Observations:
        """What the loss gets of all rows: ``round.observations.losses(round.loss, raw)`` are losses at `raw`."""
        return Observations(self.y, self.loss_weight, self.offset)

    @property
    def residual(self) -> Array:
        """The negative gradient, (n, C), which the next term approximates."""
        return -self.gradient

    @property
    def output_weights(self) -> Array | None:
        """Weights of outputs in sums over outputs, (C,), if each has its own unit; None for equal weights."""
        unit = self.loss.scales.unit
        return None if isinstance(unit, float) or np.ndim(unit) == 0 else 1.0 / np.asarray(unit)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the sample weights."""
        return float(self.weight.sum())

    def mean(self, values: Array) -> Any:
        """The weighted mean over rows, the last axis of `values`."""
        return values @ self.weight / self.total_weight

    def inner(self, *factors: Array) -> float:
        """The weighted sum over rows and outputs of the product of arrays of shape (n, C)."""
        return float(np.einsum("i" + ",ic" * len(factors) + "->", self.weight, *factors))

    def evaluated(self, fitted: Fitted) -> tuple[Term, Array]:
        """The term that a learner returned, and its outputs on the rows of this round, (n, C)."""
        if isinstance(fitted, tuple):
            return fitted
        return fitted, self.design.restore(fitted)(self.design.original)
