"""What the loop checks of derivatives in every round: shapes and finite numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core import Loss
from ..utils.typing import Array
from .comparison import require_that


def require_derivatives(loss: Loss, found: Any, raw: Array, where: str) -> None:
    """Raise a ContractError that says `where` unless derivatives are finite and of the shape of `raw` (n, C)."""
    if not isinstance(found, tuple | list) or len(found) != 2:
        require_that(False, f"loss {loss!r}: derivatives must return two arrays, gradient and hessian")
    for name, values in zip(("gradient", "hessian"), found, strict=True):
        if not isinstance(values, np.ndarray) or values.shape != raw.shape:
            given = values.shape if isinstance(values, np.ndarray) else f"a {type(values).__name__}"
            require_that(False, f"loss {loss!r}: {name} must have shape {raw.shape}, got {given}")
        if values.dtype.kind not in "fiu":
            require_that(False, f"loss {loss!r}: {name} must hold real numbers, got {values.dtype}")
        if not is_finite(values):
            require_that(False, f"loss {loss!r}: {name} must be finite, got NaN or infinity {where}")
    least = found[1].min()
    if least < 0.0:
        require_that(False, f"loss {loss!r}: hessian must be positive, got {least:g} {where}")


def is_finite(values: Array) -> bool:
    """Whether all values are finite. A sum is cheap, but may overflow although all values are finite."""
    return math.isfinite(np.add.reduce(values, axis=None)) or bool(np.isfinite(values).all())
