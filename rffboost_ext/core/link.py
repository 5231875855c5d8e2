"""The function between raw scores and the response."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from ..utils.typing import Array


@dataclass(frozen=True)
class Link(ABC):
    """The function between raw scores and the response, such as log or logit: a frozen dataclass.

    Two links are the same function if they are equal: of one class, with equal fields.

    Parameters
    ----------
    names : tuple of str, optional
        Names of the columns of the response, such as parameters of a distribution; each is an output in ONNX.
    """

    names: tuple[str, ...] | None = field(default=None, kw_only=True, repr=False, compare=False)

    @abstractmethod
    def inverse(self, raw: Array) -> Array:
        """Response for raw scores (n, C): class probabilities (n, K), or means (n, W) for regression."""
