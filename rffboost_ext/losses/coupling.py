"""How losses couple rows, and the groups of coupled rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from ..core import CoupledLoss, Loss
from ..utils.typing import Array


class Coupling(Protocol):
    """What couples rows: a loss, or something else with its attribute and method."""

    @property
    def rows(self) -> str:
        """How rows depend on one another, as in ``Loss``."""

    def groups(self, y: Array) -> Array:
        """Codes of the groups of rows, (n,)."""


@dataclass(frozen=True)
class Grouped:
    """The groups that the targets of a loss hold, for metrics of groups, whether or not the loss couples them."""

    loss: Loss
    rows: ClassVar[str] = "groups"

    def groups(self, y: Array) -> Array:
        """Those of the loss."""
        return self.loss.groups(y)


def group_codes(loss: Coupling, y: Array) -> Array:
    """The number of the group of each row, (n,), from 0; a ValueError if ``loss.groups(y)`` is invalid."""
    groups = np.asarray(loss.groups(y))
    if groups.shape != (len(y),):
        raise ValueError(f"loss {loss!r}: groups must have shape (n,) = ({len(y)},), got {groups.shape}")
    if groups.dtype.kind == "f" and not np.isfinite(groups).all():
        raise ValueError(f"loss {loss!r}: groups must be finite, got NaN or infinity")
    return np.unique(groups, return_inverse=True)[1]


def whole_groups(loss: Loss, y: Array, rows: Array) -> Array:
    """Some rows (m,) of targets (n, K), ascending, with those that a loss couples with them."""
    if loss.rows == "groups":
        codes = group_codes(loss, y)
        return np.flatnonzero(np.isin(codes, codes[rows]))
    return np.arange(len(y)) if isinstance(loss, CoupledLoss) else rows
