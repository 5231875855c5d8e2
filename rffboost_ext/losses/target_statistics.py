"""What losses require of their targets, and the statistics that they take from them."""

from __future__ import annotations

import math

import numpy as np

from ..core import Loss
from ..utils.typing import Array

# The median absolute deviation of normal numbers times this is their standard deviation.
NORMAL = 1.4826
# Statistics that losses take from the target are rounded to this many bits: sums over the same rows in another
# order, or over a row of weight 2 in place of two rows, lead to the same loss.
BITS = 24


def require_targets(loss: Loss, y: Array, fine: Array, allowed: str) -> None:
    """Raise a ValueError with the first target that is not `fine`, a boolean array of the shape of `y`."""
    if not fine.all():
        raise ValueError(f"loss {loss!r}: y must be {allowed}, got {y[~fine][0]:g}")


def require_indices(loss: Loss, y: Array, n_classes: float) -> None:
    """Raise a ValueError unless `y` holds class indices 0 .. n_classes - 1."""
    if y.shape[1] != 1 or (y != np.floor(y)).any() or y.min() < 0.0 or y.max() >= n_classes:
        last = "K - 1" if math.isinf(n_classes) else int(n_classes) - 1
        raise ValueError(
            f"loss {loss!r}: y must hold class indices 0 .. {last} in one column, got shape {y.shape} and values "
            f"from {y.min():g} to {y.max():g}"
        )


def class_count(loss: Loss, y: Array) -> int:
    """The number of classes, at least 2, of indices `y` (n, 1); of more than two, each must be present."""
    require_indices(loss, y, math.inf)
    present = np.unique(y)
    n_classes = max(2, int(present[-1]) + 1)
    if n_classes > max(2, len(present)):
        absent = next(k for k, found in enumerate(present) if k != found)
        raise ValueError(
            f"loss {loss!r}: y must hold class indices 0 .. {n_classes - 1}, each of them, got no row of class "
            f"{absent}"
        )
    return n_classes


def weighted_quantile(values: Array, weight: Array, q: float) -> float:
    """A minimiser of the weighted pinball loss of `values` (n,): the midpoint if it is not unique."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weight[order])
    ends = q * cumulative[-1] * np.array([1.0 - 1e-12, 1.0 + 1e-12])
    low, high = np.minimum(np.searchsorted(cumulative, ends), len(values) - 1)
    return float(0.5 * (values[order[low]] + values[order[high]]))


def typical_size(deviation: Array, weight: Array) -> float:
    """The weighted median of \\|deviation\\| (n,), the mean where that is 0, and 1 where that is 0 too."""
    size = np.abs(deviation)
    return rounded(weighted_quantile(size, weight, 0.5) or float(np.average(size, weights=weight)) or 1.0)


def rounded(value: float) -> float:
    """`value` to 24 bits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, BITS)), exponent - BITS)
