"""The units in which learners get the derivatives of a loss."""

from __future__ import annotations

import numpy as np

from ..core import Loss, Observations
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .row_laws import first_rows, is_package_loss, results_of_rows

# Gradients and hessians below which penalties, for hessians of about 1, leave nothing to learn.
SMALL = 1e-3
# Rows that are looked at.
N_ROWS = 1_000


def scale_derivatives(loss: Loss, derivatives: tuple[Array, Array]) -> tuple[Array, Array]:
    """Derivatives times ``loss.unit``, with hessians for the loss's least hessian and its relative rates."""
    gradient, hessian = derivatives
    if not (isinstance(loss.unit, float) and loss.unit == 1.0):
        unit = np.asarray(loss.unit, dtype=np.float64)
        gradient, hessian = unit * gradient, unit * hessian
    if loss.min_hessian > 0.0:
        hessian = np.maximum(hessian, loss.min_hessian)
    if not (isinstance(loss.relative_rates, float) and loss.relative_rates == 1.0):
        hessian = hessian / np.asarray(loss.relative_rates)
    return gradient, hessian


def warn_if_small(loss: Loss, rows: Observations, baseline: Array) -> None:
    """Warn if all gradients and hessians of a score of a user's loss are far below 1 at the baseline (C,)."""
    if is_package_loss(loss):
        return
    rows = rows.take(first_rows(loss, rows.y, N_ROWS))
    raw = np.tile(baseline, (len(rows), 1))
    found = results_of_rows(loss, rows, raw)
    pair = found.get("gradient", raw[:0]), found.get("hessian", raw[:0])
    if any(values.shape != raw.shape for values in pair):
        return
    gradient, hessian = (np.abs(values).max(axis=0) for values in scale_derivatives(loss, pair))
    small = (gradient > 0.0) & (gradient < SMALL) & (hessian > 0.0) & (hessian < SMALL)
    if small.any():
        unit = np.where(small, 1.0 / np.where(small, hessian, 1.0), 1.0) * np.asarray(loss.unit)
        wanted = ", ".join(f"{one:.1g}" for one in np.broadcast_to(unit, small.shape))
        warn_user(
            f"loss {loss!r}: hessians are at most {hessian[small].max():.1g} at the baseline; penalties such as "
            f"l2, reg_lambda and min_child_weight are for hessians of about 1, and leave little to learn. The "
            f"loss needs unit = {f'({wanted})' if len(small) > 1 else wanted}, a factor for learners only"
        )
