"""Columns of features as codes of one byte, and what their splits are.

Code 0 is a missing value. The other codes of a column are ordered, or single levels of a category; a split sends
some of the codes to the right.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from ....kernels import compiled
from ....utils.typing import Array

N_CODES = 256
MAX_BINS = N_CODES - 1


class Condition(NamedTuple):
    """What goes right at a split: numbers from `threshold` on, or some `levels` of a category, (K,), bool."""

    threshold: float
    missing_right: bool
    levels: Array | None = None


class Column(ABC):
    """One feature of n rows."""

    one_hot: ClassVar[bool] = False
    """Whether splits single out a code, instead of dividing the order of the codes."""
    is_number: ClassVar[bool] = False
    """Whether its values are numbers, for which slopes make sense."""
    n_codes: int

    @abstractmethod
    def condition(self, code: int, missing_right: bool) -> Condition:
        """The split that sends codes above `code` to the right, or this code alone if they are singled out."""


class Numbers(Column):
    """Numbers in bins of about equal weight.

    Parameters
    ----------
    values, weight : ndarray of shape (n,)
        The numbers, and the weights of the rows.
    max_bin : int
        The largest number of bins.
    codes : ndarray of shape (n,), uint8
        Where the codes are written.
    """

    is_number = True

    def __init__(self, values: Array, weight: Array, max_bin: int, codes: Array) -> None:
        self.edges = bin_edges(values, weight, max_bin)
        self.n_codes = len(self.edges) + 2
        compiled("bins").find_codes(values.astype(np.float64), self.edges, codes)

    def condition(self, code: int, missing_right: bool) -> Condition:
        """The split at an edge; those of the first and the last code divide missing values from numbers."""
        if 0 < code <= len(self.edges):
            return Condition(float(self.edges[code - 1]), missing_right)
        return Condition(math.inf if code else -math.inf, missing_right)


def bin_edges(values: Array, weight: Array, max_bin: int) -> Array:
    """The edges between at most `max_bin` bins, midway between adjacent values, so that bins are of equal weight.

    With few distinct values each has its own bin. A row of weight 2 counts as two rows, one of weight 0 as none.
    Edges are rounded down to single precision where that is between the values, too: a value of few digits that is
    the middle of two others is then on the same side of the edge after rounding.
    """
    if not (weight > 0.0).all():
        values, weight = values[weight > 0.0], weight[weight > 0.0]
    if weight.min(initial=np.inf) == weight.max(initial=0.0):
        ordered, below = np.sort(values), np.arange(1.0, len(values) + 1.0)
    else:
        order = np.argsort(values)
        ordered, below = values[order], np.cumsum(weight[order])
    # Missing values come last.
    ordered = ordered[: len(ordered) - np.count_nonzero(np.isnan(ordered))].astype(np.float64, copy=False)
    upper = np.flatnonzero(ordered[1:] > ordered[:-1]) + 1
    if len(upper) >= max_bin:
        shares = below[len(ordered) - 1] * np.arange(1, max_bin) / max_bin
        places = np.searchsorted(upper, np.searchsorted(below, shares), side="right")
        upper = upper[np.unique(places.clip(max=len(upper) - 1))]
    return edges_between(ordered[upper - 1], ordered[upper])


def edges_between(lower: Array, upper: Array) -> Array:
    """Edges midway between adjacent values (k,), as :func:`bin_edges` rounds them."""
    middle = 0.5 * lower + 0.5 * upper
    with np.errstate(over="ignore"):
        below, single = lower.astype(np.float32), middle.astype(np.float32)
    single = np.where(single > middle, np.nextafter(single, np.float32(-np.inf)), single)
    middle = np.where(single > below, single, middle)
    # Between neighbours among numbers in double precision there is no other.
    return np.where(middle > lower, middle, upper)
