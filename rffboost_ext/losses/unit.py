"""Losses with a unit that a fit computes."""

from __future__ import annotations

from abc import abstractmethod

from sklearn.base import clone

from ..core import Loss, Scales
from ..utils.param_validation import POSITIVE, OneOf
from ..utils.typing import Array
from .target_statistics import round_to_24_bits


class ScaledLoss(Loss):
    """Base class of losses with a unit of derivatives: a number, or "auto" for one that ``prepared`` computes."""

    constraints = {"unit": POSITIVE | OneOf(("auto",))}

    def __init__(self, unit: float | str = "auto") -> None:
        self.unit = unit

    @abstractmethod
    def unit_of(self, y: Array, weight: Array) -> float:
        """The unit for a target (n, K)."""

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss with its unit computed from the target."""
        if not isinstance(self.unit, str):
            return self
        return clone(self).set_params(unit=round_to_24_bits(self.unit_of(y, weight)))

    @property
    def scales(self) -> Scales:  # type: ignore[override]
        """The unit, which is 1 outside of a fit if it is "auto"."""
        return Scales(1.0 if isinstance(self.unit, str) else self.unit)
