"""Losses with a unit that a fit computes."""

from __future__ import annotations

from ..core import Loss, Scales


class ScaledLoss(Loss):
    """Base class of losses with a unit of derivatives: a number, or "auto" for one that ``prepared`` computes."""

    unit: float | str = 1.0

    @property
    def scales(self) -> Scales:  # type: ignore[override]
        """The unit, which is 1 outside of a fit if it is "auto"."""
        return Scales(1.0 if isinstance(self.unit, str) else self.unit)
