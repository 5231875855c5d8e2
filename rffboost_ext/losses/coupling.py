"""Calls of losses, which get sample weights if their rows are coupled."""

from __future__ import annotations

from typing import Any

from ..core import Loss
from ..utils.typing import Array

COUPLED = ("groups", "all")
"""Values of ``Loss.rows`` for which a loss gets the sample weights."""


def is_coupled(loss: Loss) -> bool:
    """Whether the loss of a row depends on other rows and on their weights."""
    return loss.rows in COUPLED


def losses_of_rows(loss: Loss, y: Array, raw: Array, weight: Array | None) -> Any:
    """The loss of each row, (n,), for targets (n, K), scores (n, C) and sample weights (n,)."""
    return loss.value(y, raw, weight) if is_coupled(loss) else loss.value(y, raw)  # type: ignore[call-arg]


def derivatives_of_rows(loss: Loss, y: Array, raw: Array, weight: Array | None) -> Any:
    """The derivatives of a loss, each (n, C), for targets (n, K), scores (n, C) and sample weights (n,)."""
    return loss.derivatives(y, raw, weight) if is_coupled(loss) else loss.derivatives(y, raw)  # type: ignore[call-arg]
