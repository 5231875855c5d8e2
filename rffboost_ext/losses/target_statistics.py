"""Checks of targets, statistics of them that losses use, and losses with a unit by such a statistic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import ClassVar

import numpy as np

from ..core import Loss, Scales
from ..utils.param_validation import POSITIVE, OneOf
from ..utils.typing import Array

# The standard deviation of a normal distribution is this multiple of its median absolute deviation.
MAD_TO_STD = 1.4826
# Statistics are rounded to this many bits: neither the order of rows nor a row of weight 2 instead of two rows
# then makes a difference.
BITS = 24
# The hessian of rows whose loss is linear or flat up to rounding.
LEAST_HESSIAN = 1e-16
# A target that varies by less than this share of its size is constant up to rounding.
CONSTANT_SPREAD = 1e-12


class EstimatedLoss(Loss):
    """Base class of losses with parameters that are estimated from the target in each fit if they are strings."""

    estimated: ClassVar[tuple[str, ...]] = ("unit",)
    """These parameters. A method such as ``estimated_unit(y, weight)`` returns the estimate of each."""

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss with its parameters estimated from the target."""
        self.check_target(y)
        loss = self
        for name in self.estimated:
            if isinstance(getattr(loss, name), str):
                estimate = getattr(loss, f"estimated_{name}")(y, weight)
                # A derived loss may have no hyperparameter of this name.
                loss = copy(loss)
                setattr(loss, name, estimate)
        return loss


class ScaledLoss(EstimatedLoss):
    """Base class of losses with a unit of derivatives: a number, one for each score, or "auto" for an estimate."""

    constraints = {"unit": POSITIVE | OneOf(("auto",))}

    def __init__(self, unit: float | str | Sequence[float] = "auto") -> None:
        self.unit = unit

    @property
    def scales(self) -> Scales:  # type: ignore[override]
        """The unit, which is 1 outside of a fit if it is "auto"."""
        return Scales(1.0 if isinstance(self.unit, str) else self.unit)


def require_targets(loss: Loss, y: Array, valid: Array, allowed: str) -> None:
    """Raise a ValueError with the first target outside of `valid`, a boolean array of the shape of `y`."""
    if not valid.all():
        raise ValueError(f"loss {loss!r}: y must be {allowed}, got {y[~valid][0]:g}")


def one_score_for_two_columns(loss: Loss, y: Array, columns: str) -> int:
    """1, the number of scores, or a ValueError that names the two columns that a target must have."""
    if y.shape[1] != 2:
        raise ValueError(f"loss {loss!r}: y must have two columns, {columns}, got {y.shape[1]}")
    return 1


def has_own_columns(loss: Loss, n_columns: int) -> bool:
    """Whether a loss of classes reads the first of several columns as the class and the others as its own numbers.

    Otherwise the columns are indicators of labels, with one score each, or the loss refuses them.
    """
    return scores_for(loss, n_columns, n_columns + 1) not in (None, n_columns)


def is_multioutput(loss: Loss) -> bool:
    """Whether a loss of a regression takes more than one target, with one score for each."""
    return scores_for(loss, 3) == 3


def scores_for(loss: Loss, n_columns: int, n_classes: int | None = None) -> int | None:
    """The number of scores of a loss for so many columns and classes; None if it refuses them."""
    try:
        return loss.n_scores(np.eye(2, n_columns), n_classes)
    except ValueError:
        return None


def weighted_quantile(values: Array, weight: Array, q: float) -> float:
    """A minimiser of the weighted pinball loss of `values` (n,): the midpoint if it is not unique."""
    order = np.argsort(values, kind="stable")
    cumulative = np.cumsum(weight[order])
    ends = q * cumulative[-1] * np.array([1.0 - 1e-12, 1.0 + 1e-12])
    low, high = np.minimum(np.searchsorted(cumulative, ends), len(values) - 1)
    return float(0.5 * (values[order[low]] + values[order[high]]))


def typical_deviation(deviation: Array, weight: Array) -> float:
    """The weighted median of absolute deviations (n,); their mean if it is 0, and 1 if that is 0 too."""
    size = np.abs(deviation)
    return round_to_24_bits(weighted_quantile(size, weight, 0.5) or float(np.average(size, weights=weight)) or 1.0)


def round_to_24_bits(value: float) -> float:
    """`value` to 24 bits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(math.ldexp(mantissa, BITS)), exponent - BITS)
