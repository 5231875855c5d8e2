"""The registry of losses."""

from __future__ import annotations

from ..core import Loss
from ..utils.migration_table import LOSS_NAMES
from ..utils.registry import Registry

LOSSES: Registry[Loss] = Registry("loss", Loss, LOSS_NAMES)  # type: ignore[type-abstract]
