"""What a loss gets of rows: targets, sample weights and the offset of the scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..utils.typing import Array
from .loss import CoupledLoss, Loss


@dataclass(frozen=True)
class Observations:
    r"""Targets, weights and the offset of some rows, at which losses are evaluated.

    This is the only place where an offset o is added to raw scores: the loss of a row is :math:`\ell(y, raw + o)`.
    For a loss that is invariant under translation it is :math:`\ell(y - o, raw)`, which is the same, and whatever
    the loss computes from targets, such as a scale, is then that of what remains to be explained.

    Attributes
    ----------
    y : ndarray of shape (n, K)
        Targets.
    weight : ndarray of shape (n,)
        Sample weights, which losses of coupled rows get too.
    offset : ndarray of shape (n, C), optional
        What is added to the scores, such as the log of an exposure.
    """

    y: Array
    weight: Array
    offset: Array | None = None

    def __len__(self) -> int:
        return len(self.y)

    def take(self, index: Any) -> Observations:
        """The rows of an index, a slice or an array of bool or int."""
        offset = None if self.offset is None else self.offset[index]
        return Observations(self.y[index], self.weight[index], offset)

    def total(self, raw: Array) -> Array:
        """Raw scores (n, C) plus the offset."""
        return raw if self.offset is None else raw + self.offset

    def target(self, loss: Loss) -> Array:
        """The targets that a loss gets, (n, K)."""
        return self.y if self.offset is None or not loss.translation_invariant else self.y - self.offset

    def losses(self, loss: Loss, raw: Array) -> Any:
        """The loss of each row, (n,), at raw scores (n, C) without the offset."""
        y, raw = self._shifted(loss, raw)
        return loss.value(y, raw, self.weight) if isinstance(loss, CoupledLoss) else loss.value(y, raw)

    def derivatives(self, loss: Loss, raw: Array) -> Any:
        """The first and second derivatives of a loss, (n, C) each, at raw scores (n, C) without the offset."""
        y, raw = self._shifted(loss, raw)
        return loss.derivatives(y, raw, self.weight) if isinstance(loss, CoupledLoss) else loss.derivatives(y, raw)

    def _shifted(self, loss: Loss, raw: Array) -> tuple[Array, Array]:
        if self.offset is None:
            return self.y, raw
        return self.target(loss), raw if loss.translation_invariant else self.total(raw)
