"""The registry of losses."""

from __future__ import annotations

from ..core import Loss
from ..utils.registry import Registry

LOSSES: Registry[Loss] = Registry("loss", Loss)  # type: ignore[type-abstract]
